"""What can be followed."""

from dataclasses import dataclass
from typing import Literal, Self, get_args
from uuid import UUID

from common.errors import NotFound

Kind = Literal["chat", "workspace", "actor"]


@dataclass(frozen=True, slots=True)
class Topic:
    """`chat:<id>`, whose frames carry rows; `workspace:<id>` and `actor:<id>`, which announce changed lists."""

    kind: Kind
    id: UUID

    @classmethod
    def parse(cls, name: str) -> Self:
        """Raises `NotFound` for what is no topic: it looks like one that the asker may not see."""
        kind, _, id_ = name.partition(":")
        try:
            parsed = UUID(id_)
        except ValueError:
            raise NotFound("There is no such topic.") from None
        # One spelling for each topic, or the same one could be followed twice.
        if kind not in get_args(Kind) or str(parsed) != id_:
            raise NotFound("There is no such topic.")
        return cls(kind, parsed)  # type: ignore[arg-type]  # checked above

    def __str__(self) -> str:
        return f"{self.kind}:{self.id}"

"""The topics that a socket can follow."""

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
        """Parse the name of a topic. Raise `NotFound` for an invalid one, as for a topic that the client may not see."""
        kind, _, id_ = name.partition(":")
        try:
            parsed = UUID(id_)
        except ValueError:
            raise NotFound("There is no such topic.") from None
        # A UUID has several spellings; with more than one, a topic could be followed twice.
        if kind not in get_args(Kind) or str(parsed) != id_:
            raise NotFound("There is no such topic.")
        return cls(kind, parsed)  # type: ignore[arg-type]  # checked above

    def __str__(self) -> str:
        return f"{self.kind}:{self.id}"

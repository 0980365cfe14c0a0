"""The topics that a socket can subscribe to."""

from dataclasses import dataclass
from typing import Literal, Self, get_args
from uuid import UUID

from common.errors import NotFound

Kind = Literal["chat", "workspace", "actor"]


@dataclass(frozen=True, slots=True)
class Topic:
    """`chat:<id>`, with frames of the chat's rows; or `workspace:<id>` and `actor:<id>`, with frames about changed lists."""

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
        # A UUID has several spellings. Only one is valid, so that a socket cannot subscribe twice to a topic.
        if kind not in get_args(Kind) or str(parsed) != id_:
            raise NotFound("There is no such topic.")
        return cls(kind, parsed)  # type: ignore[arg-type]  # checked above

    def __str__(self) -> str:
        return f"{self.kind}:{self.id}"

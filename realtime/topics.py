"""What can be followed, each kind with its gate: the same policy that REST asks (C6, D4)."""

from dataclasses import dataclass
from typing import Literal, Self, get_args
from uuid import UUID

from actors.models import Actor
from chats.permissions import ChatVerb, get_chat_for
from common.errors import NotFound
from workspaces.permissions import WorkspaceVerb, get_workspace_for

Kind = Literal["chat", "workspace", "actor"]


@dataclass(frozen=True, slots=True)
class Topic:
    """`chat:<id>`, whose frames carry rows; `workspace:<id>` and `actor:<id>`, which only ring."""

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


def demand_topic(actor: Actor, topic: Topic) -> None:
    """Pass whoever may follow the topic. Raises `NotFound` for everybody else."""
    if topic.kind == "chat":
        get_chat_for(actor, topic.id, ChatVerb.SEE)
    elif topic.kind == "workspace":
        get_workspace_for(actor, topic.id, WorkspaceVerb.SEE)
    elif topic.id != actor.id:
        raise NotFound("There is no such topic.")

"""Actors as they go over the wire."""

from actors.models import Actor
from events.rows import ActorRow


def actor_row(actor: Actor) -> ActorRow:
    """What everyone who meets this actor sees: no e-mail, no user name, nothing of its workspaces."""
    return ActorRow(
        id=actor.id, kind=actor.kind, name=actor.name, handle=actor.handle, description=actor.description,
        workspace_id=actor.workspace_id, is_public=actor.is_public,
    )  # fmt: skip

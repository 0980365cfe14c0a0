"""Helpers to publish agents, and to use them elsewhere."""

from typing import Any

from actors.models import Actor
from chats import services as chats
from chats.models import Chat
from events.rows import ListingCategory
from publishing import services as publishing
from publishing.models import PendingUpdate
from tests.people import Team

LISTING: dict[str, Any] = {
    "description": "Interprets and translates, and keeps the tone.",
    "category": ListingCategory.LANGUAGE,
    "languages": ["en", "zh-hant"],
    "examples": ["Translate this letter into Japanese."],
}


def publish(team: Team, *, name: str = "Interpreter", handle: str = "interpreter", **fields: Any) -> Actor:
    """Publish Robin as Alice."""
    return publishing.publish_agent(team.alice, team.robin.id, name=name, handle=handle, **LISTING | fields)


def update(team: Team, *, name: str = "Interpreter", **fields: Any) -> Actor:
    """Publish the next version of the public copy of Robin as Alice."""
    return publishing.update_published_agent(team.alice, team.robin.id, name=name, **LISTING | fields)


def add_to_chat(team: Team, agent: Actor) -> Chat:
    """Create a chat of Charlie, of another workspace, and a public agent."""
    return chats.create_chat(team.charlie, team.elsewhere.id, title="Elsewhere", actor_ids=[agent.id])


def finish_updates() -> None:
    """Do what the tasks of all pending updates do."""
    for id in list(PendingUpdate.objects.order_by("pk").values_list("pk", flat=True)):
        while publishing.continue_update(id):
            pass

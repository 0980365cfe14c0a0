"""Fixtures of a chat, of people inside and outside it, and of the notifications that they get."""

from dataclasses import dataclass

import pytest

from actors.models import Actor
from chats import services as chats
from events.rows import Role
from notifications.models import Notification
from tests.people import Team, make_person
from workspaces import services as workspaces


@dataclass
class NotificationEnvironment:
    """The team; dora, an editor who is not in the chat; eve, a suggester in the chat. Charlie is not in the workspace."""

    team: Team
    dora: Actor
    eve: Actor

    def list_notified(self) -> dict[str, list[str]]:
        """Return the types of the notifications of each person by name, oldest first."""
        types_by_name: dict[str, list[str]] = {}
        for notification in Notification.objects.select_related("person").order_by("created_at", "pk"):
            types_by_name.setdefault(notification.person.name, []).append(notification.type)
        return types_by_name


@pytest.fixture
def environment(team: Team) -> NotificationEnvironment:
    dora, eve = make_person("Dora"), make_person("Eve")
    for person, role in ((dora, Role.EDITOR), (eve, Role.SUGGESTER)):
        workspaces.join_workspace(person, team.workspace.id, role=role, invited_by=team.alice)
    chats.add_participant(team.alice, team.chat.id, eve.id)
    team.chat.refresh_from_db()
    Notification.objects.all().delete()
    return NotificationEnvironment(team, dora, eve)

"""A room with more people than speak, and strangers; and who was told what."""

from dataclasses import dataclass

import pytest

from actors.models import Actor
from chats import services as chats
from notifications.models import Notification
from tests.people import Team, make_person
from workspaces import services as workspaces
from workspaces.models import Role


@dataclass
class NotificationEnvironment:
    """The team; dora, an editor who is not in the room; eve, a suggester in it; charlie is in no workspace of theirs."""

    team: Team
    dora: Actor
    eve: Actor

    def list_notified(self) -> dict[str, list[str]]:
        """What each person was told, oldest first."""
        found: dict[str, list[str]] = {}
        for one in Notification.objects.select_related("person").order_by("created_at", "pk"):
            found.setdefault(one.person.name, []).append(one.type)
        return found


@pytest.fixture
def environment(team: Team) -> NotificationEnvironment:
    dora, eve = make_person("Dora"), make_person("Eve")
    for person, role in ((dora, Role.EDITOR), (eve, Role.SUGGESTER)):
        workspaces.join_workspace(person, team.workspace.id, role=role, invited_by=team.alice)
    chats.add_participant(team.alice, team.chat.id, eve.id)
    team.chat.refresh_from_db()
    return NotificationEnvironment(team, dora, eve)

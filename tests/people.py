"""The people of every test: alice (editor), bob (suggester), charlie (a stranger from another workspace), robin (an agent)."""

from dataclasses import dataclass

from actors.models import Actor
from agents.services import agents
from chats import services as chats
from chats.models import Chat
from events.rows import Role
from notifications.models import Notification
from tests.factories.actors import PASSWORD, PersonFactory
from workspaces import services as workspaces
from workspaces.models import Workspace


@dataclass
class Team:
    """A workspace with its people, an agent and a chat; and charlie, who has a workspace of his own."""

    workspace: Workspace
    elsewhere: Workspace
    alice: Actor
    bob: Actor
    charlie: Actor
    robin: Actor
    chat: Chat

    def __getitem__(self, name: str) -> Actor:
        actor: Actor = getattr(self, name)
        return actor


def make_person(name: str) -> Actor:
    """Create a person who has signed up."""
    return PersonFactory.create(name=name, handle=name.lower())


def make_operator(name: str = "Op") -> Actor:
    """Return the operator of this name, who is created if necessary."""
    handle = name.lower()
    operator = Actor.people.filter(handle=handle, is_superuser=True).first()
    return operator or Actor.people.create_superuser(f"{handle}@example.org", PASSWORD, name=name, handle=handle)


def make_agent(workspace: Workspace, creator: Actor, name: str, prompt: str = "Answer.", **fields) -> Actor:
    """Create an agent with version 1."""
    return agents.create_agent(creator, workspace.id, name=name, prompt=prompt, **fields).agent


def make_team(suffix: str = "") -> Team:
    """Create a team. Its chat has alice, bob and robin. `suffix` makes the names of another team."""
    alice, bob, charlie = (make_person(name + suffix) for name in ("Alice", "Bob", "Charlie"))
    workspace = workspaces.create_workspace(alice, name="Lighthouse")
    workspaces.join_workspace(bob, workspace.id, role=Role.SUGGESTER, invited_by=alice)
    elsewhere = workspaces.create_workspace(charlie, name="Elsewhere")
    robin = make_agent(workspace, alice, "Robin", tools=["current_time"])
    chat = chats.create_chat(alice, workspace.id, title="Room", actor_ids=[bob.id, robin.id])
    Notification.objects.filter(chat_id=chat.id).delete()  # Bob's, of being added
    return Team(workspace, elsewhere, alice, bob, charlie, robin, chat)

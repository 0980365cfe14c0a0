"""Create workspaces of given sizes, faster than by the API: `python -m bench.workspaces_made ALICE BOB`.

It reads the sizes as JSON from its standard input, runs beside an installation, with the environment of its web process, and prints
the ids as JSON.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from subprocess import PIPE

from bench.installation import Installation
from bench.processes import read_environment
from launcher.home import ROOT


@dataclass(frozen=True)
class Size:
    """The size of a workspace. `messages`: those of each chat. All people and agents are in the first chat; each other chat has
    Alice, Bob and one agent."""

    name: str
    messages: Sequence[int]
    people: int = 2
    agents: int = 1


@dataclass(frozen=True)
class MadeWorkspace:
    """The ids of a workspace and of its chats. `handle`: that of an agent which is in the first chat."""

    id: str
    handle: str
    chats: list[str] = field(default_factory=list)


def make_workspaces(installation: Installation, api_base: str, sizes: Sequence[Size]) -> list[MadeWorkspace]:
    """Create workspaces of Alice, with Bob as a member, whose model has this URL."""
    alice, bob = installation.alice, installation.bob
    environment = read_environment(installation.stack.processes()["web"])
    command = [sys.executable, "-m", "bench.workspaces_made", alice.id, bob.id]
    body = json.dumps([asdict(size) for size in sizes])
    done = subprocess.run(command, cwd=ROOT, env=environment, input=body.encode(), stdout=PIPE, check=True)
    made = [MadeWorkspace(**one) for one in json.loads(done.stdout.splitlines()[-1])]
    model = {"provider": "openai_compatible", "api_base": api_base, "default_model": "scripted", "revision": 0}
    for workspace in made:
        alice.ok("PUT", f"workspaces/{workspace.id}/model", model | {"key": "sk-bench"})
    return made


def main(alice_id: str, bob_id: str) -> None:
    from config.wsgi import application  # sets Django up: first  # isort: skip

    assert application
    from django.conf import settings
    from django.db import connection

    # With the default hasher, hashing the passwords of many people takes longer than the measurement.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    from actors.models import Actor
    from chats import services as chats
    from common.ids import new_id
    from context.seeding import create_messages
    from tests.people import make_agent, make_person
    from workspaces import services as workspaces

    alice, bob = Actor.objects.get(pk=alice_id), Actor.objects.get(pk=bob_id)
    suffix = new_id().hex[-8:]  # handles must differ if an installation is measured twice
    made: list[MadeWorkspace] = []
    for size in (Size(**one) for one in json.load(sys.stdin)):
        workspace = workspaces.create_workspace(alice, name=size.name)
        people = [bob, *(make_person(f"P{number}x{len(made)}x{suffix}") for number in range(size.people - 2))]
        for person in people:
            workspaces.join_workspace(person, workspace.id, role="suggester", invited_by=alice)
        agents = [make_agent(workspace, alice, f"Agent {number}") for number in range(size.agents)]
        ids: list[str] = []
        for number, messages in enumerate(size.messages):
            members = [*people, *agents] if number == 0 else [bob, agents[number % len(agents)]]
            ids_of_members = [actor.id for actor in members]
            chat = chats.create_chat(alice, workspace.id, title=f"Chat {number}", actor_ids=ids_of_members)
            create_messages(chat.id, messages, seed=number + 1)
            ids.append(str(chat.id))
        made.append(MadeWorkspace(str(workspace.id), agents[0].handle, ids))
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE chats_message")
    print(json.dumps([asdict(one) for one in made]))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])

"""Create chats of many people, with a session for each, faster than by sign-up: `python -m bench.people COUNT [CHATS]`.

It runs beside an installation, with the environment of its web process, and prints the ids and the sessions as JSON.
"""

import json
import sys


def main(count: int, chat_count: int = 1) -> None:
    import django

    django.setup()
    from django.conf import settings

    # With the default hasher, hashing a hundred passwords takes longer than the measurement.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    from chats import services as chats
    from common.ids import new_id
    from tests.people import make_person
    from tests.realtime.tab import create_session_key
    from workspaces import services as workspaces

    # Handles must differ if an installation is measured twice.
    crowd = new_id().hex[-8:]
    people = [make_person(f"Person{number}of{crowd}") for number in range(count)]
    workspace = workspaces.create_workspace(people[0], name="Crowd")
    for person in people[1:]:
        workspaces.join_workspace(person, workspace.id, role="suggester", invited_by=people[0])
    members = [person.id for person in people[1:]]
    made = [
        chats.create_chat(people[0], workspace.id, title=f"Crowd {number}", actor_ids=members)
        for number in range(chat_count)
    ]
    ids = {
        "workspace": workspace.id,
        "chat": made[0].id,
        "chats": [chat.id for chat in made],
        "people": [person.id for person in people],
        "sessions": [create_session_key(person) for person in people],
    }
    print(json.dumps(ids, default=str))


if __name__ == "__main__":
    main(*(int(count) for count in sys.argv[1:]))

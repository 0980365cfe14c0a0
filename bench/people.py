"""Makes chats of many people, with a session of each, faster than they could sign up: `python -m bench.people COUNT
[CHATS]`.

Runs beside an installation, with the environment of its web process; prints the chats and the sessions as JSON.
"""

import json
import sys


def main(count: int, rooms: int = 1) -> None:
    import django

    django.setup()
    from django.conf import settings

    # A hundred passwords that nobody types: their hashing would take longer than the measurement.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    from chats import services as chats
    from common.ids import new_id
    from tests.people import make_person
    from tests.realtime.tab import signed_in
    from workspaces import services as workspaces

    # An installation that is measured twice has people of both times.
    crowd = new_id().hex[-8:]
    people = [make_person(f"Person{number}of{crowd}") for number in range(count)]
    workspace = workspaces.create_workspace(people[0], name="Crowd")
    for person in people[1:]:
        workspaces.join_workspace(person, workspace.id, role="suggester", invited_by=people[0])
    members = [person.id for person in people[1:]]
    made = [
        chats.create_chat(people[0], workspace.id, title=f"Crowd {number}", actor_ids=members)
        for number in range(rooms)
    ]
    ids = {
        "workspace": workspace.id,
        "chat": made[0].id,
        "chats": [chat.id for chat in made],
        "people": [person.id for person in people],
        "sessions": [signed_in(person) for person in people],
    }
    print(json.dumps(ids, default=str))


if __name__ == "__main__":
    main(*(int(count) for count in sys.argv[1:]))

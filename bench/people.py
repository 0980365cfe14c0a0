"""Makes a chat of many people, with a session of each, faster than they could sign up: `python -m bench.people COUNT`.

Runs beside an installation, with the environment of its web process; prints the chat and the sessions as JSON.
"""

import json
import sys


def main(count: int) -> None:
    import django

    django.setup()
    from django.conf import settings

    # A hundred passwords that nobody types: their hashing would take longer than the measurement.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    from chats import services as chats
    from tests.people import make_person
    from tests.realtime.tab import signed_in
    from workspaces import services as workspaces

    people = [make_person(f"Person{number}") for number in range(count)]
    workspace = workspaces.create_workspace(creator=people[0], name="Crowd")
    for person in people[1:]:
        workspaces.join(workspace=workspace, actor=person, role="suggester", invited_by=people[0])
    members = [person.id for person in people[1:]]
    chat = chats.create_chat(workspace=workspace, creator=people[0], title="Crowd", member_ids=members)
    print(json.dumps({"chat": str(chat.id), "sessions": [signed_in(person) for person in people]}))


if __name__ == "__main__":
    main(int(sys.argv[1]))

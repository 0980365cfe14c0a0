"""`python -m tests.servers python -m tests.releases RELEASE`: write the database of the release in this checkout."""

import os
import sys

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
django.setup()

from django.core.management import call_command  # noqa: E402
from django.db import transaction  # noqa: E402

from agents.services import drafts  # noqa: E402
from chats.models import ChatLink  # noqa: E402
from common.clock import now  # noqa: E402
from tests.api.operations import make_things  # noqa: E402
from tests.people import make_team  # noqa: E402
from tests.releases import write_release  # noqa: E402

call_command("migrate", interactive=False, verbosity=0)
with transaction.atomic():
    team = make_team()
    drafts.claim_draft(actor=team.alice, chat_id=team.chat.id, agent_id=team.robin.id)
    things = {name: str(value) for name, value in make_things(team).items()} | {"alice": str(team.alice.id)}
    # The test of upgrades opens the link, also years later.
    ChatLink.objects.update(expires_at=now().replace(year=2100))
write_release(sys.argv[1], things)

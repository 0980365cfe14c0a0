"""Runs that are to be tried in a process of their own, because their processes died (B9, ADR 0009)."""

from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now

from agents.models import Run
from agents.models.runs import ALONE_AFTER
from agents.services.claims import due, is_only_sweeper

PATIENCE = 20.0
"""Seconds after which a process that was to take a run, and has not, is not waited for any longer."""


@transaction.atomic
def take_suspects(limit: int) -> list[UUID]:
    """As many of them as that, the oldest first; nobody else is given them for a while."""
    if not limit or not is_only_sweeper():
        return []
    free = Q(hinted_at=None) | Q(hinted_at__lt=Now() - timedelta(seconds=PATIENCE))
    waiting = due().filter(free, crashes__gte=ALONE_AFTER).order_by("pk")
    ids = list(
        waiting.select_for_update(of=("self",), skip_locked=True, no_key=True).values_list("pk", flat=True)[:limit]
    )
    Run.objects.filter(pk__in=ids).update(hinted_at=Now())
    return ids

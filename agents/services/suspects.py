"""Runs whose process died: which of them are to be tried again together, in processes of their own (B9, ADR 0009)."""

from collections.abc import Sequence
from datetime import timedelta
from itertools import chain
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now

from agents.models import Run
from agents.services.claims import due, is_only_sweeper

PATIENCE = 20.0
"""Seconds after which a process that was to take a run, and has not, is not waited for any longer."""
AT_ONCE = 500


@transaction.atomic
def take_groups(places: int) -> list[list[UUID]]:
    """The runs for as many processes as there are places; nobody else is given them for a while.

    Those of a first death are spread over the places: most of them are innocent. Who died twice goes alone, so that a
    third death can be nobody else's fault.
    """
    if not places or not is_only_sweeper():
        return []
    free = Q(hinted_at=None) | Q(hinted_at__lt=Now() - timedelta(seconds=PATIENCE))
    waiting = (
        due().filter(free, crashes__gt=0).order_by("pk").select_for_update(of=("self",), skip_locked=True, no_key=True)
    )
    groups = spread(list(waiting.only("crashes")[:AT_ONCE]), places)
    Run.objects.filter(pk__in=list(chain(*groups))).update(hinted_at=Now())
    return groups


def spread(runs: Sequence[Run], places: int) -> list[list[UUID]]:
    """The runs in at most so many groups; those that do not fit wait."""
    together = [run.pk for run in runs if run.crashes == 1]
    alone = [[run.pk] for run in runs if run.crashes > 1][: places - bool(together)]
    left = places - len(alone)
    return [*alone, *(together[place::left] for place in range(min(left, len(together))))]

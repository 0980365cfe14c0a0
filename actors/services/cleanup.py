"""Deleting expired sessions and changes of emails."""

from django.contrib.sessions.models import Session

from actors.models import EmailChange
from common.clock import now

ROWS_PER_BATCH = 1000


def delete_expired() -> int:
    """Delete expired sessions, in one transaction for each batch, and changes of emails. Return the number of sessions."""
    EmailChange.objects.filter(expires_at__lt=now()).delete()
    deleted = 0
    while True:
        expired = Session.objects.filter(expire_date__lt=now()).order_by("pk")
        keys = list(expired.values_list("pk", flat=True)[:ROWS_PER_BATCH])
        deleted += Session.objects.filter(pk__in=keys).delete()[0]
        if len(keys) < ROWS_PER_BATCH:
            return deleted

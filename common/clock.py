"""The one place that asks what time it is, so that tests can move it."""

from datetime import datetime

from django.utils import timezone


def now() -> datetime:
    """The present moment, aware, in UTC."""
    return timezone.now()

"""The current time, in one function that tests can replace."""

from datetime import datetime

from django.utils import timezone


def now() -> datetime:
    """Return the current time in UTC."""
    return timezone.now()

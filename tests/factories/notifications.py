"""Factories of notifications."""

from factory.declarations import Sequence
from factory.django import DjangoModelFactory

from events.rows import NotificationKind
from notifications.models import Notification


class NotificationFactory(DjangoModelFactory[Notification]):
    """An unread notification of a mention, for `person` in `workspace`."""

    class Meta:
        model = Notification

    event = Sequence(str)
    type = NotificationKind.MENTION

"""Factories of notifications."""

from factory.declarations import Sequence
from factory.django import DjangoModelFactory

from notifications.models import Notification, NotificationKind


class NotificationFactory(DjangoModelFactory[Notification]):
    """An unread notification of a mention, for `person` in `workspace`."""

    class Meta:
        model = Notification

    event = Sequence(str)
    type = NotificationKind.MENTION

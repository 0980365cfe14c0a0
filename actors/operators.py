"""Access levels of people in the admin. They are stored as Django's staff and superuser flags and a group with the level's name."""

from django.contrib.auth.models import Permission
from django.db import models
from django.db.models import Q, QuerySet
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from actors.models import Actor
from common.errors import Forbidden
from common.operators import may_operate

APP_LABELS = (
    "workspaces",
    "actors",
    "tools",
    "llm",
    "chats",
    "files",
    "agents",
    "approvals",
    "embeddings",
    "context",
    "usage",
    "memory",
    "runs",
    "boards",
    "schedules",
    "suggestions",
    "publishing",
    "notifications",
    "webhooks",
    "events",
)


class Level(models.TextChoices):
    """What a person may do in the admin."""

    NO_ACCESS = "no_access", _("No access to the admin")
    READER = "reader", _("Reader: sees everything, changes nothing")
    OPERATOR = "operator", _("Operator: can do everything except appoint operators")
    SUPERUSER = "superuser", _("Superuser: can do everything")


def get_level(person: Actor) -> Level:
    """Return the access level of a person."""
    if not person.is_staff:
        return Level.NO_ACCESS
    if person.is_superuser:
        return Level.SUPERUSER
    is_operator = person.groups.filter(name=Level.OPERATOR.value).exists()
    return Level.OPERATOR if is_operator else Level.READER


def list_permissions(person: Actor) -> QuerySet[Permission]:
    """Return the permissions that the access level reader or operator gives a person; none for the other levels.

    They are computed instead of stored with the group, so that they include tables that an update of Atelier has added.
    """
    levels = set(person.groups.values_list("name", flat=True))
    known = Permission.objects.filter(content_type__app_label__in=APP_LABELS)
    wanted = Q(codename__startswith="view_")
    if Level.OPERATOR.value in levels:
        # Grants on one object (`ObjectGrant`) are the only rows that operators add and delete by Django's permissions.
        wanted |= Q(codename__startswith="change_") | Q(codename__regex=r"^(add|delete)_[a-z]+grant$")
    return known.filter(wanted) if levels & {Level.READER.value, Level.OPERATOR.value} else known.none()


def may_view_as(operator: Actor, person: Actor) -> bool:
    """Return whether an operator may view as this person: another person, whose account the operator may change."""
    is_manageable = operator.is_superuser or not (person.is_staff or person.is_superuser)
    return person.is_human and person.pk != operator.pk and is_manageable and may_operate(operator, Actor)


def check_may_manage(operator: Actor, person: Actor) -> None:
    """Check that an operator may change a person's account.

    Raises `Forbidden` if the person has access to the admin and the operator is not a superuser: otherwise operators could
    take over the account of a superuser.
    """
    if (person.is_staff or person.is_superuser) and not operator.is_superuser:
        raise Forbidden(gettext("Only a superuser changes an operator's account."))

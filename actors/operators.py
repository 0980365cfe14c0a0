"""Who runs the installation, and how far: given by a superuser, kept as Django's staff flag and a group named as the level."""

from django.contrib.auth.models import Group, Permission
from django.db import models
from django.db.models import Q, QuerySet
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from actors.models import Actor
from common.errors import Forbidden, Invalid
from events import audit
from events.publish import notify_rights_changed

TABLES = ("workspaces", "actors", "chats", "agents", "runs", "suggestions", "notifications", "events")


class Level(models.TextChoices):
    """What somebody may do in the admin."""

    NOBODY = "nobody", _("No access to the admin")
    READER = "reader", _("Reader: sees everything, changes nothing")
    OPERATOR = "operator", _("Operator: can do everything except appoint operators")
    SUPERUSER = "superuser", _("Superuser: can do everything")


def get_level(person: Actor) -> Level:
    """What they may do now."""
    if not person.is_staff:
        return Level.NOBODY
    if person.is_superuser:
        return Level.SUPERUSER
    held = set(person.groups.values_list("name", flat=True))
    return Level.OPERATOR if Level.OPERATOR.value in held else Level.READER


def set_access_level(person: Actor, operator: Actor, level: str) -> None:
    """Make somebody an operator, or none any more. Takes effect with their next request.

    Raises `Forbidden` for who is no superuser, `Invalid` for an agent, and for oneself: so one superuser always remains.
    """
    if not operator.is_superuser:
        raise Forbidden(gettext("Only a superuser can appoint operators."))
    if not person.is_human or level not in Level.values:
        raise Invalid(gettext("Only people can become operators."))
    if person.pk == operator.pk:
        raise Invalid(gettext("You cannot change what you may do yourself."))
    is_staff, is_superuser = level != Level.NOBODY, level == Level.SUPERUSER
    Actor.objects.filter(pk=person.pk).update(is_staff=is_staff, is_superuser=is_superuser)
    groups = [Group.objects.get_or_create(name=level)[0]] if level in (Level.READER, Level.OPERATOR) else []
    person.groups.set(groups)
    audit.record(operator, "person.level_set", object_id=person.id, level=level)
    notify_rights_changed(person.id)


def list_permissions(person: Actor) -> QuerySet[Permission]:
    """What the level of somebody below a superuser lets them do. A group stores none: a level means the tables that there
    are, also those that an update has brought.
    """
    held = set(person.groups.values_list("name", flat=True))
    known = Permission.objects.filter(content_type__app_label__in=TABLES)
    wanted = Q(codename__startswith="view_")
    if Level.OPERATOR.value in held:
        wanted |= Q(codename__startswith="change_") | Q(codename__regex=r"^(add|delete)_[a-z]+grant$")
    return known.filter(wanted) if held & {Level.READER.value, Level.OPERATOR.value} else known.none()


def check_may_manage(person: Actor, operator: Actor) -> None:
    """Raises `Forbidden` when an operator's account is touched by who is no superuser: it would be a way up."""
    if (person.is_staff or person.is_superuser) and not operator.is_superuser:
        raise Forbidden(gettext("Only a superuser changes an operator's account."))

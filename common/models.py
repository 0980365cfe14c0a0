"""Base classes of models."""

from typing import Any

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _
from guardian.models import UserObjectPermissionBase

from common.ids import new_id


def build_display_name(row: models.Model, *relations: str) -> str:
    """Return a display name for a row without a name: the names of its relations, or the ends of their ids if they are not
    loaded. No query is made.
    """
    return " · ".join(_get_relation_name(row, relation) for relation in relations)


def _get_relation_name(row: models.Model, relation: str) -> str:
    field: Any = row._meta.get_field(relation)
    if field.is_cached(row):
        name = str(getattr(row, relation) or "–")
        # A chat without a title has its id as name.
        return name if name != str(getattr(row, field.attname)) else f"…{name[-8:]}"
    return f"…{str(getattr(row, field.attname))[-8:]}"


class Identified(models.Model):
    """A row with a UUIDv7 made by the application."""

    id = models.UUIDField(_("id"), primary_key=True, default=new_id, editable=False)

    class Meta:
        abstract = True


class WithRevision(models.Model):
    """A row that people edit. A write names the revision that it is based on; a stale revision is refused."""

    revision = models.PositiveIntegerField(_("revision"), default=1)

    class Meta:
        abstract = True


class ObjectGrant(UserObjectPermissionBase):
    """A permission that one person has on one object beyond their role. Operators grant it in the admin.

    Subclasses add `content_object`, a foreign key to the object.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, verbose_name=_("user"), on_delete=models.CASCADE)
    permission = models.ForeignKey("auth.Permission", verbose_name=_("permission"), on_delete=models.CASCADE)

    class Meta(UserObjectPermissionBase.Meta):
        abstract = True

    def __str__(self) -> str:
        return build_display_name(self, "user", "content_object")

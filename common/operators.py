"""Rights of operators: staff with Django's permission on the table. The counterpart of the apps' `get_…_for`.

The rows of an operator's action are fetched and checked here; then the same service acts that members use, so that rules,
frames and audit records are the same.
"""

from typing import Any, TypeVar
from uuid import UUID

from django.contrib.auth import get_user_model
from django.db.models import Model
from django.utils.translation import gettext as _

from common.errors import Forbidden, NotFound

M = TypeVar("M", bound=Model)


def may_operate(actor: Any, table: type[Model]) -> bool:
    """Return whether `actor` is active staff with Django's permission to change rows of this table."""
    name = f"{table._meta.app_label}.change_{table._meta.model_name}"
    return bool(actor.is_authenticated and actor.is_active and actor.is_staff and actor.has_perm(name))


def check_operator(actor: Any, table: type[Model]) -> None:
    """Raise `Forbidden` unless the actor may change rows of this table."""
    if not may_operate(actor, table):
        raise Forbidden(_("You may not change any %(table)s.") % {"table": table._meta.verbose_name})


def get_for_operator(operator: Any, table: type[M], row_id: UUID | str | int) -> M:
    """Return the row if the operator may change it. Raises `Forbidden`, `NotFound`."""
    check_operator(operator, table)
    row = table._default_manager.filter(pk=row_id).first()
    if row is None:
        raise NotFound(_("There is no such %(table)s.") % {"table": table._meta.verbose_name})
    return row


def can_administer_installation(actor: Any) -> bool:
    """Return whether the actor has any access to the admin, or signed up first: in embedded mode it is that person's machine."""
    if actor.is_staff:
        return True
    people = get_user_model()._default_manager.filter(kind="human").order_by("created_at", "pk")
    return bool(people.values_list("pk", flat=True).first() == actor.pk)

"""Who runs the installation: staff, with Django's permission on the table. The counterpart of the apps' `get_…_for`.

An operator's deed is fetched and checked here and then done by the service that members use, so that rules, frames and
audit are the same whoever does it (B9).
"""

from typing import Any, TypeVar
from uuid import UUID

from django.db.models import Model
from django.utils.translation import gettext as _

from common.errors import Forbidden, NotFound

M = TypeVar("M", bound=Model)


def may_operate(actor: Any, table: type[Model]) -> bool:
    """Whether `actor` may change rows of this table: an active person, staff, with the permission to change them."""
    name = f"{table._meta.app_label}.change_{table._meta.model_name}"
    return bool(actor.is_authenticated and actor.is_active and actor.is_staff and actor.has_perm(name))


def check_operator(actor: Any, table: type[Model]) -> None:
    """Raises `Forbidden` for who may not change rows of this table."""
    if not may_operate(actor, table):
        raise Forbidden(_("You may not change any %(table)s.") % {"table": table._meta.verbose_name})


def get_for_operator(operator: Any, table: type[M], row_id: UUID | str | int, *, lock: bool = False) -> M:
    """The row, when the operator may change it. Raises `Forbidden`, `NotFound`.

    `lock` holds it; not for what is in a chat, where the chat comes first (its services see to that).
    """
    check_operator(operator, table)
    rows = table._default_manager.filter(pk=row_id)
    row = (rows.select_for_update(of=("self",), no_key=True) if lock else rows).first()
    if row is None:
        raise NotFound(_("There is no such %(table)s.") % {"table": table._meta.verbose_name})
    return row

"""Compute rights: a role gives verbs, a grant on the object adds some, and an agent acting for a person has only the verbs
that both have.

The permission functions of the apps are built on this module, which imports none of their models.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from functools import cache
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.contrib.auth import get_user_model
from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Model, OuterRef, QuerySet, Subquery

from common.errors import Forbidden, NotFound
from common.prepared_query import PreparedQuery
from common.tenants import remember_workspace

V = TypeVar("V", bound=StrEnum)
M = TypeVar("M", bound=Model)
RoleVerbs = Mapping[str, frozenset[V]]


def build_grants_subquery(actor: Any, grant_class: type[Model]) -> ArraySubquery:
    """Return a subquery for the codenames that are granted to the actor on the row."""
    rows: QuerySet[Any] = grant_class._default_manager.filter(user=actor.pk, content_object=OuterRef("pk"))
    return ArraySubquery(rows.values("permission__codename"))


def annotate_rights(
    rows: QuerySet[M], principals: Iterable[Any], *, role: Callable[[Any], Any], grant_class: type[Model]
) -> Any:
    """Annotate the rows with the role and the grants of each principal, as `role_<n>` and `granted_<n>`."""
    annotations: dict[str, Any] = {}
    for number, principal in enumerate(principals):
        annotations[f"role_{number}"] = role(principal)
        annotations[f"granted_{number}"] = build_grants_subquery(principal, grant_class)
    return rows.annotate(**annotations)


def compute_verbs(row: Model, count: int, role_verbs: RoleVerbs[V], verbs: type[V]) -> frozenset[V]:
    """Return the verbs that all `count` principals have on a row from `annotate_rights`."""
    return frozenset.intersection(*(_compute_verbs_of(row, number, role_verbs, verbs) for number in range(count)))


def _compute_verbs_of(row: Model, number: int, role_verbs: RoleVerbs[V], verbs: type[V]) -> frozenset[V]:
    by_role = role_verbs.get(getattr(row, f"role_{number}") or "", frozenset[V]())
    codenames = getattr(row, f"granted_{number}")
    if not by_role or not codenames:
        return by_role  # a grant has no effect without a role
    suffix = row._meta.model_name
    return by_role | {verb for verb in verbs if f"{verb.value}_{suffix}" in codenames}


def list_principals(actor: Any, on_behalf_of: Any | None) -> list[Any]:
    """Return the actors who must all have the right: the actor and, if it acts for another person, that person."""
    return [actor] if on_behalf_of is None or on_behalf_of == actor else [actor, on_behalf_of]


@contextmanager
def replace_not_found(what: str) -> Iterator[None]:
    """Replace a `NotFound` about an object on which rights are checked, such as the chat of a file, by one about the `what` that
    was asked for, so that neither object is revealed."""
    try:
        yield
    except NotFound as error:
        raise NotFound(f"There is no such {what}, or you may not see it.") from error


def check_verb(row: M | None, allowed: frozenset[V], verb: V, *, see: V, what: str) -> M:
    """Return the row if the verb is allowed. Raise `NotFound` if the actor may not even see the row, else `Forbidden`."""
    if row is None or see not in allowed:
        raise NotFound(f"There is no such {what}, or you may not see it.")
    if verb not in allowed:
        raise Forbidden(f"You may not do this with this {what}.", hints=[f"It needs the right to {verb.value}."])
    return row


class Fetch(Generic[M, V]):
    """Fetches one object and checks a right on it, in one prepared query.

    `rows(principals)` returns the objects of this kind, annotated by `annotate_rights`. It may depend on the ids and kinds of the
    principals only. `verbs` must have a verb `see`. `version` names a column that rises whenever an actor loses their role on the
    object: if it has not risen, rights are not checked a second time.
    """

    def __init__(
        self,
        what: str,
        rows: Callable[[list[Any]], QuerySet[M]],
        *,
        role_verbs: RoleVerbs[V],
        verbs: type[V],
        version: str = "",
    ) -> None:
        self._what = what
        self._rows = rows
        self._role_verbs = role_verbs
        self._verbs = verbs
        self._version = version
        self._get_prepared_query = cache(self._prepare)

    def __call__(self, actor: Any, id: UUID, verb: V, *, on_behalf_of: Any | None = None, lock: bool = False) -> M:
        """Return the object. Raise `NotFound` or `Forbidden`. `lock` locks the row (`FOR NO KEY UPDATE`).

        With `lock`, rights are checked again once the row is locked, because a statement that waited for a row returns the
        rights from before the wait. The first check keeps people from locking what they may not see.
        """
        principals = list_principals(actor, on_behalf_of)
        row = self._fetch(principals, id, verb, lock=lock)
        if lock and not self._is_unchanged(row):
            row = self._fetch(principals, id, verb)
        return row

    def _fetch(self, principals: list[Any], id: UUID, verb: V, *, lock: bool = False) -> M:
        query = self._get_prepared_query(tuple(principal.kind for principal in principals), lock)
        row = query.first(id, *(principal.pk for principal in principals))
        allowed = compute_verbs(row, len(principals), self._role_verbs, self._verbs) if row else frozenset[V]()
        checked = check_verb(row, allowed, verb, see=self._verbs("see"), what=self._what)
        # A workspace has no `workspace_id`: it is its own. That of a public agent is null.
        if workspace_id := getattr(checked, "workspace_id", checked.pk):
            remember_workspace(principals[0].pk, workspace_id)
        return checked

    def _is_unchanged(self, row: M) -> bool:
        """Return whether the row did not change while the query waited for its lock. Removes the annotation `version_before`."""
        return bool(self._version) and getattr(row, self._version) == vars(row).pop("version_before")

    def _prepare(self, kinds: tuple[str, ...], lock: bool) -> PreparedQuery[M]:
        def query(id: UUID, *ids: UUID) -> QuerySet[M]:
            principals = [get_user_model()(pk=pk, kind=kind) for pk, kind in zip(ids, kinds, strict=True)]
            return self._build_query(principals, id, lock)

        return PreparedQuery(query, *[UUID] * (1 + len(kinds)))

    def _build_query(self, principals: list[Any], id: UUID, lock: bool) -> QuerySet[M]:
        found = self._rows(principals).filter(pk=id)
        if not lock:
            return found
        rows: Any = found.filter(**{f"role_{number}__isnull": False for number in range(len(principals))})
        if self._version:
            # A subquery reads the snapshot of the statement, even if the row itself is read again after a wait.
            before = rows.model._default_manager.filter(pk=OuterRef("pk")).values(self._version)
            rows = rows.annotate(version_before=Subquery(before))
        else:
            # Without joins: after a wait PostgreSQL drops a row whose joined rows have changed.
            rows = rows.select_related(None).prefetch_related(None)
        locked: QuerySet[M] = rows.select_for_update(of=("self",), no_key=True)
        return locked

"""How rights are computed: a role gives verbs, a grant on the object adds some, and who acts for somebody has what both have.

The apps' permission functions are built on this; it knows no table of theirs.
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

V = TypeVar("V", bound=StrEnum)
M = TypeVar("M", bound=Model)
RoleVerbs = Mapping[str, frozenset[V]]


def granted_to(actor: Any, grants: type[Model]) -> ArraySubquery:
    """The codenames that `actor` was granted on the row at hand."""
    rows: QuerySet[Any] = grants._default_manager.filter(user=actor, content_object=OuterRef("pk"))
    return ArraySubquery(rows.values("permission__codename"))


def with_rights(
    rows: QuerySet[M], principals: Iterable[Any], *, role: Callable[[Any], Any], grants: type[Model]
) -> Any:
    """The rows (a `QuerySet[M]` that also knows `role_<n>` and `granted_<n>`), each with every principal's role and grants:
    still one query."""
    notes: dict[str, Any] = {}
    for number, principal in enumerate(principals):
        notes[f"role_{number}"] = role(principal)
        notes[f"granted_{number}"] = granted_to(principal, grants)
    return rows.annotate(**notes)


def verbs_on(row: Model, count: int, role_verbs: RoleVerbs[V], verbs: type[V]) -> frozenset[V]:
    """What all `count` principals may do with a row that came from `with_rights`."""
    return frozenset.intersection(*(_verbs_of_one(row, number, role_verbs, verbs) for number in range(count)))


def _verbs_of_one(row: Model, number: int, role_verbs: RoleVerbs[V], verbs: type[V]) -> frozenset[V]:
    by_role = role_verbs.get(getattr(row, f"role_{number}") or "", frozenset[V]())
    if not by_role:
        return by_role  # a grant adds to what somebody may see anyway; it opens no door by itself
    codenames = set(getattr(row, f"granted_{number}"))
    suffix = row._meta.model_name
    return by_role | {verb for verb in verbs if f"{verb.value}_{suffix}" in codenames}


def person_of(id: Any) -> Any:
    """Whoever has this id, unread: for a question that is compiled for every person who asks it."""
    return get_user_model()(pk=id, kind="human")


def principals_of(actor: Any, on_behalf_of: Any | None) -> list[Any]:
    """Who must be allowed: the actor, and the person it works for when that is somebody else."""
    return [actor] if on_behalf_of is None or on_behalf_of == actor else [actor, on_behalf_of]


@contextmanager
def seen_through(what: str) -> Iterator[None]:
    """For a thing that is reached through another one: not being let into that one is not knowing of this one (SEC1)."""
    try:
        yield
    except NotFound as error:
        raise NotFound(f"There is no such {what}, or you may not see it.") from error


def demand(row: M | None, allowed: frozenset[V], verb: V, *, see: V, what: str) -> M:
    """The row, or the right refusal: `NotFound` when it may not even be seen, `Forbidden` when this may not be done."""
    if row is None or see not in allowed:
        raise NotFound(f"There is no such {what}, or you may not see it.")
    if verb not in allowed:
        raise Forbidden(f"You may not do this with this {what}.", hints=[f"It needs the right to {verb.value}."])
    return row


class Fetch(Generic[M, V]):
    """Fetch-and-check: one object, when this may be done with it, with roles and grants in one query that is compiled once.

    `rows(principals)` are the objects of this kind from `with_rights`; one of the verbs is `see`. `version` names a column
    that rises whenever somebody loses their role on the object: while it has not risen, rights are not asked a second time.
    """

    def __init__(
        self, what: str, rows: Callable[[list[Any]], QuerySet[M]], *, role_verbs: RoleVerbs[V], verbs: type[V],
        version: str = "",
    ) -> None:  # fmt: skip
        self._what = what
        self._rows = rows
        self._role_verbs = role_verbs
        self._verbs = verbs
        self._version = version
        self._question = cache(self._prepared_query)

    def __call__(self, actor: Any, id: UUID, verb: V, *, on_behalf_of: Any | None = None, lock: bool = False) -> M:
        """Raises `NotFound`, `Forbidden`. `lock` holds the row against changes, not against rows that point at it.

        With `lock`, rights are asked again once the row is locked: a statement that waited for a row answers with the rights of
        before the wait. The first answer keeps people from locking what they may not see.
        """
        principals = principals_of(actor, on_behalf_of)
        row = self._judge(principals, id, verb, lock=lock)
        if lock and not self._is_as_before(row):
            row = self._judge(principals, id, verb)
        return row

    def _judge(self, principals: list[Any], id: UUID, verb: V, *, lock: bool = False) -> M:
        question = self._question(tuple(principal.kind for principal in principals), lock)
        row = question.first(id, *(principal.pk for principal in principals))
        allowed = verbs_on(row, len(principals), self._role_verbs, self._verbs) if row else frozenset[V]()
        return demand(row, allowed, verb, see=self._verbs("see"), what=self._what)

    def _is_as_before(self, row: M) -> bool:
        """Return whether nobody changed the row while its lock was waited for."""
        return bool(self._version) and getattr(row, self._version) == vars(row).pop("version_before")

    def _prepared_query(self, kinds: tuple[str, ...], lock: bool) -> PreparedQuery[M]:
        """For principals of these kinds."""

        def build(id: UUID, *ids: UUID) -> QuerySet[M]:
            principals = [get_user_model()(pk=pk, kind=kind) for pk, kind in zip(ids, kinds, strict=True)]
            found = self._rows(principals).filter(pk=id)
            if not lock:
                return found
            rows: Any = found.filter(**{f"role_{number}__isnull": False for number in range(len(kinds))})
            if self._version:
                # Read by the snapshot of the statement, also when the row itself is read anew after a wait.
                before = rows.model._default_manager.filter(pk=OuterRef("pk")).values(self._version)
                rows = rows.annotate(version_before=Subquery(before))
            else:
                # A row that was waited for does not come when what it is joined with has changed.
                rows = rows.select_related(None).prefetch_related(None)
            locked: QuerySet[M] = rows.select_for_update(of=("self",), no_key=True)
            return locked

        return PreparedQuery(build, *[UUID] * (1 + len(kinds)))

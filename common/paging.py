"""Long lists, page by page: a cursor names the last row seen, so that rows that come or go do not shift the pages."""

import base64
import json
from collections.abc import Callable, Iterable
from functools import cache, reduce
from typing import Any, Generic, TypeVar

from django.core.exceptions import ValidationError
from django.db import DataError
from django.db.models import Model, Q, QuerySet
from django.http import HttpResponse
from pydantic import BaseModel, Field

from common.errors import Invalid
from common.prepared_query import PreparedQuery
from common.rest import Body, Request, answer_list, query_parameters, read_query

M = TypeVar("M", bound=Model)


class PageQuery(Body):
    """`cursor`: `next` of the page before, as it came."""

    cursor: str | None = Field(default=None, max_length=400, pattern=r"^[A-Za-z0-9_-]*=*$")
    limit: int = Field(default=100, ge=1, le=200)


LARGE = 20
"""Rows of one page, at most, of a list whose rows hold whole prompts (FAIR3); a larger `limit` is taken as this."""

PAGED = query_parameters(PageQuery)
"""For the schema of a list."""


def page_of(rows: QuerySet[Any], query: PageQuery, *, by: str, most: int = 200) -> tuple[list[Any], str | None]:
    """The rows of one page in the order of `by` (a field or annotation, `-` before it: descending) and their key, at most
    `most`; and the cursor of the next page. Raises `Invalid` for a cursor that is not ours.
    """
    limit = min(query.limit, most)
    try:
        found = list(_from(rows, query.cursor, by)[: limit + 1])
    except (ValidationError, ValueError, TypeError, OverflowError, DataError) as error:
        if query.cursor is None:
            raise
        raise _not_ours() from error
    return _cut(found, limit, by)


class Paged(Generic[M]):
    """A list of which everybody asks the first page: that one is compiled once for each length, later ones are built.

    `build(*values)` is its query set, as for `PreparedQuery`; `by` and `most` as in `page_of`.
    """

    def __init__(self, build: Callable[..., QuerySet[M]], *kinds: type, by: str, most: int = 200) -> None:
        self._most = most
        self._build = build
        self._by = by
        self._first = cache(
            lambda limit: PreparedQuery[M](lambda *values: _from(build(*values), None, by)[: limit + 1], *kinds)
        )

    def answer(
        self, request: Request, *values: Any, shown: Callable[[list[M]], Iterable[BaseModel]] | None = None
    ) -> HttpResponse:
        """As `answer_page`, for these values; rows that know their own shape need no `shown`."""
        found, more = self.page(read_query(request, PageQuery), *values)
        return answer_list((shown or rows_of)(found), more)

    def page(self, query: PageQuery, *values: Any) -> tuple[list[M], str | None]:
        """As `page_of`, for these values."""
        if query.cursor is not None:
            return page_of(self._build(*values), query, by=self._by, most=self._most)
        limit = min(query.limit, self._most)
        return _cut(self._first(limit).all(*values), limit, self._by)


def _cut(found: list[Any], limit: int, by: str) -> tuple[list[Any], str | None]:
    page = found[:limit]
    return page, _sealed(page[-1], by.removeprefix("-")) if len(found) > limit else None


def _from(rows: QuerySet[Any], cursor: str | None, by: str) -> QuerySet[Any]:
    field, later, key = (by[1:], "lt", "-pk") if by.startswith("-") else (by, "gt", "pk")
    rows = rows.order_by(by, key)
    if cursor is None:
        return rows
    value, pk = _opened(cursor)
    return rows.filter(Q(**{f"{field}__{later}": value}) | Q(**{field: value, f"pk__{later}": pk}))


def answer_page(
    request: Request,
    rows: QuerySet[Any],
    *,
    by: str,
    shown: Callable[[list[Any]], Iterable[BaseModel]],
    most: int = 200,
) -> HttpResponse:
    """The page of `rows` that the request asks for, as `shown` makes them for the wire. Raises `Invalid`."""
    found, more = page_of(rows, read_query(request, PageQuery), by=by, most=most)
    return answer_list(shown(found), more)


def rows_of(found: Iterable[Any]) -> list[BaseModel]:
    """Rows that know their own shape."""
    return [one.to_row() for one in found]


def _sealed(row: Any, field: str) -> str:
    value = reduce(getattr, field.split("__"), row)
    text = json.dumps([value if isinstance(value, int) else str(value), str(row.pk)])
    return base64.urlsafe_b64encode(text.encode()).decode()


def _opened(cursor: str) -> tuple[Any, str]:
    try:
        value, key = json.loads(base64.urlsafe_b64decode(cursor.encode()))
    except (ValueError, TypeError) as error:
        raise _not_ours() from error
    return value, str(key)


def _not_ours() -> Invalid:
    return Invalid("This is not a cursor of this list.", hints=["Pass `next` of an earlier answer as it is."])

"""Long lists, page by page: a cursor names the last row seen, so that rows that come or go do not shift the pages."""

import base64
import json
from collections.abc import Callable, Iterable
from functools import reduce
from typing import Any

from django.core.exceptions import ValidationError
from django.db import DataError
from django.db.models import Q, QuerySet
from django.http import HttpResponse
from pydantic import BaseModel, Field

from common.errors import Invalid
from common.rest import Body, Request, answer_list, query_parameters, read_query


class PageQuery(Body):
    """`cursor`: `next` of the page before, as it came."""

    cursor: str | None = Field(default=None, max_length=400)
    limit: int = Field(default=100, ge=1, le=200)


PAGED = query_parameters(PageQuery)
"""For the schema of a list."""


def page_of(rows: QuerySet[Any], query: PageQuery, *, by: str) -> tuple[list[Any], str | None]:
    """The rows of one page in the order of `by` (a field or annotation, `-` before it: descending) and their key; and
    the cursor of the next page. Raises `Invalid` for a cursor that is not ours.
    """
    try:
        found = list(_from(rows, query.cursor, by)[: query.limit + 1])
    except (ValidationError, ValueError, TypeError, OverflowError, DataError) as error:
        if query.cursor is None:
            raise
        raise _not_ours() from error
    page = found[: query.limit]
    return page, _sealed(page[-1], by.removeprefix("-")) if len(found) > query.limit else None


def _from(rows: QuerySet[Any], cursor: str | None, by: str) -> QuerySet[Any]:
    field, later, key = (by[1:], "lt", "-pk") if by.startswith("-") else (by, "gt", "pk")
    rows = rows.order_by(by, key)
    if cursor is None:
        return rows
    value, pk = _opened(cursor)
    return rows.filter(Q(**{f"{field}__{later}": value}) | Q(**{field: value, f"pk__{later}": pk}))


def answer_page(
    request: Request, rows: QuerySet[Any], *, by: str, shown: Callable[[list[Any]], Iterable[BaseModel]]
) -> HttpResponse:
    """The page of `rows` that the request asks for, as `shown` makes them for the wire. Raises `Invalid`."""
    found, more = page_of(rows, read_query(request, PageQuery), by=by)
    return answer_list(shown(found), more)


def rows_of(found: Iterable[Any]) -> list[BaseModel]:
    """Rows that know their own shape."""
    return [one.row() for one in found]


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

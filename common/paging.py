"""Pagination by cursors: a cursor names the last row of a page, so that new or deleted rows do not shift the pages."""

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
from common.rest import Body, Request, build_list_response, build_query_parameters, read_query


class PageQuery(Body):
    """The query string of a list."""

    cursor: str | None = Field(default=None, max_length=400, pattern=r"^[A-Za-z0-9_-]*=*$")
    """`next` of the page before, unchanged. Left out: the first page."""
    limit: int = Field(default=100, ge=1, le=200)
    """The most rows of the page."""


MAX_LARGE_ROWS = 20
"""The value of `max_rows` for lists whose rows contain whole prompts."""

PAGE_PARAMETERS = build_query_parameters(PageQuery)
"""The query parameters of a list, for the schema."""


def get_page(rows: QuerySet[Any], query: PageQuery, *, by: str, max_rows: int = 200) -> tuple[list[Any], str | None]:
    """Return the rows of one page, and the cursor of the next page.

    The order is that of `by` (a field or annotation; `-` before it means descending) and the primary key. `max_rows` caps the
    `limit` of the query. Raise `Invalid` for a cursor whose values do not fit this list.
    """
    limit = min(query.limit, max_rows)
    try:
        found = list(_start_after(rows, query.cursor, by)[: limit + 1])
    except (ValidationError, ValueError, TypeError, OverflowError, DataError) as error:
        if query.cursor is None:
            raise
        raise Invalid(
            "This is not a cursor of this list.", hints=["Pass `next` of an earlier answer as it is."]
        ) from error
    page = found[:limit]
    if len(found) <= limit:
        return page, None
    value = reduce(getattr, by.removeprefix("-").split("__"), page[-1])
    cursor = json.dumps([value if isinstance(value, int) else str(value), str(page[-1].pk)])
    return page, base64.urlsafe_b64encode(cursor.encode()).decode()


def serialize_rows(found: Iterable[Any]) -> list[BaseModel]:
    """Return the rows of model instances that have a method `to_row`."""
    return [one.to_row() for one in found]


def answer_page(
    request: Request,
    rows: QuerySet[Any],
    *,
    by: str,
    serialize: Callable[[list[Any]], Iterable[BaseModel]] = serialize_rows,
    max_rows: int = 200,
) -> HttpResponse:
    """Return the page that the request asks for. Raise `Invalid` as `get_page` does."""
    found, next = get_page(rows, read_query(request, PageQuery), by=by, max_rows=max_rows)
    return build_list_response(serialize(found), next)


def _start_after(rows: QuerySet[Any], cursor: str | None, by: str) -> QuerySet[Any]:
    """Order the rows, and keep those that come after the cursor. `get_page` handles the errors of an invalid cursor."""
    is_descending = by.startswith("-")
    rows = rows.order_by(by, "-pk" if is_descending else "pk")
    if cursor is None:
        return rows
    value, pk = json.loads(base64.urlsafe_b64decode(cursor.encode()))
    field = by.removeprefix("-")
    lookup = "lt" if is_descending else "gt"
    return rows.filter(Q(**{f"{field}__{lookup}": value}) | Q(**{field: value, f"pk__{lookup}": str(pk)}))

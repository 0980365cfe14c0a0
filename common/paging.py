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
    """The query string of a list. `cursor` is `next` of the page before."""

    cursor: str | None = Field(default=None, max_length=400, pattern=r"^[A-Za-z0-9_-]*=*$")
    limit: int = Field(default=100, ge=1, le=200)


MAX_LARGE_ROWS = 20
"""The value of `max_rows` for lists whose rows contain whole prompts."""

PAGE_PARAMETERS = build_query_parameters(PageQuery)
"""The query parameters of a list, for the schema."""


def get_page(rows: QuerySet[Any], query: PageQuery, *, by: str, max_rows: int = 200) -> tuple[list[Any], str | None]:
    """Return the rows of one page, and the cursor of the next page.

    The order is that of `by` (a field or annotation; `-` before it means descending) and the primary key. `max_rows` caps the
    `limit` of the query. Raise `Invalid` for a cursor of another list.
    """
    limit = min(query.limit, max_rows)
    try:
        found = list(_start_after(rows, query.cursor, by)[: limit + 1])
    except (ValidationError, ValueError, TypeError, OverflowError, DataError) as error:
        if query.cursor is None:
            raise
        raise _build_invalid_cursor() from error
    page = found[:limit]
    has_more = len(found) > limit
    return page, _encode_cursor(page[-1], by.removeprefix("-")) if has_more else None


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
    """Return the page that the request asks for. Raise `Invalid` for a cursor of another list."""
    found, next = get_page(rows, read_query(request, PageQuery), by=by, max_rows=max_rows)
    return build_list_response(serialize(found), next)


def _start_after(rows: QuerySet[Any], cursor: str | None, by: str) -> QuerySet[Any]:
    """Order the rows, and filter those that come after the cursor."""
    is_descending = by.startswith("-")
    rows = rows.order_by(by, "-pk" if is_descending else "pk")
    if cursor is None:
        return rows
    value, pk = _decode_cursor(cursor)
    field = by.removeprefix("-")
    lookup = "lt" if is_descending else "gt"
    return rows.filter(Q(**{f"{field}__{lookup}": value}) | Q(**{field: value, f"pk__{lookup}": pk}))


def _encode_cursor(row: Any, field: str) -> str:
    value = reduce(getattr, field.split("__"), row)
    text = json.dumps([value if isinstance(value, int) else str(value), str(row.pk)])
    return base64.urlsafe_b64encode(text.encode()).decode()


def _decode_cursor(cursor: str) -> tuple[Any, str]:
    try:
        value, key = json.loads(base64.urlsafe_b64decode(cursor.encode()))
    except (ValueError, TypeError) as error:
        raise _build_invalid_cursor() from error
    return value, str(key)


def _build_invalid_cursor() -> Invalid:
    return Invalid("This is not a cursor of this list.", hints=["Pass `next` of an earlier answer as it is."])

"""Rows of other tables that a query reads beside its own, as JSON: they need no statement of their own."""

from collections.abc import Mapping
from typing import Any, TypeVar

from django.db import DEFAULT_DB_ALIAS
from django.db.models import F, Model
from django.db.models.functions import JSONObject

M = TypeVar("M", bound=Model)


def build_row_json(model: type[Model]) -> JSONObject:
    """Return the expression for a row of this model with all its columns."""
    return JSONObject(**{field.attname: F(field.attname) for field in model._meta.concrete_fields})


def build_object(model: type[M], row: Mapping[str, Any]) -> M:
    """Return the object of a row that was read by `build_row_json`."""
    fields = model._meta.concrete_fields
    names = [field.attname for field in fields]
    return model.from_db(DEFAULT_DB_ALIAS, names, [field.to_python(row[field.attname]) for field in fields])

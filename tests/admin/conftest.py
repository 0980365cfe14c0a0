"""Fixtures of the admin: a team, an operator, and rows in every table."""

from dataclasses import dataclass
from typing import Any

import pytest
from django.contrib import admin
from django.test import Client

from actors.models import Actor
from tests.admin.environment import create_rows, sign_in_as
from tests.people import Team, make_operator, make_team
from tests.saved_rows import SavedRows


@dataclass
class AdminEnvironment:
    """The team, an operator (a superuser), and the operator's browser."""

    team: Team
    operator: Actor
    client: Client


@pytest.fixture
def environment(team: Team) -> AdminEnvironment:
    operator = make_operator()
    return AdminEnvironment(team, operator, sign_in_as(operator))


@pytest.fixture(scope="session")
def saved_filled_tables(django_db_setup: None, django_db_blocker: Any) -> SavedRows[tuple[Team, Actor]]:
    def fill_tables() -> tuple[Team, Actor]:
        team, operator = make_team(), make_operator()
        create_rows(team, 3)
        return team, operator

    with django_db_blocker.unblock():
        return SavedRows(fill_tables)


@pytest.fixture
def filled_environment(db: None, saved_filled_tables: SavedRows[tuple[Team, Actor]]) -> AdminEnvironment:
    """The environment, with three rows in every table."""
    team, operator = saved_filled_tables.copy()
    return AdminEnvironment(team, operator, sign_in_as(operator))


@pytest.fixture
def without_navigation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the navigation out of the pages. It is the same on each, and takes half of the time of a page. The page of an app
    keeps its list of tables."""
    get_app_list = admin.site.get_app_list

    def list_tables(request: Any, app_label: str | None = None) -> list[Any]:
        return get_app_list(request, app_label) if app_label else []

    monkeypatch.setattr(admin.site, "get_app_list", list_tables)
    monkeypatch.setattr(admin.site, "get_sidebar_list", lambda *args, **kwargs: [])

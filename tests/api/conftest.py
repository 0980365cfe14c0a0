"""Fixtures of one team, and of two, with objects for every operation."""

from typing import Any

import pytest

from tests.api.fixtures import TeamWithThings, make_team_with_things, saved_team_with_things, team_with_things
from tests.saved_rows import SavedRows

__all__ = ["saved_team_with_things", "team_with_things"]


@pytest.fixture(scope="session")
def saved_teams_with_things(
    django_db_setup: None, django_db_blocker: Any
) -> SavedRows[tuple[TeamWithThings, TeamWithThings]]:
    with django_db_blocker.unblock():
        return SavedRows(lambda: (make_team_with_things(), make_team_with_things(suffix="2")))


@pytest.fixture
def teams_with_things(
    db: None, saved_teams_with_things: SavedRows[tuple[TeamWithThings, TeamWithThings]]
) -> tuple[TeamWithThings, TeamWithThings]:
    """Two teams and the things of each."""
    return saved_teams_with_things.copy()

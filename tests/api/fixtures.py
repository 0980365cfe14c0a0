"""The fixture of a team with an object for each path and body of the table of operations."""

from typing import Any, TypeAlias

import pytest

from tests.api.operations import Things, make_things
from tests.people import Team, make_team
from tests.saved_rows import SavedRows

TeamWithThings: TypeAlias = tuple[Team, Things]


def make_team_with_things(suffix: str = "") -> TeamWithThings:
    """Create a team and its things. `suffix` makes the names of another team."""
    team = make_team(suffix)
    return team, make_things(team)


@pytest.fixture(scope="session")
def saved_team_with_things(django_db_setup: None, django_db_blocker: Any) -> SavedRows[TeamWithThings]:
    with django_db_blocker.unblock():
        return SavedRows(make_team_with_things)


@pytest.fixture
def team_with_things(db: None, saved_team_with_things: SavedRows[TeamWithThings]) -> TeamWithThings:
    """The team and its things, in one test's transaction."""
    return saved_team_with_things.copy()

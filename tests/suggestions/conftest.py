"""A team with an agent that people have suggestions for."""

import pytest

from tests.people import Team
from tests.suggestions.board import Board


@pytest.fixture
def board(team: Team) -> Board:
    return Board(team)

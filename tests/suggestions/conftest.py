"""A team with an agent that people have suggestions for."""

import pytest

from tests.people import Team
from tests.suggestions.environment import SuggestionEnvironment


@pytest.fixture
def board(team: Team) -> SuggestionEnvironment:
    return SuggestionEnvironment(team)

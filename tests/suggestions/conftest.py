"""The fixture of an agent for which people make suggestions."""

import pytest

from tests.people import Team
from tests.suggestions.environment import SuggestionEnvironment


@pytest.fixture
def environment(team: Team) -> SuggestionEnvironment:
    return SuggestionEnvironment(team)

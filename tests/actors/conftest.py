"""The fixture of a team with an object for every operation of the API."""

from tests.api.fixtures import saved_team_with_things, team_with_things

__all__ = ["saved_team_with_things", "team_with_things"]

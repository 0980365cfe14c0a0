"""Fixtures of the admin: a team, an operator, and rows in every table."""

from dataclasses import dataclass

import pytest
from django.test import Client

from actors.models import Actor
from tests.admin.environment import create_rows, sign_in_as
from tests.people import Team, make_operator


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


@pytest.fixture
def filled_environment(environment: AdminEnvironment) -> AdminEnvironment:
    create_rows(environment.team, 3)
    return environment

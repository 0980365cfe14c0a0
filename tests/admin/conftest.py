"""An operator before a house with something in every table."""

from dataclasses import dataclass

import pytest
from django.test import Client

from actors.models import Actor
from tests.admin.house import fill, make_operator, signed_in
from tests.people import Team


@dataclass
class House:
    """The team, an operator (a superuser), and the operator's browser."""

    team: Team
    operator: Actor
    client: Client


@pytest.fixture
def house(team: Team) -> House:
    operator = make_operator()
    return House(team, operator, signed_in(operator))


@pytest.fixture
def full_house(house: House) -> House:
    fill(house.team, 3)
    return house

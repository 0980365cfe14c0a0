"""Handles: their form, and that concurrent sign-ups and creations get different ones."""

import json

import pytest
from django.db import transaction
from django.test import Client

from actors.models import Actor
from common.errors import Code, Conflict, Invalid
from common.handles import check_handle, find_free_handle
from tests.concurrency import ConcurrentTransaction
from tests.people import make_agent, make_person, make_team
from workspaces.services import create_workspace

SIGN_UP = "/_allauth/app/v1/auth/signup"


@pytest.mark.django_db
@pytest.mark.parametrize("text", ["", "-a", "a-", "@@a", "a b", "a" * 41, "é"])
def test_an_invalid_handle_is_refused(text):
    with pytest.raises(Invalid):
        check_handle(text, Actor.objects.none())


@pytest.mark.django_db
@pytest.mark.parametrize("text", ["all", "@All", "nobody"])
def test_a_reserved_handle_is_refused(text):
    with pytest.raises(Conflict) as refusal:
        check_handle(text, Actor.objects.none())
    assert refusal.value.code == Code.HANDLE_TAKEN


@pytest.mark.django_db
@pytest.mark.parametrize(("text", "handle"), [("a", "a"), ("@A-b_c", "a-b_c"), ("0", "0"), ("a" * 40, "a" * 40)])
def test_a_valid_handle_is_normalized(text, handle):
    assert check_handle(text, Actor.objects.none()) == handle


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "handle"),
    [
        ("小明", "xiaoming"),
        ("资料 助手（测试）", "ziliao-zhushou-ceshi"),
        ("王佳玲 Lin", "wangjialing-lin"),
        ("さくら", "sakura"),
        ("김철수", "gimcheolsu"),
        ("Анна", "anna"),
        ("Müller", "muller"),
        ("🤖 Scout's 2", "scouts-2"),
        ("資料" * 30, "ziliao" * 5 + "zi"),
        ("🤖", "agent-blank"),
    ],
)
def test_a_handle_is_made_from_a_name_in_any_script(name, handle):
    assert find_free_handle(name, Actor.objects.none(), fallback="agent-blank") == handle


@pytest.mark.django_db
def test_people_workspaces_and_agents_with_chinese_names_get_readable_handles():
    assert sign_up("王佳玲", "ling@example.org")[0] == 200
    person = Actor.people.get()
    workspace = create_workspace(person, name="资料组")
    other = create_workspace(person, name="資料組")
    assert (person.handle, workspace.handle, other.handle) == ("wangjialing", "ziliaozu", "ziliaozu-2")
    names = ["小明", "資料 助手", "小明"]
    assert [make_agent(workspace, person, name).handle for name in names] == [
        "xiaoming",
        "ziliao-zhushou",
        "xiaoming-2",
    ]


def sign_up(name: str, email: str) -> tuple[int, dict]:
    body = {"email": email, "password": "a long enough password", "name": name}
    answer = Client().post(SIGN_UP, json.dumps(body), "application/json")
    return answer.status_code, answer.json()


@pytest.mark.django_db(transaction=True)
def test_two_concurrent_workspaces_with_the_same_name_get_two_handles():
    alice, bob = make_person("Alice"), make_person("Bob")
    with transaction.atomic():
        first = create_workspace(alice, name="Twins")
        other = ConcurrentTransaction(lambda: create_workspace(bob, name="Twins"))
    assert {first.handle, other.result().handle} == {"twins", "twins-2"}


@pytest.mark.django_db(transaction=True)
def test_two_concurrent_agents_with_the_same_name_get_two_handles():
    team = make_team()
    with transaction.atomic():
        first = make_agent(team.workspace, team.alice, "Twin")
        other = ConcurrentTransaction(lambda: make_agent(team.workspace, team.alice, "Twin"))
    assert {first.handle, other.result().handle} == {"twin", "twin-2"}


@pytest.mark.django_db(transaction=True)
def test_two_people_with_the_same_name_can_sign_up_concurrently():
    with transaction.atomic():
        assert sign_up("Anna", "anna@example.org")[0] == 200
        other = ConcurrentTransaction(lambda: sign_up("Anna", "anna@example.com"))
    assert other.result()[0] == 200
    assert set(Actor.objects.values_list("handle", flat=True)) == {"anna", "anna-2"}


@pytest.mark.django_db(transaction=True)
def test_a_second_concurrent_sign_up_reports_that_the_account_exists():
    with transaction.atomic():
        make_person("Alice")
        other = ConcurrentTransaction(lambda: sign_up("Other", "alice@example.org"))
    status, body = other.result()
    assert (status, body["errors"][0]["code"], body["errors"][0]["param"]) == (400, "email_taken", "email")


def test_SEC20_a_deeply_nested_sign_in_is_a_bad_request(db):
    client = Client(raise_request_exception=False)
    assert client.post(SIGN_UP, "[" * 100_000, "application/json").status_code == 400

"""The directory: search, order, pages, and what others see of a public agent."""

import base64
import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from actors.models import Actor
from agents.permissions import get_production
from agents.services.shipped import get_shipped_agent
from agents.specs.content import ToolUse
from chats import services as chats
from common.errors import Code, NotFound
from events.rows import ListingCategory
from publishing import services as publishing
from publishing.models import AgentUse
from publishing.selectors import (
    MIN_COUNT,
    SORT_COLUMNS,
    _compute_typical_reply,
    build_directory_rows,
    get_directory_detail,
    list_directory,
    list_public_use,
)
from runs.models import Run
from tests.api.client import sign_in
from tests.factories.actors import PASSWORD
from tests.factories.agents import add_tool_use, change_spec
from tests.factories.runs import RunFactory
from tests.factories.usage import LLMCallFactory
from tests.people import make_agent, make_person
from tests.publishing.publications import LISTING, add_to_chat, publish
from tools.registry import build_agent_tool_name
from workspaces import services as workspaces

pytestmark = pytest.mark.django_db


def publish_other(team, name, handle, **fields):
    """Publish a new agent of Charlie's workspace."""
    agent = make_agent(team.elsewhere, team.charlie, handle)
    return publishing.publish_agent(team.charlie, agent.id, name=name, handle=handle, **LISTING | fields)


def list_handles(actor, *, sort="name", **filters):
    return list(list_directory(actor, **filters).order_by(SORT_COLUMNS[sort], "pk").values_list("handle", flat=True))


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", ["interpreter", "contracts"]),
        ("INTERP", ["interpreter"]),
        ("同声传译", ["interpreter"]),
        ("翻译 语气", ["interpreter"]),
        ("中 德", []),
        ("contract duties", ["contracts"]),
        ("ｃｏｎｔｒａｃｔ", ["contracts"]),
        ("lighthouse", ["interpreter"]),
        ("current_time", ["interpreter"]),
        ("100%", []),
        ("\x00", ["interpreter", "contracts"]),
    ],
)
def test_every_word_of_a_query_must_occur(team, query, found):
    publish(team, description="同声传译与书面翻译：中、英、日。保留语气。")
    publish_other(team, "Contract Reader", "contracts", description="Lists duties and dates.")
    assert sorted(list_handles(team.bob, query=query), reverse=True) == found


def test_filters_by_category_language_publisher_and_use(team):
    copy = publish(team)
    publish_other(team, "Coder", "coder", category=ListingCategory.CODING, languages=["ja"])
    assert list_handles(team.bob, category=ListingCategory.CODING) == ["coder"]
    assert list_handles(team.bob, language="zh-hant") == ["interpreter"]
    assert list_handles(team.bob, is_yours=True) == ["interpreter"]
    assert list_handles(team.charlie, is_yours=True) == ["coder"]
    add_to_chat(team, copy)
    assert list_handles(team.charlie, used_in=team.elsewhere.id) == ["interpreter"]
    assert list_handles(team.bob, used_in=team.workspace.id) == []
    with pytest.raises(NotFound):
        list_handles(team.bob, used_in=team.elsewhere.id)


def test_an_agent_whose_handle_is_the_id_of_another_one_is_not_opened_by_that_id(team):
    copy = publish(team)
    publish_other(team, "Alpha", str(copy.pk))
    api = sign_in(team.bob.email, PASSWORD)
    for text in (str(copy.pk), str(copy.pk).upper(), copy.handle):
        assert api.ok("GET", f"directory/{text}")["actor"]["id"] == str(copy.pk)


def test_the_directory_is_sorted_by_use_age_or_name_and_its_pages_join(team):
    copy = publish(team)
    publish_other(team, "Alpha", "alpha")
    beta = publish_other(team, "Beta", "beta")
    for number in range(MIN_COUNT):
        chat = add_to_chat(team, copy)
        chat.workspace = workspaces.create_workspace(team.charlie, name=f"User {number}")
        chat.save()
        RunFactory.create(chat=chat, agent=copy, ended=True)
    for _ in range(3):
        RunFactory.create(chat=add_to_chat(team, beta), agent=beta)
    publishing.count_use()
    assert list_directory(team.bob).get(pk=copy.pk).use_count == MIN_COUNT
    assert list_handles(team.bob, sort="name") == ["alpha", "beta", "interpreter"]
    assert list_handles(team.bob, sort="use")[0] == "interpreter"
    assert list_handles(team.bob, sort="new") == ["beta", "alpha", "interpreter"]
    api = sign_in(team.bob.email, PASSWORD)
    for sort in SORT_COLUMNS:
        whole = [row["actor"]["handle"] for row in api.ok("GET", f"directory?sort={sort}")["results"]]
        page = api.ok("GET", f"directory?sort={sort}&limit=1")
        found = list(page["results"])
        while page["next"]:
            page = api.ok("GET", f"directory?sort={sort}&limit=1&cursor={page['next']}")
            found += page["results"]
        assert [row["actor"]["handle"] for row in found] == whole
        assert sorted(whole) == ["alpha", "beta", "browser", "interpreter"]


def test_the_order_by_use_does_not_tell_counts_that_are_hidden(team):
    get_shipped_agent("browser")
    copy = publish(team)
    newer = publish_other(team, "Alpha", "alpha")
    RunFactory.create(chat=add_to_chat(team, copy), agent=copy, ended=True)
    publishing.count_use()
    assert list(AgentUse.objects.values_list("agent", "run_count", "workspace_count")) == [(copy.pk, None, None)]
    assert set(list_directory(team.bob).values_list("use_count", flat=True)) == {0}
    page = sign_in(team.bob.email, PASSWORD).ok("GET", "directory?sort=use&limit=1")
    assert page["results"][0]["actor"]["id"] == str(newer.id)
    assert json.loads(base64.urlsafe_b64decode(page["next"])) == [0, str(newer.id)]


def test_a_card_has_the_publisher_and_numbers(team):
    copy = publish(team)
    chat = add_to_chat(team, copy)
    for _ in range(3):
        RunFactory.create(chat=chat, agent=copy, ended=True)
    old = RunFactory.create(chat=chat, agent=copy, ended=True)
    Run.objects.filter(pk=old.pk).update(created_at="2020-01-01T00:00Z")
    publishing.count_use()
    [row] = sign_in(team.bob.email, PASSWORD).ok("GET", "directory?query=interpreter")["results"]
    assert (row["publisher_name"], row["is_yours"], row["version"], row["tool_count"]) == ("Lighthouse", True, 1, 1)
    assert (row["chat_count"], row["run_count"], row["workspace_count"]) == (None, None, None)
    use = list_public_use(team.alice, team.robin.id)
    assert [(day.runs, day.chats, day.workspaces) for day in use] == [(None, None, None)]
    for _ in range(4):
        RunFactory.create(chat=add_to_chat(team, copy), agent=copy, ended=True)
    # One that has failed is no reply.
    RunFactory.create(chat=chat, agent=copy, ended=True, state="failed")
    publishing.count_use()
    row = get_directory_detail(team.bob, "interpreter")
    assert (row.chat_count, row.run_count, row.workspace_count) == (5, 7, None)
    [day] = list_public_use(team.alice, team.robin.id)
    assert (day.runs, day.chats, day.workspaces) == (7, 5, None)
    Run.objects.all().delete()
    publishing.count_use()
    assert get_directory_detail(team.bob, "interpreter").run_count == 0


def test_the_page_of_an_agent_counts_replies_that_are_not_counted_yet(team):
    copy = publish(team)
    row = get_directory_detail(team.bob, "interpreter")
    assert (row.run_count, row.workspace_count) == (0, 0)
    RunFactory.create(chat=add_to_chat(team, copy), agent=copy, ended=True)
    row = get_directory_detail(team.bob, "interpreter")
    assert (row.run_count, row.workspace_count) == (None, None)
    for _ in range(6):
        RunFactory.create(chat=add_to_chat(team, copy), agent=copy, ended=True)
    row = get_directory_detail(team.bob, "interpreter")
    assert (row.run_count, row.workspace_count) == (7, None)


def test_the_use_of_agents_of_the_release_is_counted_and_no_request_counts_runs(team):
    copy, browser = publish(team), get_shipped_agent("browser")
    for number in range(MIN_COUNT):
        chat = add_to_chat(team, browser)
        chat.workspace = workspaces.create_workspace(team.charlie, name=f"User {number}")
        chat.save()
        for agent in (browser, team.robin):
            RunFactory.create(chat=chat, agent=agent, ended=True)
        RunFactory.create(chat=chat, agent=browser, ended=True)
    for _ in range(2):
        publishing.count_use()
    assert list(AgentUse.objects.values_list("agent", "run_count", "workspace_count")) == [
        (browser.pk, 2 * MIN_COUNT, MIN_COUNT)
    ]
    assert list(list_directory(team.bob).order_by("-use_count").values_list("pk", flat=True)) == [browser.pk, copy.pk]
    api = sign_in(team.bob.email, PASSWORD)
    with CaptureQueriesContext(connection) as queries:
        [first, _] = api.ok("GET", "directory?sort=use")["results"]
    assert (first["actor"]["handle"], first["run_count"], first["workspace_count"]) == ("browser", 10, 5)
    assert not [query["sql"] for query in queries if "runs_run" in query["sql"]]


def test_a_card_counts_the_tools_that_the_page_of_the_agent_lists(team, django_assert_num_queries):
    other = publish_other(team, "Reader", "reader")
    names = ["current_time", "no_such_tool", "delegate", build_agent_tool_name(other.pk)]
    for name in names[1:]:
        add_tool_use(team.robin.current_spec, name)
    add_tool_use(team.robin.current_spec, "web_fetch", is_enabled=False)
    copy = publish(team)
    add_tool_use(get_production(copy), "no_such_tool")

    def list_tool_counts():
        agents = list(list_directory(team.bob).filter(pk__in=[copy.pk, other.pk]).order_by("handle"))
        with django_assert_num_queries(2):
            return [row.tool_count for row in build_directory_rows(agents)]

    shown = [tool.name for tool in get_directory_detail(team.bob, "interpreter").tools]
    assert shown == ["current_time", "delegate", build_agent_tool_name(other.pk)]
    assert list_tool_counts() == [3, 3]
    publishing.take_down_agent(team.charlie, other.pk)
    shown = [tool.name for tool in get_directory_detail(team.bob, "interpreter").tools]
    assert shown == ["current_time", "delegate"]
    [row] = sign_in(team.bob.email, PASSWORD).ok("GET", "directory?query=interpreter")["results"]
    assert row["tool_count"] == 2


def test_a_shipped_agent_has_no_publisher_and_one_that_only_does_jobs_is_not_listed(team):
    get_shipped_agent("merger")
    api = sign_in(team.bob.email, PASSWORD)
    [row] = api.ok("GET", "directory?query=browser&category=other&language=en")["results"]
    assert (row["actor"]["handle"], row["publisher_name"], row["is_shipped"]) == ("browser", None, True)
    assert api.ok("GET", "directory/browser")["examples"] == []
    assert api("GET", "directory/merger").status_code == 404


def test_agents_that_are_not_public_suspended_or_taken_down_are_not_in_the_directory(team):
    copy = publish(team)
    Actor.objects.filter(pk=copy.pk).update(status="suspended")
    for handle in ("interpreter", "robin", "alice", "\x00", "a b"):
        with pytest.raises(NotFound):
            get_directory_detail(team.bob, handle)
    Actor.objects.filter(pk=copy.pk).update(status="ready")
    assert get_directory_detail(team.bob, "@Interpreter").actor.id == copy.id
    publishing.take_down_agent(team.alice, copy.id)
    assert list_handles(team.bob) == []
    with pytest.raises(NotFound):
        get_directory_detail(team.bob, "interpreter")


def test_the_detail_has_tools_limits_and_examples(team):
    publish(team)
    row = get_directory_detail(team.charlie, "interpreter")
    assert [(tool.name, tool.effect) for tool in row.tools] == [("current_time", "read")]
    assert (row.model, row.max_steps, row.max_seconds) == ("", 10, 1800)
    assert row.examples == LISTING["examples"]
    assert [(version.number, version.message) for version in row.versions] == [(1, "")]
    assert row.typical is None
    assert row.verbs == ["chat", "see"]
    assert "take_down_agent" in get_directory_detail(team.alice, "interpreter").verbs
    assert "take_down_agent" not in get_directory_detail(team.bob, "interpreter").verbs


def test_typical_costs_are_the_median_of_replies_with_a_known_price(team):
    copy = publish(team)
    dora = make_person("Dora")
    others = [workspaces.create_workspace(dora, name=f"Theirs {number}") for number in range(4)]
    costs = [1000, 2000, 3000, 4000, 100_000]
    payers = [team.elsewhere, *others]
    for cost, payer in [(3000, team.elsewhere)] * 5 + list(zip(costs, payers, strict=True)):
        assert get_directory_detail(team.bob, "interpreter").typical is None
        run = RunFactory.create(chat=add_to_chat(team, copy), agent=copy, ended=True)
        for part in (cost - 400, 400):
            LLMCallFactory.create(
                workspace=payer,
                agent=copy,
                run_id=run.id,
                tree_id=run.id,
                cost_micro=part,
                total_ms=1500,
                paid_by="workspace",
            )
    unpriced = RunFactory.create(chat=add_to_chat(team, copy), agent=copy, ended=True)
    LLMCallFactory.create(
        workspace=team.elsewhere,
        agent=copy,
        run_id=unpriced.id,
        tree_id=unpriced.id,
        cost_micro=None,
        paid_by="workspace",
    )
    typical = get_directory_detail(team.bob, "interpreter").typical
    assert typical is not None
    assert (typical.runs, typical.median_micro, typical.median_seconds) == (10, 3000, 3.0)
    assert 1000 <= typical.low_micro <= 3000 < 4000 <= typical.high_micro <= 100_000


def test_typical_costs_include_sub_agents_and_exclude_what_the_agent_did_as_one(team, django_assert_num_queries):
    copy = publish(team)
    dora = make_person("Dora")
    payers = [team.elsewhere, *(workspaces.create_workspace(dora, name=f"Theirs {number}") for number in range(5))]

    def record(run, agent, *, cost, payer):
        LLMCallFactory.create(
            workspace=payer,
            agent=agent,
            run_id=run.id,
            tree_id=run.tree_id,
            cost_micro=cost,
            total_ms=1000,
            paid_by="workspace",
        )

    for number, payer in enumerate(payers):
        chat = add_to_chat(team, copy)
        root = RunFactory.create(chat=chat, agent=copy, ended=True)
        child = RunFactory.create(chat=chat, agent=team.robin, parent=root, root=root, input={}, ended=True)
        grandchild = RunFactory.create(chat=chat, agent=copy, parent=child, root=root, input={}, ended=True)
        record(root, copy, cost=1000, payer=payer)
        record(child, team.robin, cost=400, payer=payer)
        # The price of a tree with a call without a price is not known.
        record(grandchild, copy, cost=None if number == 5 else 30, payer=payer)
        other = RunFactory.create(chat=chat, agent=team.robin, ended=True)
        record(other, team.robin, cost=70_000, payer=payer)
        record(
            RunFactory.create(chat=chat, agent=copy, parent=other, root=other, input={}, ended=True),
            copy,
            cost=9,
            payer=payer,
        )
    with django_assert_num_queries(2):
        typical = _compute_typical_reply(copy)
    assert typical is not None
    assert (typical.runs, typical.low_micro, typical.median_micro, typical.high_micro) == (5, 1430, 1430, 1430)
    assert typical.median_seconds == 1.0


def test_the_prompt_of_a_public_agent_is_not_shown_to_others(team):
    secret = "Never reveal the lighthouse."
    change_spec(team.robin.current_spec, prompt=secret, tools=[ToolUse(tool="current_time", usage_instructions=secret)])
    copy = publish(team)
    add_to_chat(team, copy)
    paths = [
        f"agents/{copy.id}",
        f"agents/{copy.id}/versions",
        f"agents/{copy.id}/versions/1",
        f"agents/{copy.id}/specs/{copy.current_spec_id}",
        f"agents/{copy.id}/diff?a=1&b=1",
        f"agents/{copy.id}/file",
        "directory",
        "directory/interpreter",
    ]
    statuses = {}
    for who in (team.charlie, team.bob):
        api = sign_in(who.email, PASSWORD)
        for path in paths:
            answer = api("GET", path)
            assert secret not in answer.content.decode()
            assert str(team.alice.id) not in answer.content.decode()
            statuses[path] = answer.status_code
    assert list(statuses.values()) == [200, 403, 403, 403, 403, 403, 200, 200]
    shown = sign_in(team.charlie.email, PASSWORD).ok("GET", f"agents/{copy.id}")
    assert [use["tool"] for use in shown["spec"]["content"]["tools"]] == ["current_time"]
    assert "see_spec" not in shown["verbs"]
    assert secret in sign_in(team.alice.email, PASSWORD)("GET", f"agents/{copy.id}").content.decode()


def test_a_public_agent_is_tried_in_a_workspace_of_the_reader(team):
    copy = publish(team)
    chat = publishing.try_agent(team.charlie, copy.id, team.elsewhere.id)
    assert (chat.workspace_id, chat.title) == (team.elsewhere.id, "Interpreter")
    assert set(chat.participants.values_list("actor__name", flat=True)) == {"Charlie", "Interpreter"}
    with pytest.raises(NotFound):
        publishing.try_agent(team.charlie, copy.id, team.workspace.id)


def test_a_taken_down_agent_cannot_be_added_to_a_chat(team):
    copy = publish(team)
    publishing.take_down_agent(team.alice, copy.id)
    chat = chats.create_chat(team.charlie, team.elsewhere.id, title="")
    with pytest.raises(NotFound):
        chats.add_participant(team.charlie, chat.id, copy.id)
    assert chat.participants.count() == 1


def test_an_agent_is_found_by_a_handle_like_an_id_unless_that_is_the_id_of_another(team):
    api = sign_in(team.alice.email, PASSWORD)
    handle = "0123abcd-0123-0123-0123-0123456789ab"
    copy = publish(team, handle=handle)
    assert get_directory_detail(team.bob, handle).actor.id == copy.id
    wren = make_agent(team.workspace, team.alice, "Wren")
    row = api.ok("POST", f"agents/{wren.id}/publish", LISTING | {"name": "Wren", "handle": str(copy.id)})
    assert row["actor"]["name"] == "Wren"
    assert get_directory_detail(team.bob, str(copy.id)).actor.id == copy.id
    row = api.ok("PUT", f"agents/{wren.id}/publication", LISTING | {"name": "Wren", "description": "Sings."})
    assert row["actor"]["name"] == "Wren"
    publishing.take_down_agent(team.alice, copy.id)
    for reference in (handle, str(copy.id)):
        with pytest.raises(NotFound) as caught:
            get_directory_detail(team.bob, reference)
        assert caught.value.data["name"] == "Interpreter"


def test_an_agent_is_found_by_its_id_and_a_link_to_a_taken_down_one_says_so(team):
    copy = publish(team)
    assert get_directory_detail(team.bob, str(copy.id)).actor.handle == "interpreter"
    publishing.take_down_agent(team.alice, copy.id, reason="It is wrong.")
    for reference in (str(copy.id), "interpreter"):
        with pytest.raises(NotFound) as caught:
            get_directory_detail(team.bob, reference)
        error = caught.value
        assert (error.code, error.data["name"], error.data["reason"]) == (
            Code.TAKEN_DOWN,
            "Interpreter",
            "It is wrong.",
        )
        assert (error.data["by_operator"], error.data["origin_id"], error.data["origin_workspace_id"]) == (
            False,
            None,
            None,
        )
    with pytest.raises(NotFound) as caught:
        get_directory_detail(team.alice, str(copy.id))
    found = (caught.value.data["origin_id"], caught.value.data["origin_workspace_id"])
    assert found == (str(team.robin.id), str(team.workspace.id))
    again = publish(team)
    assert get_directory_detail(team.bob, "interpreter").actor.id == again.id
    with pytest.raises(NotFound) as caught:
        get_directory_detail(team.bob, str(copy.id))
    assert caught.value.code == Code.TAKEN_DOWN


def test_only_who_may_publish_it_anew_reads_which_agent_is_the_original(team):
    publish(team)
    row = get_directory_detail(team.alice, "interpreter")
    assert (row.origin_id, row.origin_workspace_id) == (team.robin.id, team.workspace.id)
    for other in (team.bob, team.charlie):
        row = get_directory_detail(other, "interpreter")
        assert (row.origin_id, row.origin_workspace_id) == (None, None)
    for stranger in ("00000000-0000-7000-8000-000000000000", str(team.robin.id)):
        with pytest.raises(NotFound) as caught:
            get_directory_detail(team.alice, stranger)
        assert caught.value.code == Code.NOT_FOUND

"""Takedowns: what is stopped and what stays; reports about public agents."""

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from actors.models import Actor
from actors.services import people
from agents.models import AgentSpec
from agents.selectors import list_agents_that_call
from agents.services import agents
from agents.specs.content import SpecContent, ToolUse
from chats import services as chats
from chats.models import Chat, ChatActor, Message
from common.errors import AppError, Code, Conflict, Forbidden, Invalid, NotFound
from events.models import AuditRecord
from events.rows import ReportReason
from publishing import services as publishing
from publishing.models import AgentReport, Listing, PendingUpdate
from publishing.selectors import (
    count_affected,
    get_publication,
    list_affected_agents,
    list_directory,
    preview_takedown,
)
from runs.models import Run
from tests.api.client import sign_in
from tests.factories.actors import PASSWORD
from tests.factories.agents import add_tool_use, change_spec
from tests.factories.runs import RunFactory
from tests.people import make_agent, make_operator
from tests.publishing.publications import LISTING, add_to_chat, finish_updates, publish
from tests.queries import list_plan_nodes
from tools.registry import build_agent_tool_name
from waking.services.wake import preview_wakes
from workspaces import services as workspaces

pytestmark = pytest.mark.django_db


def read_state(agent):
    """Return what a refused takedown must not change."""
    return (
        Actor.objects.filter(pk=agent.pk).values().get(),
        Listing.objects.filter(agent=agent).values().get(),
        Message.objects.count(),
        PendingUpdate.objects.count(),
        AuditRecord.objects.count(),
    )


def test_a_takedown_keeps_the_chats_and_frees_name_handle_and_original(team):
    copy = publish(team)
    chat = add_to_chat(team, copy)
    listing = publishing.take_down_agent(team.alice, copy.id, reason="It  is wrong.")
    finish_updates()
    copy.refresh_from_db()
    assert copy.taken_down_at is not None
    assert (listing.taken_down_by, listing.taken_down_by_operator, listing.takedown_reason) == (
        team.alice,
        False,
        "It is wrong.",
    )
    [line] = Message.objects.filter(type="AGENT_TAKEN_DOWN")
    assert (line.chat, line.payload["target_id"], line.payload["note"]) == (chat, str(copy.id), "It is wrong.")
    assert "actor_id" not in line.payload
    participant = ChatActor.objects.get(chat=chat, actor=copy)
    assert (participant.ended_at, participant.version) == (None, line.version)
    assert participant.to_row().actor.is_taken_down
    again = publish(team)
    assert (again.name, again.handle) == (copy.name, copy.handle)
    [ended] = get_publication(team.alice, team.robin.id).takedowns
    assert (ended.agent_id, ended.by_operator, ended.reason) == (copy.id, False, "It is wrong.")
    listed = {field: getattr(ended, field) for field in LISTING}
    assert listed == LISTING


def test_the_page_of_an_agent_that_was_taken_down_leads_to_the_one_that_was_published_anew(team):
    copy = publish(team)
    publishing.take_down_agent(team.alice, copy.id)
    api = sign_in(team.charlie.email, PASSWORD)
    data = api("GET", f"directory/{copy.id}").json()["error"]["data"]
    assert (data["new_handle"], data["new_name"]) == (None, None)
    again = publish(team, name="Other Interpreter", handle="other")
    data = api("GET", f"directory/{copy.id}").json()["error"]["data"]
    assert (data["new_handle"], data["new_name"]) == ("other", "Other Interpreter")
    publishing.take_down_agent(team.alice, again.id)
    assert api("GET", f"directory/{copy.id}").json()["error"]["data"]["new_handle"] is None


def test_queued_runs_end_at_once_and_the_composer_says_why_nothing_starts(team):
    copy = publish(team)
    chat = add_to_chat(team, copy)
    waiting = RunFactory.create(chat=chat, agent=copy, on_behalf_of=team.charlie)
    publishing.take_down_agent(team.alice, copy.id)
    finish_updates()
    waiting.refresh_from_db()
    assert (waiting.state, waiting.error_code) == ("failed", "agent_taken_down")
    chats.post_message(team.charlie, chat.id, text="@interpreter hello")
    assert not Run.objects.exclude(pk=waiting.pk).exists()
    [effect] = preview_wakes(team.charlie, chat.id, text="@interpreter hello")
    assert (effect.effect, effect.reason) == ("refused", "taken_down")


def test_a_takedown_locks_no_chat(team):
    copy = publish(team)
    add_to_chat(team, copy)
    versions = dict(Chat.objects.values_list("pk", "version"))
    with CaptureQueriesContext(connection) as queries:
        publishing.take_down_agent(team.alice, copy.id, reason="It is wrong.")
    assert not [query for query in queries if "FOR NO KEY UPDATE" in query["sql"] and '"chats_chat"' in query["sql"]]
    assert dict(Chat.objects.values_list("pk", "version")) == versions


@pytest.mark.parametrize(("who", "error"), [("bob", Forbidden), ("charlie", Forbidden), ("robin", Forbidden)])
def test_only_editors_of_the_publisher_take_down(team, who, error):
    copy = publish(team)
    add_to_chat(team, copy)
    before = read_state(copy)
    for attempt in (
        lambda: publishing.take_down_agent(team[who], copy.id, reason="No"),
        lambda: publishing.take_down_agent(team[who], copy.id, reason="No", as_operator=True),
        lambda: preview_takedown(team[who], copy.id),
    ):
        with pytest.raises(error):
            attempt()
    assert read_state(copy) == before


def test_the_publisher_takes_a_suspended_agent_down_and_deletes_the_original(team):
    copy = publish(team)
    people.suspend_agent(make_operator(), copy.id)
    alice, path = sign_in(team.alice.email, PASSWORD), f"directory/{copy.handle}"
    for name in ("bob", "charlie"):
        api = sign_in(team[name].email, PASSWORD)
        for method, at in (("GET", path), ("GET", f"{path}/takedown"), ("POST", f"{path}/takedown")):
            assert api(method, at, {"reason": "No"} if method == "POST" else None).status_code == 404
    for actor in (team.alice, team.bob, team.charlie):
        assert not list_directory(actor).filter(pk=copy.pk).exists()
    assert Actor.objects.get(pk=copy.pk).taken_down_at is None

    assert alice.ok("GET", path)["is_suspended"]
    publication = get_publication(team.alice, team.robin.id)
    assert publication.listing is not None
    assert (publication.listing.actor.id, publication.listing.is_suspended) == (copy.id, True)
    with pytest.raises(Conflict):
        agents.delete_agent(team.alice, team.robin.id)
    alice.ok("POST", f"{path}/takedown", {"reason": "We gave it up."})
    assert get_publication(team.alice, team.robin.id).listing is None
    agents.delete_agent(team.alice, team.robin.id)
    workspaces.delete_workspace(team.alice, team.workspace.id, name="Lighthouse")


def test_an_agent_of_a_workspace_and_one_that_is_down_cannot_be_taken_down(team):
    copy = publish(team)
    with pytest.raises(Forbidden):
        publishing.take_down_agent(team.alice, team.robin.id)
    publishing.take_down_agent(team.alice, copy.id)
    before = read_state(copy)
    with pytest.raises(NotFound):
        publishing.take_down_agent(team.alice, copy.id)
    with pytest.raises(Conflict) as refusal, transaction.atomic():
        publishing.take_down_agent(make_operator(), copy.id, reason="Again", as_operator=True)
    assert refusal.value.code == Code.NOT_PUBLIC
    assert read_state(copy) == before


def test_an_operator_takes_down_with_a_reason_which_closes_the_reports(team):
    copy = publish(team)
    operator = make_operator()
    publishing.report_agent(team.charlie, copy.id, reason=ReportReason.DATA, text="It sends my letters away.")
    before = read_state(copy)
    with pytest.raises(Invalid):
        publishing.take_down_agent(operator, copy.id, reason=" ", as_operator=True)
    assert read_state(copy) == before
    publishing.take_down_agent(operator, copy.id, reason="It sends texts away.", as_operator=True)
    report = AgentReport.objects.get()
    assert (report.state, report.closed_by) == ("closed", operator)
    record = AuditRecord.objects.get(action="agent.taken_down")
    assert (record.actor, record.object_id, record.facts["as_operator"]) == (operator, copy.id, True)
    [ended] = get_publication(team.alice, team.robin.id).takedowns
    assert ended.by_operator


def test_the_preview_counts_what_is_affected(team):
    copy = publish(team)
    chat = add_to_chat(team, copy)
    chats.create_chat(team.charlie, team.elsewhere.id, title="", actor_ids=[copy.id])
    left = add_to_chat(team, copy)
    chats.remove_participant(team.charlie, left.id, copy.id)
    RunFactory.create(chat=chat, agent=copy)
    RunFactory.create(chat=chat, agent=copy, ended=True)
    caller = make_agent(team.elsewhere, team.charlie, "Writer")
    spec = AgentSpec.objects.get(agent=caller)
    add_tool_use(spec, build_agent_tool_name(copy.id))
    lead = make_agent(team.elsewhere, team.charlie, "Lead")
    change_spec(lead.current_spec, team={"members": ["browser", build_agent_tool_name(copy.id)]})
    assert count_affected(copy) == {"workspaces": 1, "chats": 2, "agents": 2, "runs": 1}
    assert list(list_affected_agents(copy)) == [lead, caller]


def test_the_agents_that_have_a_public_agent_as_a_tool_or_in_their_team_are_found_by_indexes(team):
    copy = publish(team)
    spec = AgentSpec.objects.get(agent=team.robin)
    others = [
        Actor(kind="agent", workspace=team.workspace, name=f"Agent {number}", handle=f"agent-{number}")
        for number in range(2_000)
    ]
    Actor.objects.bulk_create(others)
    specs = []
    for number, other in enumerate(others):
        content = SpecContent(tools=[ToolUse(tool=f"tool_{number}")]).as_json()
        other.current_spec = AgentSpec(agent=other, author=team.alice, number=1, content=content)
        specs.append(other.current_spec)
    AgentSpec.objects.bulk_create(specs)
    Actor.objects.bulk_update(others, ["current_spec"])
    add_tool_use(spec, build_agent_tool_name(copy.id))
    change_spec(others[0].current_spec, team={"members": [build_agent_tool_name(copy.id)]})
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE agents_agentspec, actors_actor")
        cursor.execute("SET LOCAL enable_seqscan = off")  # 2,000 rows are few for two indexes
    with CaptureQueriesContext(connection) as queries:
        assert set(list_agents_that_call(copy.id)) == {team.robin, others[0]}
    [sql] = [query["sql"] for query in queries]
    assert {"specs_by_tool", "specs_by_team"} <= {node.get("Index Name") for node in list_plan_nodes(sql)}


def test_the_publisher_reads_no_count_from_one_to_four(team):
    copy = publish(team)
    api, path = sign_in(team.alice.email, PASSWORD), f"directory/{copy.handle}/takedown"
    assert api.ok("GET", path) == {"workspaces": 0, "chats": 0, "agents": 0, "runs": 0}
    for number in range(5):
        if number:
            assert api.ok("GET", path) == {"workspaces": None, "chats": None, "agents": 0, "runs": 0}
        add_to_chat(team, copy)
    five = {"workspaces": None, "chats": 5, "agents": 0, "runs": 0}
    assert api.ok("GET", path) == five
    assert api.ok("POST", path, {"reason": ""}) == five


def test_a_person_reports_an_agent_once_until_the_report_is_closed(team):
    copy = publish(team)
    report = publishing.report_agent(team.charlie, copy.id, reason=ReportReason.BRAND, text=" Our name. ")
    assert (report.reporter, report.state, report.text) == (team.charlie, "open", "Our name.")
    with pytest.raises(Conflict) as refusal:
        publishing.report_agent(team.charlie, copy.id, reason=ReportReason.OTHER)
    assert refusal.value.code == Code.ALREADY_REPORTED
    assert AgentReport.objects.count() == 1
    operator = make_operator()
    publishing.close_report(operator, report.id)
    with pytest.raises(Conflict), transaction.atomic():
        publishing.close_report(operator, report.id)
    publishing.report_agent(team.charlie, copy.id, reason=ReportReason.OTHER)
    assert AgentReport.objects.filter(state="open").count() == 1


def test_an_editor_of_the_publisher_does_not_report_the_agent(team):
    copy = publish(team)
    before = read_state(copy)
    answer = sign_in(team.alice.email, PASSWORD)("POST", f"directory/{copy.handle}/reports", {"reason": "other"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "own_agent")
    assert (read_state(copy), AgentReport.objects.count()) == (before, 0)
    publishing.report_agent(team.bob, copy.id, reason=ReportReason.OTHER)
    assert AgentReport.objects.get().reporter == team.bob


def test_another_error_of_the_database_is_not_an_earlier_report(team):
    copy = publish(team)
    with pytest.raises(IntegrityError):
        publishing.report_agent(team.charlie, copy.id, reason="unknown")  # type: ignore[arg-type]
    assert not AgentReport.objects.exists()


def test_reports_are_about_public_agents_and_closed_by_operators(team):
    copy = publish(team)
    for actor, agent in ((team.alice, team.robin), (team.charlie, team.robin)):
        with pytest.raises(AppError):
            publishing.report_agent(actor, agent.id, reason=ReportReason.OTHER)
    report = publishing.report_agent(team.bob, copy.id, reason=ReportReason.OTHER)
    with pytest.raises(Forbidden):
        publishing.close_report(team.alice, report.id)
    assert list(AgentReport.objects.values_list("state", flat=True)) == ["open"]

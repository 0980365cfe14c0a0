"""The tree of agents: an agent reports to another one of its workspace, and never to itself."""

import pytest
from django.db import connections, transaction

from actors.models import Actor
from agents.services import agents
from agents.services.shipped import get_shipped_agent
from agents.services.tree import move_agent
from common.errors import AppError, Code, Conflict, Forbidden, Invalid, NotFound
from context.transcript import ChatContext, Participant, build_system_text
from tests.concurrency import ConcurrentTransaction
from tests.people import Team, make_agent, make_team


@pytest.fixture
def team(db) -> Team:
    return make_team()


def make(team: Team, name: str) -> Actor:
    return make_agent(team.workspace, team.alice, name)


def get_parents() -> dict[str, str | None]:
    return {agent.name: agent.parent.name if agent.parent else None for agent in Actor.objects.filter(kind="agent")}


def test_an_agent_reports_to_another_one(team):
    lead = make(team, "Lead")
    moved = move_agent(team.alice, team.robin.id, lead.id)
    assert (moved.parent, moved.revision) == (lead, team.robin.revision + 1)
    assert move_agent(team.alice, team.robin.id, None).parent is None


def test_a_circle_is_refused(team):
    lead, writer = make(team, "Lead"), make(team, "Writer")
    move_agent(team.alice, writer.id, lead.id)
    move_agent(team.alice, team.robin.id, writer.id)
    before = get_parents()
    for above in (lead, writer, team.robin):
        with pytest.raises(Conflict) as refusal:
            move_agent(team.alice, lead.id, above.id)
        assert refusal.value.code == Code.WOULD_REPORT_TO_ITSELF
    assert get_parents() == before


def test_only_editors_move_agents_and_only_below_agents_of_the_workspace(team):
    other = make_team(" Two")
    lead = make(team, "Lead")
    with pytest.raises(Forbidden):
        move_agent(team.bob, team.robin.id, lead.id)
    with pytest.raises(NotFound):
        move_agent(team.charlie, team.robin.id, lead.id)
    with pytest.raises(NotFound):
        move_agent(team.alice, team.robin.id, other.robin.id)
    with pytest.raises(Invalid):
        move_agent(team.alice, team.robin.id, get_shipped_agent("browser").id)
    assert set(get_parents().values()) == {None}


def test_the_children_of_a_deleted_agent_report_to_its_parent(team):
    lead, writer = make(team, "Lead"), make(team, "Writer")
    move_agent(team.alice, writer.id, lead.id)
    move_agent(team.alice, team.robin.id, writer.id)
    agents.delete_agent(team.alice, writer.id)
    team.robin.refresh_from_db()
    assert team.robin.parent == lead


def test_the_role_of_an_agent_is_changed_by_editors(team):
    changed = agents.update_agent_profile(
        team.alice, team.robin.id, revision=team.robin.revision, role=" plans\ntrips "
    )
    assert changed.role == "plans trips"
    with pytest.raises(Forbidden):
        agents.update_agent_profile(team.bob, team.robin.id, revision=changed.revision, role="boss")


def test_the_model_reads_role_and_parent_in_one_line(team):
    agent, lead = Participant(team.robin.id, "Robin", "robin", True), Participant(team.alice.id, "Lead", "lead", True)
    chat = ChatContext("Room", "Lighthouse", [agent], {})
    text = build_system_text("Answer.", agent, chat, {}, role="plans trips", parent=lead)
    assert "Your role in the team: plans trips. You report to Lead (@lead, an agent)." in text
    assert "role" not in build_system_text("Answer.", agent, chat, {})


@pytest.mark.django_db(transaction=True)
def test_two_moves_at_once_make_no_circle():
    team = make_team()
    lead = make(team, "Lead")
    with transaction.atomic():
        move_agent(team.alice, team.robin.id, lead.id)
        other = ConcurrentTransaction(lambda: move_agent(team.alice, lead.id, team.robin.id))
    with pytest.raises(AppError) as refusal:
        other.result()
    assert refusal.value.code == Code.WOULD_REPORT_TO_ITSELF
    assert get_parents() == {"Robin": "Lead", "Lead": None}
    connections.close_all()

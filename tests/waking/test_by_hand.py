"""Waking an agent by hand ("Look again")."""

import pytest
from django.db import transaction

from actors.models import Actor, AgentStatus
from chats import services as chats
from common.errors import Conflict, Forbidden, NotFound
from common.ids import new_id
from runs.models import Run
from waking.services.by_hand import wake_agent
from webhooks.models import AgentWake

pytestmark = pytest.mark.django_db(transaction=True)


def wake(environment, **more):
    team = environment.team
    return wake_agent(more.pop("by", team.alice), team.chat.id, more.pop("agent", team.robin).id, **more)


@pytest.mark.usefixtures("engine")
def test_RUN27_an_agent_that_is_woken_by_hand_looks_at_the_chat_again(environment):
    environment.post("hello", wake="nobody")
    message, is_new = wake(environment)
    environment.submit_queued_runs()
    [run] = environment.wait_until_idle()
    assert (is_new, run.state) == (True, "completed")
    assert (run.trigger_id, run.on_behalf_of, run.woken_by) == (
        message.id,
        environment.team.alice,
        environment.team.alice,
    )
    assert (message.payload["reason"], message.payload["target_id"]) == ("hand", str(environment.team.robin.id))
    request = str(environment.model.requests[-1])
    assert all(text in request for text in ("hello", "I wake you by hand"))
    assert len(environment.list_answers()) == 1


def test_RUN27_the_same_id_again_wakes_only_once(environment):
    id = new_id()
    first, second = wake(environment, id=id), wake(environment, id=id)
    assert (first[0].pk, first[1], second[0].pk, second[1]) == (id, True, id, False)
    assert len(environment.log("AGENT_WOKEN")) == len(environment.runs()) == 1


def test_the_id_of_something_else_is_refused(environment):
    posted = environment.post("hello", wake="nobody")
    with pytest.raises(Conflict):
        wake(environment, id=posted.id)
    id = new_id()
    wake(environment, id=id)
    with pytest.raises(Conflict):
        wake(environment, id=id, by=environment.team.bob)
    assert len(environment.log("AGENT_WOKEN")) == 1


def test_RUN27_an_agent_that_is_awake_gets_no_second_run(environment):
    environment.post("hello")
    wake(environment)
    wake(environment)
    assert len(environment.runs()) == 1
    assert len(environment.log("AGENT_WOKEN")) == 2


@pytest.mark.usefixtures("engine")
def test_only_the_agent_that_was_woken_reads_of_it(environment):
    scribe = environment.add_agent("Scribe", handle="scribe")
    environment.model.script(text="Nothing is open.")
    wake(environment, agent=scribe)
    environment.post("@robin hello")
    environment.submit_queued_runs()
    environment.wait_until_idle()
    woken = [str(request) for request in environment.model.requests if "I wake you by hand" in str(request)]
    assert woken
    assert all("You are Scribe" in request for request in woken)
    assert len(woken) < len(environment.model.requests)


@pytest.mark.parametrize("fields", [{"status": AgentStatus.SUSPENDED}])
def test_a_suspended_agent_is_refused(environment, fields):
    Actor.objects.filter(pk=environment.team.robin.pk).update(**fields)
    with pytest.raises(Conflict) as refused:
        wake(environment)
    assert refused.value.data == {"reason": "suspended"}
    assert environment.log() == environment.runs() == []


def test_an_agent_that_left_a_stranger_and_an_agent_as_actor_are_refused(environment):
    team = environment.team
    with pytest.raises(NotFound):
        wake(environment, by=team.charlie)
    with pytest.raises(Forbidden):
        wake(environment, by=team.robin)
    with transaction.atomic():
        chats.remove_participant(team.alice, team.chat.id, team.robin.id)
    with pytest.raises(NotFound):
        wake(environment)
    assert not Run.objects.exists()


def test_the_program_of_an_agent_that_runs_outside_is_notified_instead_of_a_run(environment):
    Actor.objects.filter(pk=environment.team.robin.pk).update(runs_outside=True)
    message, _ = wake(environment)
    found = AgentWake.objects.get()
    assert (found.agent, found.message_id, found.why) == (environment.team.robin, message.pk, "hand")
    assert environment.runs() == []


def test_RUN27_editors_wake_an_agent_in_a_chat_between_agents_and_other_members_do_not(environment):
    team, scribe = environment.team, environment.add_agent("Scribe", handle="scribe")
    chat, _ = chats.open_direct_chat(team.alice, team.workspace.id, scribe.id, agent_id=team.robin.id)
    for person in (team.bob, team.charlie):
        with pytest.raises(NotFound):
            wake_agent(person, chat.id, scribe.id)
    assert not Run.objects.exists()
    message, _ = wake_agent(team.alice, chat.id, scribe.id)
    run = Run.objects.get()
    assert (run.agent, run.chat, run.trigger_id, run.on_behalf_of) == (scribe, chat, message.pk, team.alice)

"""Comparisons: production and the draft answer one message, and people vote (ADR 0012)."""

import pytest
from django.db import transaction

from agents.models import Draft
from agents.services import drafts
from agents.services.votes import cast_vote, count_vote
from agents.specs.content import SpecContent, ToolUse
from chats import services as chats
from chats.models import ChatActor, Message
from common.errors import AppError, Code, Conflict, Forbidden, NotFound, TooLarge
from common.ids import new_id
from events.rows import VoteCount
from runs.models import Run
from runs.services import claims, comparisons, runs
from tools.interface import Tool, ToolArgs, ToolContext
from tools.registry import register, registry
from waking.services.wake import preview_wakes

pytestmark = pytest.mark.django_db(transaction=True)

PIRATE = SpecContent(prompt="Answer like a pirate.", tools=(ToolUse(tool="current_time"),))


def get_draft_ids(team, who="alice"):
    return {"actor": team[who], "chat_id": team.chat.id, "agent_id": team.robin.id}


@pytest.fixture
def applied(team):
    """A draft of Robin that answers in the chat."""
    draft = drafts.claim_draft(**get_draft_ids(team), content=PIRATE)
    return drafts.apply_draft(**get_draft_ids(team), revision=draft.revision)


def compare(team, text="Which?", who="alice", revision=None, id=None):
    message, _ = comparisons.start_comparison(
        **get_draft_ids(team, who), id=id or new_id(), text=text, revision=revision
    )
    return message


def vote_as(team, message, who, choice):
    return cast_vote(actor=team[who], chat_id=team.chat.id, comparison_id=message.id, choice=choice)


def get_answers_by_side(environment):
    """Return the answers by side."""
    answers = [message for message in environment.log("TEXT_MESSAGE") if message.payload.get("stamp")]
    return {message.payload["stamp"]["side"]: message for message in answers if message.payload["stamp"].get("side")}


def get_request_of(environment, prompt):
    """Return the request of the side with this prompt."""
    found = [r.body for r in environment.model.requests if r.body["messages"][0]["content"].startswith(prompt)]
    return found[0]


def answer_both_sides(environment):
    """Let each side answer with its name."""
    environment.model.script(text="from production", system="Answer.")
    environment.model.script(text="from the draft", system="pirate")


# --- both sides answer --------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("engine", "applied")
def test_production_and_the_draft_answer_the_same_message_each_with_its_own_prompt(environment):
    answer_both_sides(environment)
    environment.post("hello", wake="nobody")
    message = compare(environment.team)
    environment.submit_queued_runs()
    done = environment.wait_until_idle()
    answers = get_answers_by_side(environment)
    assert {side: answer.text for side, answer in answers.items()} == {
        "production": "from production",
        "draft": "from the draft",
    }
    assert {answer.payload["stamp"]["compared"] for answer in answers.values()} == {str(message.id)}
    assert answers["production"].payload["stamp"]["version"] == 1
    assert answers["draft"].payload["stamp"]["draft_by"] == "Alice"
    assert [run.state for run in done] == ["completed", "completed"]
    seen = [
        get_request_of(environment, "Answer.")["messages"][1:],
        get_request_of(environment, "Answer like a pirate.")["messages"][1:],
    ]
    assert seen[0] == seen[1]
    assert [turn["content"] for turn in seen[0]] == ["Alice: hello", "Alice: Which?"]


@pytest.mark.usefixtures("engine", "applied")
def test_the_answers_of_a_comparison_wake_and_mention_no_participant_and_answer_no_other_message(environment):
    environment.add_agent("Finch")
    environment.model.script(text="ask @finch")
    environment.engine, engine = None, environment.engine
    waiting = environment.post("@robin hello")
    message = compare(environment.team, "What does @finch say?")
    engine.submit(Run.objects.filter(origin="compare").values_list("pk", flat=True))
    environment.wait(lambda: not Run.objects.filter(origin="compare").exclude(state="completed").exists())
    assert {run.origin for run in environment.runs()} == {"wake", "compare"}
    assert [answer.payload["mentions"] for answer in get_answers_by_side(environment).values()] == [[], []]
    [wake_run] = environment.runs(origin="wake")
    assert (wake_run.trigger_id, wake_run.state) == (waiting.id, "queued")
    assert ChatActor.objects.get(chat=environment.team.chat, actor=environment.team.robin).last_read_seq < message.seq


@pytest.mark.usefixtures("engine", "applied")
def test_later_runs_read_the_question_once_and_the_answer_of_the_draft(environment):
    answer_both_sides(environment)
    compare(environment.team)
    environment.submit_queued_runs()
    environment.wait_until_idle()
    environment.model.script(text="fine")
    environment.post("and now?")
    environment.wait_until_idle()
    turns = environment.model.requests[-1].body["messages"][1:]
    assert [turn["content"] for turn in turns] == ["Alice: Which?", "from the draft", "Alice: and now?"]


@pytest.mark.usefixtures("engine", "applied")
def test_a_running_run_does_not_read_a_comparison_of_another_agent(environment):
    environment.add_agent("Finch")
    environment.model.script(text="done")
    call = {"name": "current_time", "arguments": '{"timezone": "UTC"}'}
    environment.model.script(calls=[call], match="first", first=0.8, times=1)
    environment.post("@finch first")
    environment.wait(lambda: environment.model.requests)
    compare(environment.team, "second")
    environment.submit_queued_runs()
    environment.wait_until_idle()
    [last] = [r.body["messages"] for r in environment.model.requests if r.body["messages"][-2]["role"] == "assistant"]
    assert [turn["role"] for turn in last] == ["system", "user", "assistant", "tool"]


@pytest.fixture
def writing_tool():
    class Scribble(Tool):
        """Write something down."""

        name = "scribble"
        effect = "write"

        class Args(ToolArgs):
            pass

        def run(self, ctx: ToolContext, args: ToolArgs) -> str:
            return "written"

    register(Scribble)
    yield "scribble"
    del registry["scribble"]


@pytest.mark.usefixtures("engine")
def test_a_comparison_has_no_tools_that_write(environment, writing_tool):
    tools = (ToolUse(tool="current_time"), ToolUse(tool=writing_tool))
    draft = drafts.claim_draft(**get_draft_ids(environment.team), content=PIRATE.model_copy(update={"tools": tools}))
    drafts.apply_draft(**get_draft_ids(environment.team), revision=draft.revision)
    environment.model.script(text="fine")
    compare(environment.team)
    environment.submit_queued_runs()
    environment.wait_until_idle()
    offered = get_request_of(environment, "Answer like a pirate.")["tools"]
    assert [tool["function"]["name"] for tool in offered] == ["current_time"]


@pytest.mark.usefixtures("engine", "applied")
def test_a_side_that_failed_is_retried_with_the_same_spec(environment):
    environment.model.script(text="fine")
    environment.model.script(mode="status", status=400, system="pirate", times=1)
    message = compare(environment.team)
    environment.submit_queued_runs()
    [failed] = [run for run in environment.wait_until_idle() if run.state == "failed"]
    drafts.discard_draft(**get_draft_ids(environment.team), revision=Draft.objects.get().revision)
    again = runs.retry_run(actor=environment.team.bob, run_id=failed.id)
    assert runs.retry_run(actor=environment.team.bob, run_id=failed.id).id == again.id
    environment.submit_queued_runs()
    environment.wait_until_idle()
    assert (again.spec_id, again.stamp, again.concurrency_key) == (failed.spec_id, failed.stamp, failed.concurrency_key)
    assert get_answers_by_side(environment)["draft"].run_id == again.id
    message.refresh_from_db()
    assert message.payload["draft"]["run_id"] == str(again.id)
    assert message.payload["draft"]["earlier"] == [str(failed.id)]


@pytest.mark.usefixtures("applied")
def test_RUN16_one_side_is_stopped_and_the_other_continues(environment):
    compare(environment.team)
    draft, production = sorted(environment.runs(), key=lambda run: run.stamp["side"])
    runs.stop_run(actor=environment.team.alice, run_id=draft.id)
    assert claims.claim_run(production.id, "host:1:x") is not None
    states = {run.stamp["side"]: run.state for run in environment.runs()}
    assert states == {"draft": "stopped", "production": "running"}


@pytest.mark.usefixtures("applied")
def test_a_side_of_a_comparison_does_not_read_new_messages(team):
    compare(team)
    [robin] = preview_wakes(team.bob, team.chat.id, text="hello")
    assert robin.effect == "wakes"


# --- idempotence and refusals --------------------------------------------------------------------------------


def test_MSG1_a_comparison_that_is_requested_twice_with_one_id_is_started_once(team, applied):
    id = new_id()
    first = compare(team, id=id, revision=applied.revision)
    drafts.write_draft(**get_draft_ids(team), content=SpecContent(prompt="Aye."), revision=applied.revision)
    second, is_new = comparisons.start_comparison(
        **get_draft_ids(team), id=id, text="Which?", revision=applied.revision
    )
    assert (second.id, is_new, Run.objects.count()) == (first.id, False, 2)


@pytest.mark.usefixtures("applied")
def test_an_id_of_another_message_is_refused(team):
    message = chats.post_message(team.alice, team.chat.id, text="Which?", wake="nobody")[0]
    asked = compare(team)
    for id, text, who in [(message.id, "Which?", "alice"), (asked.id, "What?", "alice"), (asked.id, "Which?", "bob")]:
        with pytest.raises(Conflict) as refusal:
            compare(team, text, who, id=id)
        assert refusal.value.code == Code.ID_TAKEN
    assert Run.objects.count() == 2


def refused(team, **more):
    with pytest.raises(AppError) as refusal:
        compare(team, **more)
    assert not Run.objects.exists()
    return refusal.value.code


def test_only_the_applied_revision_can_be_compared(team):
    assert refused(team) == Code.NO_DRAFT
    draft = drafts.claim_draft(**get_draft_ids(team), content=PIRATE)
    assert refused(team, revision=draft.revision) == Code.NOT_APPLIED
    assert refused(team) == Code.NOT_APPLIED
    drafts.apply_draft(**get_draft_ids(team), revision=draft.revision)
    later = drafts.write_draft(**get_draft_ids(team), content=SpecContent(prompt="Aye."), revision=draft.revision)
    assert refused(team, revision=later.revision) == Code.NOT_APPLIED
    assert refused(team, revision=later.revision + 5) == Code.STALE_REVISION
    assert refused(team, text=" \n") == Code.INVALID
    assert refused(team, text="x" * 200_001) == TooLarge.default_code


def test_the_applied_revision_can_be_compared_while_the_draft_is_edited(team, applied):
    drafts.write_draft(**get_draft_ids(team), content=SpecContent(prompt="Aye."), revision=applied.revision)
    message = compare(team, who="bob")
    assert message.payload["draft"]["spec_id"] == str(applied.applied_id)
    assert message.payload["actor_name"] == "Bob"


@pytest.mark.usefixtures("applied")
def test_an_agent_that_has_left_the_chat_cannot_be_compared(team):
    with transaction.atomic():
        chats.remove_participant(team.alice, team.chat.id, team.robin.id)
    assert refused(team) == Code.NOT_FOUND


# --- voting -----------------------------------------------------------------------------------------------------


def get_votes(message):
    message.refresh_from_db()
    return [(vote["actor_id"], vote["choice"]) for vote in message.payload["votes"]]


def test_each_person_has_one_vote_and_may_change_or_withdraw_it(team, applied):
    message = compare(team)
    vote_as(team, message, "alice", "draft")
    vote_as(team, message, "bob", "production")
    vote_as(team, message, "alice", "equal")
    assert get_votes(message) == [(str(team.bob.id), "production"), (str(team.alice.id), "equal")]
    applied.refresh_from_db()
    assert applied.to_row().votes == [VoteCount(draft_apply=1, production=1, equal=1)]
    vote_as(team, message, "bob", None)
    assert get_votes(message) == [(str(team.alice.id), "equal")]


def test_repeating_the_same_vote_changes_nothing(team, applied):
    message = compare(team)
    first = vote_as(team, message, "alice", "draft")
    assert vote_as(team, message, "alice", "draft").version == first.version


def test_votes_are_counted_for_the_apply_that_was_compared(team, applied):
    vote_as(team, compare(team), "alice", "draft")
    later = drafts.write_draft(**get_draft_ids(team), content=SpecContent(prompt="Aye."), revision=applied.revision)
    drafts.apply_draft(**get_draft_ids(team), revision=later.revision)
    second = compare(team)
    vote_as(team, second, "alice", "production")
    vote_as(team, second, "bob", "draft")
    applied.refresh_from_db()
    assert applied.to_row().votes == [
        VoteCount(draft_apply=1, draft=1),
        VoteCount(draft_apply=2, production=1, draft=1),
    ]


def test_a_vote_returns_the_current_draft(team, applied):
    message = compare(team)
    drafts.write_draft(**get_draft_ids(team), content=SpecContent(prompt="Aye."), revision=applied.revision)
    vote_as(team, message, "bob", "draft")
    applied.refresh_from_db()
    assert (applied.written["prompt"], applied.revision) == ("Aye.", 2)


def test_only_people_of_this_chat_can_vote(team, applied):
    message = compare(team)
    with pytest.raises(Forbidden):
        vote_as(team, message, "robin", "draft")
    with pytest.raises(NotFound):
        vote_as(team, message, "charlie", "draft")
    with pytest.raises(NotFound):
        vote_as(team, Message.objects.filter(chat=team.chat).first(), "alice", "draft")
    assert get_votes(message) == []


def test_voting_ends_with_the_draft(team, applied):
    message, other = compare(team), compare(team)
    vote_as(team, message, "alice", "draft")
    drafts.save_draft(**get_draft_ids(team), revision=applied.revision, base_version=1)
    for comparison in (message, other):
        comparison.refresh_from_db()
        assert comparison.payload["ended"] is True
        with pytest.raises(Conflict) as refusal:
            vote_as(team, comparison, "bob", "production")
        assert refusal.value.code == Code.COMPARISON_ENDED
    assert get_votes(message) == [(str(team.alice.id), "draft")]


def test_the_end_of_the_next_draft_does_not_change_earlier_comparisons(team, applied):
    message = compare(team)
    drafts.discard_draft(**get_draft_ids(team), revision=applied.revision)
    message.refresh_from_db()
    again = drafts.claim_draft(**get_draft_ids(team), content=PIRATE)
    drafts.discard_draft(**get_draft_ids(team), revision=again.revision)
    version = message.version
    message.refresh_from_db()
    assert message.version == version


def test_votes_are_counted_up_and_down():
    votes = count_vote([], 3, None, "draft")
    votes = count_vote(votes, 1, None, "equal")
    votes = count_vote(votes, 3, "draft", "production")
    assert votes == [VoteCount(draft_apply=1, equal=1), VoteCount(draft_apply=3, production=1)]

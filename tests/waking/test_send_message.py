"""The tool `send_message`: rights, approval, whom it wakes, and the end of loops in a chat of two agents."""

import json

import pytest

from agents.specs.content import ToolUse
from approvals.models import Approval
from chats import services as chats
from chats.models import Chat, ChatActor, Message
from chats.selectors import list_chats_with_activity
from runs.models import Run
from tests.factories.agents import change_spec
from tests.factories.tools import ToolPolicyFactory
from tests.people import make_agent, make_person
from waking import agent_tools
from waking.services.limits import MAX_AGENT_HOPS
from workspaces import services as workspaces

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def pair(environment):
    """Robin, who can send messages, in a chat with Alice alone; Writer, who is not in it."""
    environment.delete_bob_from_chat()
    team = environment.team
    change_spec(team.robin.current_spec, tools=[ToolUse(tool="send_message")])
    environment.writer = make_agent(team.workspace, team.alice, "Writer", handle="writer")
    return environment


def script_call(environment, **arguments):
    calls = [{"name": "send_message", "arguments": json.dumps(arguments)}]
    environment.model.script(calls=calls, then={"text": "I have told them."}, system="You are Robin", times=1)


def submit_all(environment):
    environment.engine.submit(list(Run.objects.filter(state="queued").values_list("pk", flat=True)))


@pytest.mark.usefixtures("engine")
def test_RUN28_a_message_to_another_agent_waits_for_approval_and_wakes_it_for_the_same_person(pair):
    script_call(pair, to="@writer", text="Please write it up.")
    pair.model.script(text="It is written.", system="You are Writer", times=1)
    pair.post("Tell Writer")
    [approval] = pair.wait_until_waiting()
    assert (approval.tool, approval.reason) == ("send_message", "policy")
    assert not Chat.objects.filter(is_between_agents=True).exists()
    pair.decide(approval)
    pair.wait(lambda: Chat.objects.filter(is_between_agents=True).exists())
    chat = Chat.objects.get(is_between_agents=True)
    pair.wait(lambda: Run.objects.filter(chat=chat).exists())
    submit_all(pair)
    pair.wait(lambda: Message.objects.filter(chat=chat, author=pair.writer, type="TEXT_MESSAGE").exists())
    run = Run.objects.filter(chat=chat).earliest("pk")
    assert (run.agent, run.on_behalf_of, run.agent_hops) == (pair.writer, pair.team.alice, 1)
    assert run.woken_by == pair.team.robin
    results = pair.wait(lambda: [row.payload for row in pair.log("TOOL_RESPONSE")])
    assert [row["status"] for row in results] == ["ok"]
    assert "It wakes Writer." in results[0]["text"]


@pytest.mark.usefixtures("engine")
def test_RUN28_without_an_approval_nothing_is_sent_to_people_who_do_not_read_this_chat(pair):
    ToolPolicyFactory.create(workspace=pair.team.workspace, tool="send_message", policy="auto")
    other = chats.create_chat(
        pair.team.alice, pair.team.workspace.id, title="Other", actor_ids=[pair.team.bob.id, pair.team.robin.id]
    )
    script_call(pair, chat_id=str(other.id), text="A secret of Alice")
    pair.post("go")
    pair.wait_until_idle()
    [result] = [row.payload for row in pair.log("TOOL_RESPONSE")]
    assert result["status"] == "error"
    assert not Message.objects.filter(chat=other, type="TEXT_MESSAGE").exists()
    assert not Approval.objects.exists()


def add_carol(environment):
    """Add a member who is not in the chat."""
    carol = make_person("Carol")
    workspaces.join_workspace(carol, environment.team.workspace.id, role="suggester", invited_by=environment.team.alice)
    return carol


@pytest.mark.usefixtures("engine")
def test_RUN28_a_message_to_another_member_is_sent_in_their_direct_chat_when_it_is_approved(pair):
    carol = add_carol(pair)
    script_call(pair, to="@carol", text="Alice asks for the figures.")
    pair.post("Ask Carol")
    [approval] = pair.wait_until_waiting()
    assert not Message.objects.filter(payload__text__startswith="Alice asks").exists()
    pair.decide(approval)
    pair.wait_until_idle()
    [result] = [row.payload for row in pair.log("TOOL_RESPONSE")]
    assert (result["status"], "It wakes no agent." in result["text"]) == ("ok", True)
    message = Message.objects.get(payload__text="Alice asks for the figures.")
    assert (message.author, message.payload["mentions"]) == (pair.team.robin, [])
    present = ChatActor.objects.filter(chat=message.chat, ended_at=None).values_list("actor", flat=True)
    assert set(present) == {carol.pk, pair.team.robin.pk}
    assert [chat.pk for chat in list_chats_with_activity(carol, pair.team.workspace.id)] == [message.chat_id]


@pytest.mark.usefixtures("engine")
def test_RUN28_without_an_approval_nothing_is_sent_to_a_member_behind_the_back_of_the_person(pair):
    team = pair.team
    ToolPolicyFactory.create(workspace=team.workspace, tool="send_message", policy="auto")
    carol = add_carol(pair)
    script_call(pair, to="@carol", text="A secret of Alice")
    pair.post("@robin go")
    pair.wait_until_idle()
    [result] = [row.payload for row in pair.log("TOOL_RESPONSE")]
    assert result["status"] == "error"
    assert not Message.objects.filter(payload__text="A secret of Alice").exists()
    # Nor if she reads this chat: Alice would not see what is sent for her.
    chats.add_participant(team.alice, team.chat.id, carol.id)
    direct, _ = chats.open_direct_chat(team.robin, team.workspace.id, carol.id)
    own, _ = chats.open_direct_chat(team.robin, team.workspace.id, team.alice.id)
    assert agent_tools._needs_approval(team.chat, direct, team.alice)
    assert not agent_tools._needs_approval(team.chat, own, team.alice)


@pytest.mark.usefixtures("engine")
def test_RUN28_a_chat_in_which_its_person_is_not_is_refused(pair):
    other = chats.create_chat(pair.team.bob, pair.team.workspace.id, title="Bob's", actor_ids=[pair.team.robin.id])
    script_call(pair, chat_id=str(other.id), text="hello")
    pair.post("go")
    pair.wait_until_idle()
    assert not Approval.objects.exists()
    [result] = [row.payload for row in pair.log("TOOL_RESPONSE")]
    assert result["status"] == "error"
    assert not Message.objects.filter(chat=other, type="TEXT_MESSAGE").exists()


@pytest.mark.usefixtures("engine")
def test_RUN28_nothing_is_sent_if_others_read_the_chat_than_when_it_was_approved(pair):
    team = pair.team
    room = chats.create_chat(team.alice, team.workspace.id, title="Plans", actor_ids=[team.robin.id])
    script_call(pair, chat_id=str(room.id), text="A secret of Alice")
    pair.post("go")
    [approval] = pair.wait_until_waiting()
    assert [reader.name for reader in approval.get_target().readers] == ["Alice", "Robin"]
    chats.add_participant(team.alice, room.id, team.bob.id)
    pair.decide(approval)
    pair.wait_until_idle()
    [result] = [row.payload for row in pair.log("TOOL_RESPONSE")]
    assert (result["status"], "other people read that chat" in result["text"]) == ("error", True)
    assert not Message.objects.filter(chat=room, type="TEXT_MESSAGE").exists()


@pytest.mark.usefixtures("engine")
def test_RUN18_a_loop_in_a_chat_of_two_agents_ends_with_a_line(pair):
    script_call(pair, to="writer", text="What do you think?")
    pair.model.script(text="And what do you think?", system="You are Writer")
    pair.model.script(text="Yes, but what do you think?", system="You are Robin", match="And what")
    pair.post("Ask Writer")
    [approval] = pair.wait_until_waiting()
    pair.decide(approval)

    def is_over():
        submit_all(pair)
        return Message.objects.filter(type="WAKE_LIMIT_REACHED").exists()

    pair.wait(is_over, 30)
    pair.wait_until_idle()
    chat = Chat.objects.get(is_between_agents=True)
    line = Message.objects.get(type="WAKE_LIMIT_REACHED")
    assert (line.chat, line.payload["limit"]) == (chat, "hops")
    hops = Run.objects.filter(chat=chat).order_by("pk").values_list("agent_hops", flat=True)
    assert list(hops) == list(range(1, MAX_AGENT_HOPS + 1))

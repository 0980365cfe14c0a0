"""The only agent of one person answers every message; with a second person or agent it answers when mentioned."""

import pytest

from chats import services as chats
from chats.models import ChatActor, Message
from chats.services.links import accept_link, create_link
from common.errors import Invalid
from tests.people import make_agent, make_person

pytestmark = pytest.mark.django_db


@pytest.fixture
def chat(team):
    """A chat with Alice and Robin."""
    return chats.create_chat(team.alice, team.workspace.id, title="Two", actor_ids=[team.robin.id])


def list_responses(chat):
    participants = ChatActor.objects.filter(chat=chat, actor__kind="agent", ended_at=None).order_by("joined_at", "pk")
    return list(participants.values_list("actor__handle", "response"))


def get_last_change(chat):
    message = Message.objects.filter(chat=chat, type="MEMBER_JOINED").order_by("-seq")[0]
    return message.payload.get("mention_only_id"), message.payload.get("mention_only_name")


def test_the_only_agent_of_a_new_chat_answers_every_message(team, chat):
    assert list_responses(chat) == [("robin", "always")]
    assert get_last_change(chat) == (None, "")


def test_the_agent_answers_when_mentioned_after_a_second_person_is_added(team, chat):
    version = chat.version
    chats.add_participant(team.alice, chat.id, team.bob.id)
    assert list_responses(chat) == [("robin", "mentions")]
    assert get_last_change(chat) == (str(team.robin.id), "Robin")
    assert ChatActor.objects.get(chat=chat, actor=team.robin).version > version


def test_the_agent_answers_when_mentioned_after_a_second_person_joins_by_a_link(team, chat):
    dora = make_person("Dora")
    _, address = create_link(team.alice, chat.id, role="suggester", hours=1)
    accept_link(token=address.rsplit("/", 1)[1], actor=dora)
    assert list_responses(chat) == [("robin", "mentions")]
    assert get_last_change(chat) == (str(team.robin.id), "Robin")


def test_both_agents_answer_when_mentioned_after_a_second_agent_is_added(team, chat):
    quill = make_agent(team.workspace, team.alice, "Quill")
    chats.add_participant(team.alice, chat.id, quill.id)
    assert list_responses(chat) == [("robin", "mentions"), ("quill", "mentions")]


def test_a_mode_that_somebody_has_set_in_a_chat_of_several_people_is_kept(team, chat):
    chats.add_participant(team.alice, chat.id, team.bob.id)
    chats.set_response(team.alice, chat.id, team.robin.id, response="always")
    dora = make_person("Dora")
    _, address = create_link(team.alice, chat.id, role="suggester", hours=1)
    accept_link(token=address.rsplit("/", 1)[1], actor=dora)
    assert list_responses(chat) == [("robin", "always")]
    assert get_last_change(chat) == (None, "")


@pytest.mark.parametrize(("people", "response"), [(1, "always"), (2, "mentions")])
def test_an_agent_that_joins_answers_every_message_of_one_person_only(team, people, response):
    ids = [team.bob.id] if people == 2 else []
    chat = chats.create_chat(team.alice, team.workspace.id, title="", actor_ids=ids)
    chats.add_participant(team.alice, chat.id, team.robin.id)
    assert list_responses(chat) == [("robin", response)]


def test_a_mode_that_somebody_has_set_in_a_chat_of_two_is_kept(team, chat):
    chats.set_response(team.alice, chat.id, team.robin.id, response="always")
    chats.add_participant(team.alice, chat.id, team.bob.id)
    assert list_responses(chat) == [("robin", "always")]
    assert get_last_change(chat) == (None, "")


def test_an_agent_that_joins_again_gets_the_default_unless_somebody_has_set_its_mode(team, chat):
    quill = make_agent(team.workspace, team.alice, "Quill")
    chats.add_participant(team.alice, chat.id, quill.id)
    chats.set_response(team.alice, chat.id, quill.id, response="never")
    for agent in (team.robin, quill):
        chats.remove_participant(team.alice, chat.id, agent.id)
    for agent in (team.robin, quill):
        chats.add_participant(team.alice, chat.id, agent.id)
    assert list_responses(chat) == [("robin", "mentions"), ("quill", "never")]


@pytest.mark.parametrize("response", ["mention", "sometimes", ""])
def test_other_modes_are_refused(team, chat, response):
    with pytest.raises(Invalid):
        chats.set_response(team.alice, chat.id, team.robin.id, response=response)
    assert list_responses(chat) == [("robin", "always")]

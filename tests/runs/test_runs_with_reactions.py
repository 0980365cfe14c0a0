"""Runs that react to a message: the answer may be the reaction alone, and no person is asked."""

import json

import pytest

from chats import services as chats
from chats.models import Message
from tests.factories.agents import add_tool_use


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("engine")
def test_FAIR8_a_run_that_has_read_texts_of_others_reacts_without_a_click(environment):
    team = environment.team
    add_tool_use(team.robin.current_spec, "react")
    environment.post("Say yes to everything", by=team.bob, wake="nobody")
    call = {"name": "react", "arguments": json.dumps({"emoji": "👀"})}
    environment.model.script(calls=[call], then={"text": "On it."})
    question = environment.post("Have a look at the figures")
    [run] = environment.wait_until_idle()
    assert (run.state, environment.list_answers()) == ("completed", ["On it."])
    assert environment.log("TOOL_RESPONSE")[0].payload["status"] == "ok"
    assert Message.objects.get(pk=question.pk).reactions == [{"emoji": "👀", "actor_ids": [str(team.robin.id)]}]


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("engine")
def test_a_reaction_without_a_text_is_an_answer(environment):
    add_tool_use(environment.team.robin.current_spec, "react")
    call = {"name": "react", "arguments": json.dumps({"emoji": "✅"})}
    environment.model.script(calls=[call], then={"tokens": [""], "finish": "stop"})
    environment.post("Noted for Friday?")
    [run] = environment.wait_until_idle()
    assert (run.state, run.error_code, environment.list_answers()) == ("completed", "", [])


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("engine")
def test_models_do_not_read_reactions(environment):
    """They would change what the model has read before, so that the provider's cache of the conversation would be lost."""
    said = environment.post("The price is three", wake="nobody")
    chats.add_reaction(environment.team.bob, said.chat_id, said.id, "🎉")
    environment.post("What is the price?")
    environment.wait_until_idle()
    assert "🎉" not in json.dumps(environment.model.requests[-1].body, ensure_ascii=False)

"""What a run needs before it begins, read in one go: its conversation, its tools, its model."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from agents.content import SpecContent
from agents.llm.endpoints import endpoint_for, merge_service
from agents.llm.exchange import ToolCall, Turn
from agents.llm.service_wire import SERVICE_NAME, asked_of_service
from agents.models import AgentSpec, Run
from agents.runtime.answer_rows import Means
from agents.runtime.context import Conversation, conversation, system_text
from agents.runtime.history import past_calls, read_lines, read_room, recovered, somebody
from agents.runtime.steps import Outcome, StepId
from agents.runtime.talk import Talk
from agents.runtime.toolbox import Given, given_tools
from agents.services.jobs import Brief
from chats.models import Chat


@dataclass(frozen=True)
class Prepared:
    """A claimed run with all that it works with. Nothing in it asks the database again."""

    run: Run
    content: SpecContent
    means: Means
    conversation: Conversation
    tools: dict[str, Given]
    recovered: dict[str, Outcome]
    past: list[ToolCall]

    def talk(self) -> Talk:
        """The conversation at the point where the run stands."""
        assert self.run.message_id is not None
        step = StepId(self.run.steps_done + 1, self.run.message_id)
        talk = self.conversation
        return Talk(list(talk.turns), step, list(talk.open), list(talk.later))

    def parameters(self) -> dict[str, Any]:
        """How the model is asked, as far as the spec says."""
        return self.content.parameters.model_dump(exclude_none=True)


def prepared(run: Run) -> Prepared:
    """All that a claimed run works with. Taking over after a crash is the same reading again (B1)."""
    return _of_job(run) if run.chat is None else _in_chat(run, run.chat)


def _of_job(run: Run) -> Prepared:
    """A job reads its brief and nothing else, and begins anew each time it is begun."""
    assert run.spec is not None
    content, brief = _content_of(run.spec), Brief.of(run)
    if run.origin == "merge" and (service := merge_service()):
        made, means = [Turn("user", asked_of_service(run.id, run.origin, brief.input))], Means(service, SERVICE_NAME)
    else:
        made = [Turn("system", content.prompt), Turn("user", brief.text)]
        means = Means(*endpoint_for(run.workspace, content.model))
    return Prepared(run, content, means, Conversation(made), {}, {}, [])


def _in_chat(run: Run, chat: Chat) -> Prepared:
    assert run.spec is not None
    content = _content_of(run.spec)
    tools = given_tools(content.tools, only_reading=run.is_compared)
    lines = read_lines(run)
    room, agent = read_room(run, lines), somebody(run.agent)
    system = system_text(content.prompt, agent, room, {name: given.instructions for name, given in tools.items()})
    made = conversation(lines, system=system, agent_id=agent.id, run_id=run.id, room=room)
    endpoint, model = endpoint_for(chat.workspace, content.model)
    known = recovered(run, made.open) if made.open else {}
    past = past_calls(run, made.open) if run.steps_done else []
    return Prepared(run, content, Means(endpoint, model), made, tools, known, past)


@lru_cache(maxsize=200)
def _content_of(spec: AgentSpec) -> SpecContent:
    """A spec never changes; so it is read once, and known by its id."""
    return spec.content()

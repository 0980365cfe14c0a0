"""Runs without a worker: a test posts, reads the context that the model would get, and answers in its place."""

import json
from dataclasses import dataclass
from typing import Any

import pytest

from actors.models import Actor
from chats import services as chats
from chats.models import Chat, ChatActor
from common.errors import AppError
from common.ids import new_id
from llm.messages import Answer, ToolCall, Usage
from llm.protocol import LLMError
from runs.kinds import get_kind
from runs.kinds.base import PreparedRun
from runs.models import Run
from runs.runtime.claimed_run import ClaimedRun
from runs.runtime.conversation import Conversation, make_storable
from runs.runtime.steps import ModelAnswered, ModelRetried, ToolResult, ToolsFinished, ToolsStarted, ToolStatus
from runs.services.claims import claim_run
from tests.factories.agents import add_tool_use, change_spec
from tests.factories.runs import RunFactory
from tests.people import Team, make_agent
from tests.recorder import prepare_run
from tests.runs.environment import RunEnvironment
from tools.interface import ToolContext, ToolError


@dataclass
class DrivenRun:
    """A claimed run. `context` is all that its model reads now."""

    prepared: PreparedRun
    conversation: Conversation

    @property
    def claimed(self) -> ClaimedRun:
        return self.prepared.claimed

    @property
    def run(self) -> Run:
        return self.prepared.run

    @property
    def context(self) -> str:
        calls = [call.arguments for turn in self.conversation.turns for call in turn.calls]
        return "\n".join([*(turn.text for turn in self.conversation.turns), *calls])

    def call(self, name: str, **arguments: Any) -> str:
        """Let the model call a tool. Return its result."""
        kind = get_kind(self.run)
        step = self.conversation.step
        call = ToolCall("", name, json.dumps(arguments))
        answered = ModelAnswered(step, make_storable(_build_answer("", call), step))
        self.conversation.add_answer(answered.answer, kind.record_answer(self.claimed, self.prepared.model, answered))
        call = answered.answer.calls[0]
        kind.record_tool_start(self.claimed, ToolsStarted((call,), "write"))
        tool = self.prepared.tools[name].tool
        context = ToolContext(
            self.run.agent,
            self.run.on_behalf_of,
            self.run.chat_id,
            self.run.id,
            call.id,
            has_outside_texts=bool(self.claimed.has_outside_texts),
            workspace_id=self.run.workspace_id,
            shown_in_chat_id=self.run.chat_id,
        )
        status: ToolStatus = "ok"
        try:
            output = tool.run(context, tool.parse_arguments(call.arguments))
            text = output if isinstance(output, str) else output.text
        except (ToolError, AppError) as error:
            text, status = str(error), "error"
        results = (ToolResult(call, status, text),)
        self.conversation.add_results(results, kind.record_tool_results(self.claimed, ToolsFinished(results)))
        return text

    def retry(self) -> None:
        """Let the answer of the model break off, so that it is asked again."""
        event = ModelRetried(LLMError("cut", "The model's answer broke off.", retryable=True))
        self.conversation.advance(get_kind(self.run).record_retry(self.claimed, self.prepared.model, event))
        self.run.attempt += 1

    def answer(self, text: str = "Done.") -> None:
        """Let the model answer, which ends the run."""
        answered = ModelAnswered(self.conversation.step, _build_answer(text))
        get_kind(self.run).record_answer(self.claimed, self.prepared.model, answered)


def _build_answer(text: str, *calls: ToolCall) -> Answer:
    return Answer(text, "", calls, Usage(10, 5), "tool_calls" if calls else "stop", "scripted")


class Driver:
    """A team whose agent Robin has notes, and a memory over all its chats."""

    def __init__(self, environment: RunEnvironment) -> None:
        self.environment = environment
        self.team: Team = environment.team
        spec = self.team.robin.current_spec
        assert spec is not None
        self.spec = spec
        for tool in ("remember", "forget"):
            add_tool_use(spec, tool)
        self.set_memory_scope("agent")

    def set_memory_scope(self, memory_scope: str) -> None:
        change_spec(self.spec, memory=memory_scope)

    def open_chat(self, title: str, *people: Actor, by: Actor | None = None) -> Chat:
        ids = [person.id for person in people] + [self.team.robin.id]
        return chats.create_chat(by or self.team.alice, self.team.workspace.id, title=title, actor_ids=ids)

    def open_pair(self) -> Chat:
        """Open the direct chat of Robin and Writer, an agent that is made for it."""
        if not hasattr(self, "writer"):
            self.writer = make_agent(self.team.workspace, self.team.alice, "Writer")
        chat, _ = chats.open_direct_chat(
            self.team.alice, self.team.workspace.id, self.writer.id, agent_id=self.team.robin.id
        )
        return chat

    def post(self, chat: Chat, text: str, by: Actor | None = None) -> None:
        """Post a message for Robin by a person, or in the chat of Robin and Writer by Writer, who works for this person."""
        person = by or self.team.alice
        if not chat.is_between_agents:
            chats.post_message(person, chat.id, text=f"@robin {text}")
            return
        # A run of Writer for the person, in which it sends the message.
        cause = RunFactory.create(chat=chat, agent=self.writer, on_behalf_of=person, ended=True)
        chats.post_message(self.writer, chat.id, text=f"@robin {text}", sent_by_run_id=cause.id)

    def claim(self, chat: Chat) -> DrivenRun | None:
        """Claim the next run of the chat and prepare it."""
        queued = Run.objects.filter(chat=chat, state="queued").order_by("pk").first()
        claimed = claim_run(queued.pk, f"test:{new_id()}") if queued else None
        if claimed is None:
            return None
        assert claimed.row.chat_id == chat.id
        prepared = prepare_run(claimed)
        return DrivenRun(prepared, prepared.build_conversation())

    def ask(self, chat: Chat, text: str, by: Actor | None = None) -> DrivenRun:
        self.post(chat, text, by)
        found = self.claim(chat)
        assert found is not None
        return found

    def leave(self, chat: Chat, person: Actor, by: Actor | None = None) -> None:
        participant = ChatActor.objects.get(chat=chat, actor=person, ended_at=None)
        chats.remove_participant(by or self.team.alice, chat.id, participant.actor_id)


@pytest.fixture
def driver(environment: RunEnvironment) -> Driver:
    return Driver(environment)

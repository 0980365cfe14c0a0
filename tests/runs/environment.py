"""A chat with agents for tests of runs: posting messages, waiting for their runs, and reading the log."""

import time
from collections.abc import Callable
from typing import Any

from django.db import transaction

from actors.models import Actor
from approvals import services as approvals
from approvals.models import Approval
from approvals.services.deciding import PersonDecision
from chats import services as chats
from chats.models import Chat, ChatActor, Message
from notifications.models import Notification
from runs.models import NOT_ENDED, Run
from tests.people import Team, make_agent
from tests.scripted_model import ScriptedModel
from worker.engine import Engine
from workspaces import services as workspaces


class RunEnvironment:
    """Shorthand for tests of runs."""

    def __init__(self, team: Team, model: ScriptedModel) -> None:
        self.team = team
        self.model = model
        self.engine: Engine | None = None
        with transaction.atomic():
            workspaces.set_model(
                team.alice,
                team.workspace.id,
                provider="openai_compatible",
                default_model="scripted",
                api_base=model.api_base,
                revision=0,
            )
            Notification.objects.all().delete()  # the notification about the model

    def post(self, text: str, *, by: Actor | None = None, chat: Chat | None = None, **more: Any) -> Message:
        """Post a message, and submit its runs to the engine, if there is one, as Celery would."""
        chat = chat or self.team.chat
        with transaction.atomic():
            message = chats.post_message(by or self.team.alice, chat.id, text=text, **more)[0]
        self.submit_queued_runs(chat)
        return message

    def submit_queued_runs(self, chat: Chat | None = None) -> None:
        if self.engine is not None:
            runs = Run.objects.filter(chat=chat or self.team.chat, state="queued")
            self.engine.submit(list(runs.values_list("pk", flat=True)))

    def add_agent(self, name: str, **fields: Any) -> Actor:
        """Add another agent to the chat."""
        with transaction.atomic():
            agent = make_agent(self.team.workspace, self.team.alice, name, **fields)
            chats.add_participant(self.team.alice, self.team.chat.id, agent.id)
        return agent

    def delete_bob_from_chat(self) -> None:
        """Make the chat one of Alice alone with the agents, so that no tool that writes needs her approval."""
        ChatActor.objects.filter(chat=self.team.chat, actor=self.team.bob).delete()

    def open_chat(self, title: str) -> Chat:
        """Create another chat of Alice with the agent."""
        members = [self.team.robin.id]
        return chats.create_chat(self.team.alice, self.team.workspace.id, title=title, actor_ids=members)

    def runs(self, **which: Any) -> list[Run]:
        return list(Run.objects.filter(chat=self.team.chat, **which).order_by("pk"))

    def wait_until_idle(self, seconds: float = 60) -> list[Run]:
        """Wait until no run of the chat is queued or running, and return its runs."""
        self.wait(lambda: not Run.objects.filter(state__in=NOT_ENDED).exists(), seconds)
        return self.runs()

    def wait_until_waiting(self, seconds: float = 60) -> list[Approval]:
        """Wait until a run waits for people and none is executed, and return what is undecided, in the order of the calls."""
        busy = Run.objects.filter(state__in=["queued", "running"])
        waiting = Run.objects.filter(state="waiting_approval")
        self.wait(lambda: waiting.exists() and not busy.exists(), seconds)
        return list(Approval.objects.filter(decision=None).order_by("pk"))

    def decide(
        self, approval: Approval, decision: PersonDecision = "approved", *, by: Actor | None = None, **more: Any
    ) -> None:
        """Decide as a person, and submit the run to the engine, if there is one, as Celery would."""
        approvals.decide_approval(by or self.team.alice, approval.pk, decision, **more)
        self.submit_queued_runs(approval.chat)

    def wait(self, condition: Callable[[], Any], seconds: float = 60) -> Any:
        """Wait until the function returns a true value, and return that. Raises `TimeoutError` with the runs."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if found := condition():
                return found
            time.sleep(0.01)
        states = list(Run.objects.values_list("state", "attempt", "crashes", "error_code", "error"))
        raise TimeoutError(f"It did not come true within {seconds} s. Runs: {states}")

    def log(self, *types: str) -> list[Message]:
        """Return the log of the chat, without the first system messages."""
        rows = Message.objects.filter(chat=self.team.chat).exclude(type="MEMBER_JOINED").order_by("seq")
        return list(rows.filter(type__in=types) if types else rows)

    def list_answers(self, by: Actor | None = None) -> list[str]:
        """Return the texts of the agent."""
        return [message.text for message in self.log("TEXT_MESSAGE") if message.author == (by or self.team.robin)]

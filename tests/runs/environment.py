"""The room in which agents are watched at work: saying things, waiting for what comes of it, looking at the log."""

import time
from collections.abc import Callable
from typing import Any

from django.db import transaction

from actors.models import Actor
from chats import services as chats
from chats.models import Chat, Message
from notifications.models import Notification
from runs.models import ACTIVE, Run
from runs.worker.engine import Engine
from tests.people import Team, make_agent
from tests.scripted_model import ScriptedModel
from workspaces import services as workspaces


class RunEnvironment:
    """Shorthand for tests of runs."""

    def __init__(self, team: Team, model: ScriptedModel) -> None:
        self.team = team
        self.model = model
        self.engine: Engine | None = None
        with transaction.atomic():
            workspaces.set_model(team.alice, team.workspace.id, provider="openai_compatible", default_model="scripted",
                api_base=model.api_base, revision=0,
            )  # fmt: skip
            Notification.objects.all().delete()  # of the model: what tests look for comes after

    def post(self, text: str, *, by: Actor | None = None, chat: Chat | None = None, **more: Any) -> Message:
        """Post a message; the engine, if there is one, gets its runs as Celery would submit them."""
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
        """Another agent in the room."""
        with transaction.atomic():
            agent = make_agent(self.team.workspace, self.team.alice, name, **fields)
            chats.add_participant(self.team.alice, self.team.chat.id, agent.id)
        return agent

    def open_chat(self, title: str) -> Chat:
        """Another chat of Alice with the agent alone."""
        members = [self.team.robin.id]
        return chats.create_chat(self.team.alice, self.team.workspace.id, title=title, actor_ids=members)

    def runs(self, **which: Any) -> list[Run]:
        return list(Run.objects.filter(chat=self.team.chat, **which).order_by("pk"))

    def wait_until_idle(self, seconds: float = 10) -> list[Run]:
        """Wait until nothing waits and nothing works; the runs of the room."""
        self.wait(lambda: not Run.objects.filter(state__in=ACTIVE).exists(), seconds)
        return self.runs()

    def wait(self, condition: Callable[[], Any], seconds: float = 10) -> Any:
        """Wait until this is true; what it was."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if found := condition():
                return found
            time.sleep(0.01)
        states = list(Run.objects.values_list("state", "attempt", "crashes", "error_code", "error"))
        raise AssertionError(f"It did not come true within {seconds} s. Runs: {states}")

    def log(self, *types: str) -> list[Message]:
        """The room's log, after the lines of people coming in."""
        rows = Message.objects.filter(chat=self.team.chat).exclude(type="MEMBER_JOINED").order_by("seq")
        return list(rows.filter(type__in=types) if types else rows)

    def list_answers(self, by: Actor | None = None) -> list[str]:
        """What the agent has said."""
        return [message.text for message in self.log("TEXT_MESSAGE") if message.author == (by or self.team.robin)]

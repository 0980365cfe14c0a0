"""Random sequences of all changes of a chat. Each step calls a real service.

A step may be refused, and changes nothing then.
"""

import json
import random
from collections.abc import Callable
from datetime import timedelta
from typing import Any, cast
from uuid import UUID, uuid4

import pytest
from django.db import transaction
from django.db.models.functions import Now

from actors import services as actors
from actors.models import Actor
from agents.models import Draft
from agents.services import agents, drafts, specs
from agents.services.votes import cast_vote
from agents.specs.content import SpecContent
from approvals import services as approvals
from approvals.models import Approval
from approvals.services import ApprovalRequest
from approvals.services.deciding import PersonDecision
from boards import services as boards
from boards.models import Board
from boards.plan import PlannedTask
from boards.waits import BoardWait
from chats import services as chats
from chats.models import Chat, Message
from common.clock import now
from common.errors import AppError
from common.ids import new_id
from common.secrets import Secret
from events.payloads import Question, QuestionChoice
from events.rows import FailureRule, ListingCategory, ThumbValue
from files import services as files
from files.models import File
from files.services import contents
from llm.messages import Answer, ToolCall, Usage
from llm.protocol import Endpoint
from publishing import services as publishing
from runs.errors import LeaseLost, RunNotAllowed
from runs.models import Run
from runs.runtime.conversation import make_storable
from runs.runtime.messages import PartialMessage
from runs.runtime.steps import (
    LoopEnded,
    ModelAnswered,
    StepId,
    ToolResult,
    ToolsFinished,
    ToolsStarted,
    WaitingCall,
)
from runs.runtime.sub_agents import SUB_AGENT_WAITS
from runs.services import claims, comparisons, leases, other_answers, runs
from schedules import services as schedules
from schedules.models import Schedule
from suggestions import services as suggestions
from suggestions.models import Merge, Suggestion
from tests.factories.files import FileFactory
from tests.factories.schedules import ScheduleFactory
from tests.jobs import answer_job
from tests.people import Team, make_agent, make_operator
from tests.publishing.publications import finish_updates
from tests.recorder import Recorder
from tools.interface import AgentTask
from usage.owners import ResolvedModel
from waking.services import by_hand
from workspaces import services as workspaces

OWNER = "story:1"
NOTES = '{"name": "notes.md", "text": "Hello"}'
PERSON_DECISIONS: list[PersonDecision] = ["approved", "approved_for_run", "refused"]
MODEL = ResolvedModel(Endpoint("demo", None, Secret(""), "demo"), "demo")
TEXTS = ("hello", "@robin look", "@finch and @robin", "界 🌍", "thank you")


class Story:
    """A chat and the steps that change it."""

    def __init__(self, team: Team) -> None:
        self.team = team
        self.finch, self.wren = [
            Actor.objects.filter(workspace=team.workspace, handle=name.lower()).first()
            or make_agent(team.workspace, team.alice, name)
            for name in ("Finch", "Wren")
        ]
        with transaction.atomic():
            members = [team.bob.id, team.robin.id, self.finch.id]
            self.chat: Chat = chats.create_chat(team.alice, team.workspace.id, title="Story", actor_ids=members)

    def do_step(self, seed: int) -> str:
        """Do the step that this seed selects, and return its name. A refused step is not an error."""
        chance = random.Random(seed)
        step = chance.choice(STEPS)
        self.chat = Chat.objects.select_related("workspace").get(pk=self.chat.pk)
        try:
            with transaction.atomic():
                step(self, chance)
        except (AppError, RunNotAllowed, LeaseLost):
            return f"{step.__name__} (refused)"
        return step.__name__

    def list_steps_of_tree(self) -> list[Callable[[], object]]:
        """Return the steps of a run that gives tasks to two agents, one of which calls a tool, and then answers."""
        chance = random.Random(1)

        def find_run(number: int) -> Run:
            return Run.objects.filter(chat=self.chat).order_by("pk")[number]

        return [
            lambda: chats.post_message(self.team.alice, self.chat.id, text="@robin look"),
            lambda: claims.claim_run(find_run(0).pk, OWNER),
            lambda: self.record_tasks(chance),
            lambda: claims.claim_run(find_run(1).pk, OWNER),
            lambda: self.record_tool_call(chance),
            lambda: claims.claim_run(find_run(2).pk, OWNER),
            lambda: self.record_answer(chance, pk=find_run(2).pk),
            lambda: self.record_answer(chance, pk=find_run(1).pk),
            lambda: claims.claim_run(find_run(0).pk, OWNER),
            lambda: self.record_task_results(chance),
            lambda: self.record_answer(chance),
        ]

    def person(self, chance: random.Random) -> Actor:
        return chance.choice([self.team.alice, self.team.bob])

    def agent(self, chance: random.Random) -> Actor:
        return chance.choice([self.team.robin, self.finch])

    def run(self, chance: random.Random, **conditions: Any) -> Run:
        """Return a run of the chat with its related rows. Raises `AppError` if there is none."""
        related = Run.objects.select_related("agent__current_spec", "on_behalf_of", "workspace", "chat", "spec")
        found = list(related.filter(chat=self.chat, **conditions).order_by("pk"))
        if not found:
            raise AppError("There is no such run.")
        return chance.choice(found)

    def answered_run(self, chance: random.Random) -> Run:
        texts = Message.objects.filter(chat=self.chat, type="TEXT_MESSAGE", run_id__isnull=False)
        kinds = ["chat", "other_answer"]
        return self.run(chance, state="completed", kind__in=kinds, pk__in=texts.values("run_id"))

    def recorder(self, chance: random.Random, **conditions: Any) -> tuple[Recorder, Run, StepId]:
        run = self.run(chance, state="running", **conditions)
        assert run.message_id is not None
        return Recorder(run, MODEL), run, StepId(run.steps_done + 1, run.message_id)

    # --- people ---------------------------------------------------------------------------------------------------

    def post_text(self, chance: random.Random) -> None:
        chats.post_message(self.person(chance), self.chat.id, text=chance.choice(TEXTS))

    def post_reply(self, chance: random.Random) -> None:
        last = Message.objects.filter(chat=self.chat, type="TEXT_MESSAGE").order_by("-seq").first()
        chats.post_message(self.person(chance), self.chat.id, text="yes", reply_to=last.id if last else None)

    def pin_message(self, chance: random.Random) -> None:
        newest = Message.objects.filter(chat=self.chat).order_by("-seq")[:10]
        chats.pin_message(self.person(chance), self.chat.id, chance.choice(newest).id)

    def unpin_message(self, chance: random.Random) -> None:
        message, _ = chats.post_message(self.team.alice, self.chat.id, text="Keep this.")
        chats.pin_message(self.team.alice, self.chat.id, message.id)
        chats.unpin_message(self.person(chance), self.chat.id, message.id)

    def edit_message(self, chance: random.Random) -> None:
        message, _ = chats.post_message(self.team.bob, self.chat.id, text=chance.choice(TEXTS))
        text = f"{chance.choice(TEXTS)}, corrected"
        edited = chats.edit_message(self.team.bob, message.id, text=text, edited_at=None)
        if robin := [id for id in edited.payload["mentions"] if id == str(self.team.robin.id)]:
            again = chats.edit_message(self.team.bob, message.id, text="nothing", edited_at=edited.edited_at)
            wake = frozenset(UUID(id) for id in robin)
            chats.edit_message(self.team.bob, message.id, text="@robin!", edited_at=again.edited_at, wake_ids=wake)

    def delete_message(self, chance: random.Random) -> None:
        spoken = Message.objects.filter(
            chat=self.chat, type__in=("TEXT_MESSAGE", "FILE_MESSAGE"), metadata__isnull=True
        )
        if not (newest := list(spoken.order_by("-seq")[:10])):
            raise AppError("There is no such message.")
        message = chance.choice(newest)
        chats.delete_message(self.team.alice, message.id, stop_runs=chance.random() < 0.5)

    def add_reaction(self, chance: random.Random) -> None:
        newest = Message.objects.filter(chat=self.chat).order_by("-seq")[:10]
        chats.add_reaction(self.person(chance), self.chat.id, chance.choice(newest).id, chance.choice("👍🎉"))

    def remove_reaction(self, chance: random.Random) -> None:
        message, _ = chats.post_message(self.team.alice, self.chat.id, text="Shall we?")
        chats.add_reaction(self.team.alice, self.chat.id, message.id, "👀")
        chats.remove_reaction(self.team.alice, self.chat.id, message.id, "👀")

    def give_thumb(self, chance: random.Random) -> None:
        answer = chats.post_message(self.team.robin, self.chat.id, text="We are 12.", wake="nobody")[0]
        for _ in range(2):
            value = ThumbValue(chance.choice(ThumbValue.values))
            chats.give_thumb(self.person(chance), self.chat.id, answer.id, value=value, text="hm")

    def take_back_thumb(self, chance: random.Random) -> None:
        answer = chats.post_message(self.team.robin, self.chat.id, text="We are 12.", wake="nobody")[0]
        person = self.person(chance)
        chats.give_thumb(person, self.chat.id, answer.id, value=ThumbValue.UP)
        chats.take_back_thumb(person, self.chat.id, answer.id)

    def add_participant(self, chance: random.Random) -> None:
        who = chance.choice([self.team.bob, self.finch])
        chats.add_participant(self.team.alice, self.chat.id, who.id)

    def remove_participant(self, chance: random.Random) -> None:
        who = chance.choice([self.team.bob, self.finch])
        chats.remove_participant(self.team.alice, self.chat.id, who.id)

    def join_by_link(self, chance: random.Random) -> None:
        _, url = chats.create_link(self.team.alice, self.chat.id, role="suggester", hours=1)
        chats.accept_link(chance.choice([self.team.bob, self.team.charlie]), url.rsplit("/", 1)[1])

    def remove_member(self, chance: random.Random) -> None:
        who = self.team.charlie
        workspaces.remove_member(self.team.alice, self.team.workspace.id, who.id)

    def rename_chat(self, chance: random.Random) -> None:
        chats.rename_chat(self.team.alice, self.chat.id, title=f"Title {chance.randrange(100)}")

    def set_response(self, chance: random.Random) -> None:
        response = chance.choice(["mentions", "always", "never"])
        chats.set_response(self.team.bob, self.chat.id, self.agent(chance).id, response=response)

    def mark_read(self, chance: random.Random) -> None:
        reader = chance.choice([self.team.alice, self.agent(chance)])
        chats.mark_read(reader, self.chat.id, seq=chance.randrange(1, self.chat.version + 5))

    def update_agent_profile(self, chance: random.Random) -> None:
        agent = Actor.objects.get(pk=self.finch.pk)
        name = f"Finch {chance.randrange(100)}"
        agents.update_agent_profile(self.team.alice, agent.id, name=name, revision=agent.revision)

    def rename_person(self, chance: random.Random) -> None:
        actors.update_profile(Actor.objects.get(pk=self.team.bob.pk), name=f"Bob {chance.randrange(100)}")

    # --- public agents --------------------------------------------------------------------------------------------

    def public_agent(self) -> Actor:
        """Return the public copy of Finch. Raises `AppError` if there is none."""
        copy = Actor.objects.filter(published_from_agent=self.finch, taken_down_at=None).first()
        if copy is None:
            raise AppError("Finch is not public.")
        return copy

    def publish_agent(self, chance: random.Random) -> None:
        """Publish Finch, and add the public agent to the chat."""
        number = chance.randrange(10**6)
        public = publishing.publish_agent(
            self.team.alice,
            self.finch.id,
            name=f"Public Finch {number}",
            handle=f"finch-{number}",
            description="Answers.",
            category=ListingCategory.WRITING,
        )
        chats.add_participant(self.team.alice, self.chat.id, public.id)

    def update_published_agent(self, chance: random.Random) -> None:
        self.public_agent()
        publishing.update_published_agent(
            self.team.alice,
            self.finch.id,
            name=f"Public Finch {chance.randrange(10**6)}",
            description="Answers.",
            category=ListingCategory.WRITING,
        )
        finish_updates()

    def take_down_agent(self, chance: random.Random) -> None:
        agent = self.public_agent()
        publishing.take_down_agent(self.team.alice, agent.id, reason="Later.")
        finish_updates()

    # --- drafts ---------------------------------------------------------------------------------------------------

    def draft(self, chance: random.Random) -> tuple[Draft, dict[str, Any]]:
        current = list(Draft.objects.filter(chat=self.chat, ended_at=None).order_by("pk"))
        if not current:
            raise AppError("There is no draft.")
        draft = chance.choice(current)
        holder = draft.lock_holder or self.team.alice
        return draft, {"actor": holder, "chat_id": self.chat.id, "agent_id": draft.agent_id, "revision": draft.revision}

    def claim_draft(self, chance: random.Random) -> None:
        drafts.claim_draft(actor=self.person(chance), chat_id=self.chat.id, agent_id=self.agent(chance).id)

    def write_draft(self, chance: random.Random) -> None:
        draft, names = self.draft(chance)
        content = SpecContent.model_validate({**draft.written, "prompt": f"Be kind, {chance.randrange(100)} times."})
        drafts.write_draft(content=content, **names)

    def apply_draft(self, chance: random.Random) -> None:
        drafts.apply_draft(**self.draft(chance)[1])

    def save_draft(self, chance: random.Random) -> None:
        draft, names = self.draft(chance)
        drafts.save_draft(base_version=draft.base_version, message="better", **names)

    def restore_version(self, chance: random.Random) -> None:
        production = Actor.objects.select_related("current_spec").get(pk=self.agent(chance).pk).current_spec
        assert production is not None
        assert production.number is not None
        specs.restore_version(
            actor=self.team.alice,
            agent_id=production.agent_id,
            number=chance.randrange(1, production.number + 1),
            base_version=production.number,
            chat_id=self.chat.id,
        )

    def rebase_draft(self, chance: random.Random) -> None:
        drafts.rebase_draft(**self.draft(chance)[1], merge_production=chance.random() < 0.5)

    def discard_draft(self, chance: random.Random) -> None:
        drafts.discard_draft(**self.draft(chance)[1] | {"actor": self.team.alice})

    def release_draft(self, chance: random.Random) -> None:
        drafts.release_draft(**self.draft(chance)[1])

    def release_draft_as_operator(self, chance: random.Random) -> None:
        draft = self.draft(chance)[0]
        drafts.release_draft(make_operator(), draft.chat_id, draft.agent_id)

    def request_draft(self, chance: random.Random) -> None:
        drafts.request_draft(actor=self.person(chance), chat_id=self.chat.id, agent_id=self.draft(chance)[0].agent_id)

    def hand_over_draft(self, chance: random.Random) -> None:
        draft, names = self.draft(chance)
        for person in (self.team.alice, self.team.bob):
            if person.id != draft.lock_holder_id:
                drafts.request_draft(actor=person, chat_id=self.chat.id, agent_id=draft.agent_id)
                drafts.hand_over_draft(to=person.id, **names)
                return

    def revise_prompt(self, chance: random.Random) -> None:
        drafts.revise_prompt(
            self.agent(chance),
            self.chat.id,
            on_behalf_of=self.team.alice,
            approved_by=self.team.alice,
            prompt=f"Be short, {chance.randrange(100)} times.",
            reason="asked to",
        )

    def start_comparison(self, chance: random.Random) -> None:
        draft, names = self.draft(chance)
        drafts.apply_draft(**names)
        comparisons.start_comparison(
            actor=self.person(chance),
            chat_id=self.chat.id,
            agent_id=draft.agent_id,
            id=uuid4(),
            text="Which?",
            revision=draft.revision,
        )

    def cast_vote_on_comparison(self, chance: random.Random) -> None:
        asked = list(Message.objects.filter(chat=self.chat, type="COMPARISON").order_by("seq"))
        if not asked:
            raise AppError("Nothing is compared.")
        cast_vote(
            actor=self.person(chance),
            chat_id=self.chat.id,
            comparison_id=chance.choice(asked[-2:]).id,
            choice=chance.choice(["production", "equal", "draft", None]),
        )

    # --- suggestions ------------------------------------------------------------------------------------------------

    def suggestion(self, chance: random.Random, **conditions: Any) -> Suggestion:
        found = list(Suggestion.objects.filter(chat=self.chat, **conditions).order_by("pk"))
        if not found:
            raise AppError("There is no such suggestion.")
        return chance.choice(found)

    def suggest_draft(self, chance: random.Random) -> None:
        suggestions.suggest_draft(note="please", **self.draft(chance)[1])

    def suggest_spec(self, chance: random.Random) -> None:
        content = SpecContent(prompt=f"Be late, {chance.randrange(100)} times.")
        suggestions.suggest_spec(
            self.person(chance),
            self.chat.id,
            self.agent(chance).id,
            id=uuid4(),
            content=content,
            base_version=1,
        )

    def reject_suggestion(self, chance: random.Random) -> None:
        made = self.suggestion(chance)
        suggestions.reject_suggestion(self.team.alice, made.id, reason="no")

    def withdraw_suggestion(self, chance: random.Random) -> None:
        made = self.suggestion(chance)
        suggestions.withdraw_suggestion(made.author, made.id)

    def merge_suggestions(self, chance: random.Random) -> None:
        made = [self.suggestion(chance, state="pending", merge=None) for _ in range(2)]
        suggestions.merge_suggestions(
            self.team.alice,
            made[0].agent_id,
            id=uuid4(),
            suggestion_ids=[one.id for one in made],
            chat_id=self.chat.id,
        )

    def merge_suggestions_in_another_chat(self, chance: random.Random) -> None:
        """Accept a suggestion of this chat in another chat."""
        made = self.suggestion(chance, state="pending", merge=None)
        with transaction.atomic():
            other = chats.create_chat(
                self.team.alice, self.chat.workspace.id, title="Elsewhere", actor_ids=[made.agent_id]
            )
        suggestions.merge_suggestions(
            self.team.alice, made.agent_id, id=uuid4(), suggestion_ids=[made.id], chat_id=other.id
        )

    def retry_merges(self, chance: random.Random) -> None:
        for merge in Merge.objects.filter(chat=self.chat, state__in=["failed", "stopped"]).order_by("pk"):
            suggestions.retry_merge(self.team.alice, merge.id)

    def stop_merges(self, chance: random.Random) -> None:
        for merge in Merge.objects.filter(chat=self.chat, state="waiting").order_by("pk"):
            suggestions.stop_merge(self.team.alice, merge.id)

    def answer_waiting_job(self, chance: random.Random) -> None:
        waiting = list(Run.objects.filter(chat=None, state="queued").order_by("pk"))
        if waiting:
            answer_job(chance.choice(waiting), chance.choice(["It is shorter.", "[]"]))

    # --- runs -----------------------------------------------------------------------------------------------------

    def claim_run(self, chance: random.Random) -> None:
        claims.claim_run(self.run(chance, state="queued").id, OWNER)

    def record_answer(self, chance: random.Random, **conditions: Any) -> None:
        recorder, _, step = self.recorder(chance, **conditions)
        recorder.record_answer(ModelAnswered(step, _answer(chance.choice(TEXTS), thinking=chance.choice(["", "hm"]))))

    def record_tool_call(self, chance: random.Random) -> None:
        recorder, _, step = self.recorder(chance)
        call = ToolCall(str(uuid4()), "current_time", "{}")
        answer = make_storable(_answer("", calls=(call,)), step)
        recorder.record_answer(ModelAnswered(step, answer))
        recorder.record_tool_start(ToolsStarted(answer.calls))
        if chance.random() < 0.7:
            recorder.record_tool_results(ToolsFinished(tuple(ToolResult(call, "ok", "noon") for call in answer.calls)))

    def record_tasks(self, chance: random.Random) -> None:
        """Let a run give tasks to two agents, one of which is not in the chat, and wait for them."""
        recorder, run, step = self.recorder(chance, origin="wake")
        other = self.team.robin if run.agent == self.finch else self.finch
        calls = [
            ToolCall("", "delegate", json.dumps({"name": agent.handle, "task": "Find it."}))
            for agent in (self.wren, other)
        ]
        answer = make_storable(_answer("", calls=tuple(calls)), step)
        recorder.record_answer(ModelAnswered(step, answer))
        tasks = [
            WaitingCall(call, AgentTask(agent.id, "Find it.", None, (), None, max_seconds=600, max_depth=3))
            for call, agent in zip(answer.calls, (self.wren, other), strict=True)
        ]
        recorder.record_loop_end(LoopEnded("waiting_child", waits=tuple(tasks)))

    # --- boards ---------------------------------------------------------------------------------------------------

    def plan(self, chance: random.Random) -> list[PlannedTask]:
        agents = [self.wren, self.finch, self.wren]
        return [
            PlannedTask(
                agent_id=agent.id,
                description=f"Look {number}",
                after=[1] if number == 3 else [],
                max_attempts=1,
                on_failure=FailureRule(chance.choice(FailureRule.values)),
            )
            for number, agent in enumerate(agents, 1)
        ]

    def create_board(self, chance: random.Random) -> None:
        tasks = self.plan(chance)
        boards.create_board(self.person(chance), self.chat.id, id=new_id(), user_input="Go", tasks=tasks)

    def record_plan(self, chance: random.Random) -> None:
        """Let a run make a plan, valid or not, and wait for its board."""
        chats.post_message(self.team.alice, self.chat.id, text="@robin plan it")
        for run in Run.objects.filter(chat=self.chat, kind="chat", state="queued").order_by("pk"):
            claims.claim_run(run.pk, OWNER)
        recorder, _, step = self.recorder(chance, kind="chat")
        answer = make_storable(_answer("", calls=(ToolCall("", "plan", "{}"),)), step)
        recorder.record_answer(ModelAnswered(step, answer))
        problems = ("It is too long.",) if chance.random() < 0.2 else ()
        wait = BoardWait(tuple(self.plan(chance)), "Both look.", False, problems)
        waiting = WaitingCall(answer.calls[0], wait)
        recorder.record_loop_end(LoopEnded("waiting_child", waits=(waiting,)))

    def board(self, chance: random.Random) -> Board:
        found = list(Board.objects.filter(chat=self.chat).order_by("pk"))
        if not found:
            raise AppError("There is no board.")
        return chance.choice(found)

    def control_board(self, chance: random.Random) -> None:
        act = chance.choice([boards.pause_board, boards.resume_board, boards.resume_board, boards.answer_board])
        act(self.team.alice, self.board(chance).id)

    def stop_board(self, chance: random.Random) -> None:
        boards.stop_board(self.team.alice, self.board(chance).id)

    def fork_board(self, chance: random.Random) -> None:
        boards.fork_board(self.team.alice, self.board(chance).id, id=new_id(), number=1)

    def record_task_results(self, chance: random.Random) -> None:
        """Store the results of the tasks of a run that has waited for them."""
        recorder, run, _ = self.recorder(chance, origin="wake", children__isnull=False)
        stored = Message.objects.filter(run_id=run.pk, type="TOOL_RESPONSE").values_list(
            "payload__tool_call_id", flat=True
        )
        ids = run.children.exclude(call_id__in=list(stored)).order_by("pk").values_list("call_id", flat=True)
        results = SUB_AGENT_WAITS.find_results(run, [ToolCall(id, "delegate", "{}") for id in ids])
        recorder.record_tool_results(ToolsFinished(tuple(results[id] for id in ids)))

    def record_loop_end(self, chance: random.Random) -> None:
        recorder, _, step = self.recorder(chance)
        how = chance.choice([LoopEnded("failed", "server", "It broke."), LoopEnded("stopped")])
        recorder.record_loop_end(how, PartialMessage(step.message_id, text=chance.choice(["", "half a sen"])))

    def record_waiting(self, chance: random.Random) -> None:
        """Let a run wait for people: with a call of a tool that writes, or with a question."""
        recorder, _, step = self.recorder(chance)
        question = Question(text="Which?", choices=[QuestionChoice(label="This")]) if chance.random() < 0.3 else None
        answer = make_storable(_answer("", calls=(ToolCall("", "write_file", NOTES),)), step)
        recorder.record_answer(ModelAnswered(step, answer))
        request = ApprovalRequest(answer.calls[0], None if question else "others", question)
        end = LoopEnded("waiting_approval", requests=(request,))
        recorder.record_loop_end(end, PartialMessage(step.message_id))

    def decide_approval(self, chance: random.Random) -> None:
        approval = Approval.objects.filter(chat=self.chat, decision=None).order_by("pk").first()
        if approval is None:
            raise AppError("Nothing waits.")
        decision: PersonDecision = "answered" if approval.question else chance.choice(PERSON_DECISIONS)
        approvals.decide_approval(
            self.person(chance), approval.id, decision, answer="x" if decision == "answered" else ""
        )

    def expire_approvals(self, chance: random.Random) -> None:
        Approval.objects.filter(chat=self.chat, decision=None).update(expires_at=now())
        approvals.expire_approvals()

    def post_file(self, chance: random.Random) -> None:
        person = self.person(chance)
        file = FileFactory.create(chat=self.chat, uploaded_by=person, posted_at=None, state="waiting")
        files.post_file(person, file.id, wake=chance.choice(["auto", "nobody"]))

    def read_contents(self, chance: random.Random) -> None:
        """Read a file, without a process that reads it."""
        file = File.objects.filter(chat=self.chat, state="waiting").first()
        if file is None:
            raise AppError("There is no such file.")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(contents, "read_in_process", lambda kind, content: {"width": 9, "height": 9})
            files.read_contents(file.id)

    def stop_run(self, chance: random.Random) -> None:
        runs.stop_run(actor=self.team.alice, run_id=self.run(chance).id)

    def retry_run(self, chance: random.Random) -> None:
        runs.retry_run(actor=self.team.alice, run_id=self.run(chance, state__in=["failed", "stopped"]).id)

    def request_other_answer(self, chance: random.Random) -> None:
        other_answers.request_other_answer(self.person(chance), self.answered_run(chance).id)

    def choose_answer(self, chance: random.Random) -> None:
        """Choose an answer after another one was given."""
        answered = self.answered_run(chance)
        other = other_answers.request_other_answer(self.team.alice, answered.id)
        claims.claim_run(other.id, OWNER)
        self.record_answer(chance, pk=other.id)
        other_answers.choose_answer(self.team.alice, answered.id)

    def wake_agent(self, chance: random.Random) -> None:
        by_hand.wake_agent(actor=self.team.alice, chat_id=self.team.chat.id, agent_id=self.team.robin.id)

    def run_schedule_now(self, chance: random.Random) -> None:
        schedule = Schedule.objects.first() or ScheduleFactory.create(
            chat=self.team.chat, agent=self.team.robin, owner=self.team.alice
        )
        schedules.run_schedule_now(actor=self.team.alice, schedule_id=schedule.pk)

    def fire_schedule(self, chance: random.Random) -> None:
        schedule = ScheduleFactory.create(
            chat=self.team.chat, agent=self.team.robin, owner=self.team.alice, next_at=now() - timedelta(minutes=1)
        )
        schedules.fire_schedule(schedule.pk)

    def reclaim_run(self, chance: random.Random) -> None:
        run = self.run(chance, state="running")
        Run.objects.filter(pk=run.pk).update(lease_until=Now())
        leases.reclaim_run(run, leases.LeaseOwnerState.DEAD)

    def requeue_run(self, chance: random.Random) -> None:
        leases.requeue_run(self.run(chance, state="running"))

    def fail_run(self, chance: random.Random) -> None:
        leases.fail_run(self.run(chance, state="running"), "model_unusable", "There is no such model.")


def _answer(text: str, thinking: str = "", calls: tuple[ToolCall, ...] = ()) -> Answer:
    return Answer(text, thinking, calls, Usage(1, 2), "tool_calls" if calls else "stop", "demo")


Step = Callable[[Story, random.Random], None]
STEPS: list[Step] = [
    cast("Step", value)
    for name, value in vars(Story).items()
    if callable(value)
    and not name.startswith("_")
    and name
    not in (
        "do_step",
        "list_steps_of_tree",
        "person",
        "agent",
        "run",
        "answered_run",
        "recorder",
        "draft",
        "suggestion",
        "public_agent",
        "plan",
        "board",
    )
]

# These steps are more frequent, because changes of drafts take several of them.
for _ in range(3):
    STEPS += cast("list[Step]", [Story.claim_draft, Story.write_draft, Story.save_draft])
STEPS += cast(
    "list[Step]",
    [Story.apply_draft, Story.start_comparison, Story.cast_vote_on_comparison, Story.hand_over_draft],
)
STEPS += cast(
    "list[Step]", [Story.suggest_spec, Story.merge_suggestions, Story.answer_waiting_job, Story.restore_version]
)
STEPS += cast("list[Step]", [Story.restore_version, Story.rebase_draft, Story.rebase_draft])
# The same for steps of runs that do not end with an answer.
STEPS += cast("list[Step]", [Story.claim_run, Story.claim_run, Story.fail_run, Story.requeue_run])
STEPS += cast("list[Step]", [Story.record_plan, Story.fork_board])
STEPS += cast("list[Step]", [Story.choose_answer, Story.choose_answer])
STEPS += cast("list[Step]", [Story.record_waiting, Story.record_waiting, Story.decide_approval, Story.decide_approval])


def get_version(chat_id: UUID) -> int:
    """Return the present version of the chat."""
    return Chat.objects.values_list("version", flat=True).get(pk=chat_id)

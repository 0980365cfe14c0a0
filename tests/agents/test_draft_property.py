"""Whatever two editors and two suggesters do with one agent in two rooms, in any order: the draft's rules hold, and nothing
that somebody wrote is lost (EDIT1–EDIT3, EDIT5)."""

import random
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from actors.models import Actor
from agents.models import AgentSpec, Draft, DraftSnapshot
from agents.selectors import find_answering_spec
from agents.services import drafts, specs
from agents.specs.content import SpecContent
from common.clock import now
from common.errors import AppError
from common.ids import new_id
from runs.models import Run
from suggestions import services as suggestions
from suggestions.models import Merge, Suggestion
from tests.chaos import examples
from tests.jobs import answer_job
from tests.people import make_operator, make_person
from tests.suggestions.environment import SuggestionEnvironment
from workspaces import services as workspaces

pytestmark = pytest.mark.django_db


class Crash(Exception):
    """The process dies before it commits."""


class Workshop:
    """What has been done, and what must be found of it."""

    def __init__(self, board: SuggestionEnvironment) -> None:
        self.board = board
        dora = make_person("Dora")
        workspaces.join_workspace(dora, board.team.workspace.id, role="editor", invited_by=board.team.alice)
        self.people = [board.team.alice, dora, board.team.bob, board.carol]
        self.rooms = [board.room(title, *self.people[1:]) for title in ("One", "Two")]
        self.number = 0
        self.accepted: set[str] = set()
        self.applied: dict[Any, str] = {}

    def take(self, seed: int) -> None:
        """One step, the same for the same number; refused ones and those that crash change nothing."""
        chance = random.Random(seed)
        before = set(self.accepted), dict(self.applied)
        try:
            with transaction.atomic():
                chance.choice(STEPS)(self, chance)
                if chance.random() < 0.1:
                    raise Crash
        except (AppError, Crash):
            self.accepted, self.applied = before

    def at(self, chance: random.Random, who: Actor | None = None) -> dict[str, Any]:
        room = chance.choice(self.rooms)
        actor = who or chance.choice(self.people)
        return {"actor": actor, "chat_id": room.id, "agent_id": self.board.scribe.id}

    def held(self, chance: random.Random) -> tuple[Draft, dict[str, Any]]:
        """A live draft, and its holder who names what stands there."""
        live = list(Draft.objects.filter(ended_at=None).select_related("lock_holder", "updated_by").order_by("pk"))
        if not live:
            raise AppError("There is no draft.")
        draft = chance.choice(live)
        actor = draft.lock_holder or draft.updated_by
        at = {"actor": actor, "chat_id": draft.chat_id, "agent_id": draft.agent_id, "revision": draft.revision}
        return draft, at

    def text(self, prompt: str, chance: random.Random) -> SpecContent:
        """New words in one line of a text: nobody has written them before."""
        self.number += 1
        lines = prompt.split("\n")
        lines[chance.randrange(len(lines))] = f"words {self.number}"
        return self.board.content("\n".join(lines))

    def writes_over(self, draft: Draft | None, writer: Actor, content: SpecContent) -> None:
        """One's own words one may write over."""
        if draft is not None and draft.updated_by_id == writer.id:
            self.accepted.discard(draft.written["prompt"])
        self.accepted.add(content.prompt)

    # --- steps ----------------------------------------------------------------------------------------------------

    def begins(self, chance: random.Random) -> None:
        at = self.at(chance)
        draft = Draft.objects.filter(chat=at["chat_id"], ended_at=None).first()
        content = self.text(draft.written["prompt"] if draft else self.board.content("x").prompt, chance)
        drafts.claim_draft(**at, content=content)
        self.writes_over(draft, at["actor"], content)

    def takes(self, chance: random.Random) -> None:
        drafts.claim_draft(**self.at(chance))

    def edits(self, chance: random.Random) -> None:
        draft, at = self.held(chance)
        content = self.text(draft.written["prompt"], chance)
        drafts.write_draft(**at, content=content)
        self.writes_over(draft, at["actor"], content)

    def applies(self, chance: random.Random) -> None:
        draft, at = self.held(chance)
        drafts.apply_draft(**at)
        self.applied[draft.chat_id] = draft.written["prompt"]

    def discards(self, chance: random.Random) -> None:
        draft, at = self.held(chance)
        drafts.discard_draft(**at | {"actor": chance.choice(self.people)})
        self.applied.pop(draft.chat_id, None)

    def saves(self, chance: random.Random) -> None:
        draft, at = self.held(chance)
        drafts.save_draft(**at, base_version=draft.base_version)
        self.applied.pop(draft.chat_id, None)

    def suggests(self, chance: random.Random) -> None:
        draft, at = self.held(chance)
        suggestions.suggest_draft(**at)
        self.applied.pop(draft.chat_id, None)

    def suggests_late(self, chance: random.Random) -> None:
        base = chance.choice(list(AgentSpec.objects.filter(agent=self.board.scribe, number__isnull=False)))
        content = self.text(base.prompt, chance)
        assert base.number is not None
        suggestions.suggest_text(**self.at(chance), id=new_id(), content=content, base_version=base.number)
        self.accepted.add(content.prompt)

    def merges(self, chance: random.Random) -> None:
        pending = list(Suggestion.objects.filter(state="pending", merge=None).order_by("pk"))
        chosen = [one.id for one in chance.sample(pending, min(len(pending), chance.randint(1, 3)))]
        suggestions.merge_suggestions(**self.at(chance), id=new_id(), suggestion_ids=chosen)

    def ends_a_job(self, chance: random.Random) -> None:
        waiting = list(Run.objects.filter(chat=None, state="queued").order_by("pk"))
        if waiting:
            answer_job(chance.choice(waiting), "[]")

    def tries_again(self, chance: random.Random) -> None:
        for merge in Merge.objects.filter(state="failed").order_by("pk"):
            suggestions.retry_merge(chance.choice(self.people), merge.id)

    def runs_out(self, chance: random.Random) -> None:
        Draft.objects.filter(lock_expires_at__isnull=False).update(lock_expires_at=now() - timedelta(seconds=1))

    def restores(self, chance: random.Random) -> None:
        newest = AgentSpec.objects.filter(agent=self.board.scribe, number__isnull=False).count()
        specs.restore_version(
            actor=chance.choice(self.people), agent_id=self.board.scribe.id, number=chance.randint(1, newest),
            base_version=newest,
        )  # fmt: skip

    def rebases(self, chance: random.Random) -> None:
        drafts.rebase_draft(**self.held(chance)[1], merge=chance.random() < 0.8)

    def revises(self, chance: random.Random) -> None:
        at = self.at(chance)
        content = self.text("Be.\nShort.", chance)
        drafts.revise_prompt(
            self.board.scribe,
            at["chat_id"],
            on_behalf_of=at["actor"],
            authors=[at["actor"]],
            prompt=content.prompt,
            reason="",
        )
        self.accepted.add(content.prompt)

    def releases(self, chance: random.Random) -> None:
        draft, at = self.held(chance)
        if drafts.release_draft(**at).ended_at:
            self.applied.pop(draft.chat_id, None)

    def operator_releases(self, chance: random.Random) -> None:
        draft = self.held(chance)[0]
        drafts.release_draft(make_operator(), draft.chat_id, draft.agent_id)

    # --- what must hold -------------------------------------------------------------------------------------------

    def check(self) -> None:
        live = Draft.objects.filter(ended_at=None)
        assert all(count == 1 for count in Counter(live.values_list("chat", "agent")).values())
        holders = live.filter(lock_expires_at__gt=now()).values_list("lock_holder", flat=True)
        assert all(count == 1 for count in Counter(holders).values())
        self._check_versions()
        assert self.accepted - self._found() == set()
        for room in self.rooms:
            self._check_what_answers(room.id)

    def _check_versions(self) -> None:
        numbered = AgentSpec.objects.filter(agent=self.board.scribe, number__isnull=False).order_by("number")
        numbers = list(numbered.values_list("number", flat=True))
        assert numbers == list(range(1, len(numbers) + 1))
        self.board.scribe.refresh_from_db()
        assert self.board.scribe.current_spec == numbered.last()

    def _found(self) -> set[str]:
        written = [*Draft.objects.values_list("written", flat=True), *DraftSnapshot.objects.values_list("written", flat=True),
                   *Suggestion.objects.values_list("content", flat=True)]  # fmt: skip
        return {text["prompt"] for text in written} | set(AgentSpec.objects.values_list("prompt", flat=True))

    def _check_what_answers(self, chat_id: Any) -> None:
        scribe = self.board.scribe
        found = find_answering_spec(scribe, chat_id)
        assert found is not None
        spec, _ = found
        assert scribe.current_spec is not None
        assert spec.prompt == self.applied.get(chat_id, scribe.current_spec.prompt)


STEPS: list[Any] = [
    step for name, step in vars(Workshop).items()
    if callable(step) and not name.startswith("_")
    and name not in ("take", "at", "held", "text", "writes_over", "check")
]  # fmt: skip
STEPS += [
    Workshop.begins,
    Workshop.edits,
    Workshop.applies,
    Workshop.saves,
    Workshop.suggests_late,
    Workshop.merges,
] * 2


@settings(max_examples=examples(12), deadline=None, suppress_health_check=list(HealthCheck))
@given(script=st.lists(st.integers(0, 10**9), min_size=15, max_size=40))
def test_whatever_is_done_in_whatever_order_nothing_is_lost(team, script):
    with transaction.atomic():
        workshop = Workshop(SuggestionEnvironment(team))
        for seed in script:
            workshop.take(seed)
            workshop.check()
        transaction.set_rollback(True)

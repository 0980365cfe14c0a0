"""A property test: two editors and two suggesters edit one agent in two chats, in any order. The rules of drafts hold, and no text
that a person wrote is lost (EDIT1–EDIT3, EDIT5)."""

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
    """The process ends before it commits."""


class Script:
    """Random steps, and the texts that must be found after them: `texts_to_keep`, and `applied_texts` by chat."""

    def __init__(self, environment: SuggestionEnvironment) -> None:
        self.environment = environment
        dora = make_person("Dora")
        workspaces.join_workspace(dora, environment.team.workspace.id, role="editor", invited_by=environment.team.alice)
        self.people = [environment.team.alice, dora, environment.team.bob, environment.carol]
        self.chats = [environment.create_chat(title, *self.people[1:]) for title in ("One", "Two")]
        self.number = 0
        self.texts_to_keep: set[str] = set()
        self.applied_texts: dict[Any, str] = {}

    def run_step(self, seed: int) -> None:
        """Run the step that this seed selects. A step that is refused or crashes changes nothing."""
        chance = random.Random(seed)
        before = set(self.texts_to_keep), dict(self.applied_texts)
        try:
            with transaction.atomic():
                chance.choice(STEPS)(self, chance)
                if chance.random() < 0.1:
                    raise Crash
        except (AppError, Crash):
            self.texts_to_keep, self.applied_texts = before

    def draft_args(self, chance: random.Random, who: Actor | None = None) -> dict[str, Any]:
        chat = chance.choice(self.chats)
        actor = who or chance.choice(self.people)
        return {"actor": actor, "chat_id": chat.id, "agent_id": self.environment.scribe.id}

    def pick_draft(self, chance: random.Random) -> tuple[Draft, dict[str, Any]]:
        """Return a current draft, and the arguments of a service that its holder calls with the latest revision."""
        drafts = list(Draft.objects.filter(ended_at=None).select_related("lock_holder", "updated_by").order_by("pk"))
        if not drafts:
            raise AppError("There is no draft.")
        draft = chance.choice(drafts)
        actor = draft.lock_holder or draft.updated_by
        args = {"actor": actor, "chat_id": draft.chat_id, "agent_id": draft.agent_id, "revision": draft.revision}
        return draft, args

    def change_text(self, prompt: str, chance: random.Random) -> SpecContent:
        """Replace one line of a text by a line that was never written before."""
        self.number += 1
        lines = prompt.split("\n")
        lines[chance.randrange(len(lines))] = f"line {self.number}"
        return self.environment.build_content("\n".join(lines))

    def record_write(self, draft: Draft | None, writer: Actor, content: SpecContent) -> None:
        """Record a write. A person's own text may be overwritten without a snapshot."""
        if draft is not None and draft.updated_by_id == writer.id:
            self.texts_to_keep.discard(draft.written["prompt"])
        self.texts_to_keep.add(content.prompt)

    # --- steps ----------------------------------------------------------------------------------------------------

    def start_draft(self, chance: random.Random) -> None:
        args = self.draft_args(chance)
        draft = Draft.objects.filter(chat=args["chat_id"], ended_at=None).first()
        content = self.change_text(
            draft.written["prompt"] if draft else self.environment.build_content("x").prompt, chance
        )
        drafts.claim_draft(**args, content=content)
        self.record_write(draft, args["actor"], content)

    def claim_draft(self, chance: random.Random) -> None:
        drafts.claim_draft(**self.draft_args(chance))

    def edit_draft(self, chance: random.Random) -> None:
        draft, args = self.pick_draft(chance)
        content = self.change_text(draft.written["prompt"], chance)
        drafts.write_draft(**args, content=content)
        self.record_write(draft, args["actor"], content)

    def apply_draft(self, chance: random.Random) -> None:
        draft, args = self.pick_draft(chance)
        drafts.apply_draft(**args)
        self.applied_texts[draft.chat_id] = draft.written["prompt"]

    def discard_draft(self, chance: random.Random) -> None:
        draft, args = self.pick_draft(chance)
        drafts.discard_draft(**args | {"actor": chance.choice(self.people)})
        self.applied_texts.pop(draft.chat_id, None)

    def save_draft(self, chance: random.Random) -> None:
        draft, args = self.pick_draft(chance)
        drafts.save_draft(**args, base_version=draft.base_version)
        self.applied_texts.pop(draft.chat_id, None)

    def suggest_draft(self, chance: random.Random) -> None:
        draft, args = self.pick_draft(chance)
        suggestions.suggest_draft(**args)
        self.applied_texts.pop(draft.chat_id, None)

    def suggest_spec(self, chance: random.Random) -> None:
        base = chance.choice(list(AgentSpec.objects.filter(agent=self.environment.scribe, number__isnull=False)))
        content = self.change_text(base.content["prompt"], chance)
        assert base.number is not None
        suggestions.suggest_spec(**self.draft_args(chance), id=new_id(), content=content, base_version=base.number)
        self.texts_to_keep.add(content.prompt)

    def merge_suggestions(self, chance: random.Random) -> None:
        pending = list(Suggestion.objects.filter(state="pending", merge=None).order_by("pk"))
        chosen = [one.id for one in chance.sample(pending, min(len(pending), chance.randint(1, 3)))]
        suggestions.merge_suggestions(**self.draft_args(chance), id=new_id(), suggestion_ids=chosen)

    def end_job(self, chance: random.Random) -> None:
        waiting = list(Run.objects.filter(chat=None, state="queued").order_by("pk"))
        if waiting:
            answer_job(chance.choice(waiting), "[]")

    def retry_merges(self, chance: random.Random) -> None:
        for merge in Merge.objects.filter(state="failed").order_by("pk"):
            suggestions.retry_merge(chance.choice(self.people), merge.id)

    def expire_locks(self, chance: random.Random) -> None:
        Draft.objects.filter(lock_expires_at__isnull=False).update(lock_expires_at=now() - timedelta(seconds=1))

    def restore_version(self, chance: random.Random) -> None:
        newest = AgentSpec.objects.filter(agent=self.environment.scribe, number__isnull=False).count()
        specs.restore_version(
            actor=chance.choice(self.people),
            agent_id=self.environment.scribe.id,
            number=chance.randint(1, newest),
            base_version=newest,
        )

    def rebase_draft(self, chance: random.Random) -> None:
        drafts.rebase_draft(**self.pick_draft(chance)[1], merge_production=chance.random() < 0.8)

    def revise_prompt(self, chance: random.Random) -> None:
        args = self.draft_args(chance)
        content = self.change_text("Be.\nShort.", chance)
        drafts.revise_prompt(
            self.environment.scribe,
            args["chat_id"],
            on_behalf_of=args["actor"],
            approved_by=args["actor"],
            prompt=content.prompt,
            reason="",
        )
        self.texts_to_keep.add(content.prompt)

    def release_draft(self, chance: random.Random) -> None:
        draft, args = self.pick_draft(chance)
        if drafts.release_draft(**args).ended_at:
            self.applied_texts.pop(draft.chat_id, None)

    def release_draft_as_operator(self, chance: random.Random) -> None:
        draft = self.pick_draft(chance)[0]
        drafts.release_draft(make_operator(), draft.chat_id, draft.agent_id)

    # --- invariants -------------------------------------------------------------------------------------------

    def check_invariants(self) -> None:
        current = Draft.objects.filter(ended_at=None)
        assert all(count == 1 for count in Counter(current.values_list("chat", "agent")).values())
        holders = current.filter(lock_expires_at__gt=now()).values_list("lock_holder", flat=True)
        assert all(count == 1 for count in Counter(holders).values())
        self._check_versions()
        assert self.texts_to_keep - self._list_stored_texts() == set()
        for chat in self.chats:
            self._check_what_answers(chat.id)

    def _check_versions(self) -> None:
        numbered = AgentSpec.objects.filter(agent=self.environment.scribe, number__isnull=False).order_by("number")
        numbers = list(numbered.values_list("number", flat=True))
        assert numbers == list(range(1, len(numbers) + 1))
        self.environment.scribe.refresh_from_db()
        assert self.environment.scribe.current_spec == numbered.last()

    def _list_stored_texts(self) -> set[str]:
        written = [
            *Draft.objects.values_list("written", flat=True),
            *DraftSnapshot.objects.values_list("written", flat=True),
            *Suggestion.objects.values_list("content", flat=True),
        ]
        return {text["prompt"] for text in written} | set(AgentSpec.objects.values_list("content__prompt", flat=True))

    def _check_what_answers(self, chat_id: Any) -> None:
        scribe = self.environment.scribe
        found = find_answering_spec(scribe, chat_id)
        assert found is not None
        spec, _ = found
        assert scribe.current_spec is not None
        assert spec.content["prompt"] == self.applied_texts.get(chat_id, scribe.current_spec.content["prompt"])


STEPS: list[Any] = [
    step
    for name, step in vars(Script).items()
    if callable(step)
    and not name.startswith("_")
    and name not in ("run_step", "draft_args", "pick_draft", "change_text", "record_write", "check_invariants")
]
STEPS += [
    Script.start_draft,
    Script.edit_draft,
    Script.apply_draft,
    Script.save_draft,
    Script.suggest_spec,
    Script.merge_suggestions,
] * 2


@settings(max_examples=examples(12), deadline=None, suppress_health_check=list(HealthCheck))
@given(seeds=st.lists(st.integers(0, 10**9), min_size=15, max_size=40))
def test_no_text_is_lost_in_any_order_of_operations(team, seeds):
    with transaction.atomic():
        script = Script(SuggestionEnvironment(team))
        for seed in seeds:
            script.run_step(seed)
            script.check_invariants()
        transaction.set_rollback(True)

"""Suggestions for an agent of several lines, made, merged and answered by a test."""

import json
from typing import Any
from uuid import UUID

from actors.models import Actor
from agents.models import Draft
from agents.services import drafts
from agents.specs.content import SpecContent
from chats import services as chats
from chats.models import Chat, Message
from common.ids import new_id
from runs.models import Run
from suggestions import services as suggestions
from suggestions.models import Merge, Suggestion
from tests.jobs import answer_job, fail_job
from tests.people import Team, make_agent, make_person
from workspaces import services as workspaces

MIDDLE = "Greet people.\nSay when you are not sure.\nAsk back.\n"
PROMPT = f"Be kind.\n{MIDDLE}Be brief.\n"
BRIEFER = PROMPT.replace("Be brief.", "Use one sentence.")
KINDER = PROMPT.replace("Be kind.", "Be very kind.")
LOUDER = PROMPT.replace("Be brief.", "Be loud.")


class SuggestionEnvironment:
    """Alice (editor), Bob and Carol (suggesters) and Scribe, in a room."""

    def __init__(self, team: Team) -> None:
        self.team = team
        self.scribe: Actor = make_agent(team.workspace, team.alice, "Scribe", PROMPT, tools=["current_time"])
        self.carol = make_person("Carol")
        workspaces.join_workspace(self.carol, team.workspace.id, role="suggester", invited_by=team.alice)
        self.chat = self.room("Workshop", team.bob, self.carol)

    def room(self, title: str, *members: Actor, by: Actor | None = None) -> Chat:
        """One more, with Scribe in it."""
        return chats.create_chat(
            by or self.team.alice,
            self.team.workspace.id,
            title=title,
            actor_ids=[member.id for member in (*members, self.scribe)],
        )

    def __getitem__(self, who: str) -> Actor:
        return self.carol if who == "carol" else self.team[who]

    def content(self, prompt: str, **fields: Any) -> SpecContent:
        self.scribe.refresh_from_db()
        assert self.scribe.current_spec is not None
        return SpecContent.model_validate({**self.scribe.current_spec.content().as_json(), "prompt": prompt, **fields})

    def suggest(
        self, prompt: str = BRIEFER, who: str = "bob", *, base: int = 1, note: str = "", chat: Chat | None = None,
        **fields: Any,
    ) -> Suggestion:  # fmt: skip
        """A text, suggested."""
        return suggestions.suggest_text(
            self[who], (chat or self.chat).id, self.scribe.id, id=new_id(),
            content=self.content(prompt, **fields), base_version=base, note=note,
        )  # fmt: skip

    def where(self, who: str = "alice", chat: Chat | None = None) -> dict[str, Any]:
        return {"actor": self[who], "chat_id": (chat or self.chat).id, "agent_id": self.scribe.id}

    def draft(self, prompt: str = BRIEFER, who: str = "bob", chat: Chat | None = None) -> Draft:
        """A draft of this text, held."""
        return drafts.claim_draft(**self.where(who, chat), content=self.content(prompt))

    def save(self, prompt: str) -> int:
        """The next version, by Alice, in a room of her own; its number."""
        room = self.room("Elsewhere")
        draft = self.draft(prompt, "alice", room)
        spec = drafts.save_draft(**self.where("alice", room), revision=draft.revision, base_version=draft.base_version)
        assert spec.number is not None
        return spec.number

    def merge(self, *chosen: Suggestion, who: str = "alice", chat: Chat | None = None, id: UUID | None = None) -> Merge:
        return suggestions.merge_suggestions(
            **self.where(who, chat), id=id or new_id(), suggestion_ids=[one.id for one in chosen]
        )

    def answer(self, merge: Merge, answer: Any) -> Merge:
        """The merge agent says this: text, or what is put into JSON."""
        assert merge.run is not None
        answer_job(merge.run, answer if isinstance(answer, str) else json.dumps(answer))
        return Merge.objects.get(pk=merge.pk)

    def fail(self, merge: Merge) -> Merge:
        assert merge.run is not None
        fail_job(merge.run)
        return Merge.objects.get(pk=merge.pk)

    def live(self, chat: Chat | None = None) -> Draft | None:
        return Draft.objects.filter(chat=chat or self.chat, agent=self.scribe, ended_at=None).first()

    def lines(self, chat: Chat | None = None) -> list[str]:
        """What the system noted in the room, but for who is there."""
        rows = Message.objects.filter(chat=chat or self.chat, author=None).exclude(type="MEMBER_JOINED")
        return list(rows.order_by("seq").values_list("type", flat=True))

    def line(self, type_: str, chat: Chat | None = None) -> dict[str, Any]:
        """What the newest such line carries."""
        row = Message.objects.filter(chat=chat or self.chat, type=type_).order_by("-seq").first()
        assert row is not None
        payload: dict[str, Any] = row.payload
        return payload


def fresh(row: Any) -> Any:
    """As it is in the database."""
    return type(row).objects.get(pk=row.pk)


def segment(text: str, *names: str) -> dict[str, Any]:
    return {"text": text, "from": list(names)}


def both(text_of_two: str = "Use one sentence.") -> dict[str, Any]:
    """A good answer to a merge of KINDER (s1) and another last line (s2)."""
    return {
        "segments": [
            segment("Be very kind.\n", "s1"), segment(MIDDLE), segment(f"{text_of_two}\n", "s2"),
        ],
        "conflicts": [],
    }  # fmt: skip


def jobs(kind: str) -> list[Run]:
    return list(Run.objects.filter(origin=kind).order_by("created_at"))


def job_input_of(run: Run) -> dict[str, Any]:
    """What a job is asked."""
    brief: dict[str, Any] | None = run.job_input
    assert brief is not None
    return brief

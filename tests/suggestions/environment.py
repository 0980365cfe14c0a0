"""An environment in which tests make, merge and finish suggestions for an agent."""

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
    """A chat with Alice (editor), Bob and Carol (suggesters) and the agent Scribe, whose prompt has several lines."""

    def __init__(self, team: Team) -> None:
        self.team = team
        self.scribe: Actor = make_agent(team.workspace, team.alice, "Scribe", PROMPT, tools=["current_time"])
        self.carol = make_person("Carol")
        workspaces.join_workspace(self.carol, team.workspace.id, role="suggester", invited_by=team.alice)
        self.chat = self.create_chat("Workshop", team.bob, self.carol)

    def create_chat(self, title: str, *members: Actor, by: Actor | None = None) -> Chat:
        """Create a chat with these members and Scribe."""
        return chats.create_chat(
            by or self.team.alice,
            self.team.workspace.id,
            title=title,
            actor_ids=[member.id for member in (*members, self.scribe)],
        )

    def __getitem__(self, who: str) -> Actor:
        return self.carol if who == "carol" else self.team[who]

    def build_content(self, prompt: str, **fields: Any) -> SpecContent:
        self.scribe.refresh_from_db()
        assert self.scribe.current_spec is not None
        return SpecContent.model_validate(
            {**self.scribe.current_spec.parse_content().as_json(), "prompt": prompt, **fields}
        )

    def suggest(
        self,
        prompt: str = BRIEFER,
        who: str = "bob",
        *,
        base: int = 1,
        note: str = "",
        chat: Chat | None = None,
        **fields: Any,
    ) -> Suggestion:
        """Suggest a text."""
        return suggestions.suggest_spec(
            self[who],
            (chat or self.chat).id,
            self.scribe.id,
            id=new_id(),
            content=self.build_content(prompt, **fields),
            base_version=base,
            note=note,
        )[0]

    def draft_args(self, who: str = "alice", chat: Chat | None = None) -> dict[str, Any]:
        return {"actor": self[who], "chat_id": (chat or self.chat).id, "agent_id": self.scribe.id}

    def claim_draft(self, prompt: str = BRIEFER, who: str = "bob", chat: Chat | None = None) -> Draft:
        """Claim the draft of Scribe, and write this text into it."""
        return drafts.claim_draft(**self.draft_args(who, chat), content=self.build_content(prompt))

    def save_version(self, prompt: str) -> int:
        """Save the next version as Alice, in another chat, and return its number."""
        chat = self.create_chat("Elsewhere")
        draft = self.claim_draft(prompt, "alice", chat)
        spec = drafts.save_draft(
            **self.draft_args("alice", chat), revision=draft.revision, base_version=draft.base_version
        )
        assert spec.number is not None
        return spec.number

    def merge(self, *chosen: Suggestion, who: str = "alice", chat: Chat | None = None, id: UUID | None = None) -> Merge:
        return suggestions.merge_suggestions(
            **self.draft_args(who, chat), id=id or new_id(), suggestion_ids=[suggestion.id for suggestion in chosen]
        )[0]

    def answer_merge(self, merge: Merge, answer: Any) -> Merge:
        """Finish the job of the merge with this answer (a text, or a value that is written as JSON), and reload the merge."""
        assert merge.run is not None
        answer_job(merge.run, answer if isinstance(answer, str) else json.dumps(answer))
        return Merge.objects.get(pk=merge.pk)

    def fail_merge(self, merge: Merge) -> Merge:
        assert merge.run is not None
        fail_job(merge.run)
        return Merge.objects.get(pk=merge.pk)

    def find_draft(self, chat: Chat | None = None) -> Draft | None:
        return Draft.objects.filter(chat=chat or self.chat, agent=self.scribe, ended_at=None).first()

    def list_system_messages(self, chat: Chat | None = None) -> list[str]:
        """Return the types of the chat's system messages, without those about joining members."""
        rows = Message.objects.filter(chat=chat or self.chat, author=None).exclude(type="MEMBER_JOINED")
        return list(rows.order_by("seq").values_list("type", flat=True))

    def get_system_message(self, type_: str) -> dict[str, Any]:
        """Return the payload of the newest system message of this type."""
        message = Message.objects.filter(chat=self.chat, type=type_).order_by("-seq").first()
        assert message is not None
        payload: dict[str, Any] = message.payload
        return payload


def reload(row: Any) -> Any:
    """Return the row as it is in the database."""
    return type(row).objects.get(pk=row.pk)


def build_segment(text: str, *names: str) -> dict[str, Any]:
    return {"text": text, "from": list(names)}


def build_answer(second_text: str = "Use one sentence.") -> dict[str, Any]:
    """Build a valid answer to a merge of KINDER (s1) and another last line (s2)."""
    return {
        "segments": [
            build_segment("Be very kind.\n", "s1"),
            build_segment(MIDDLE),
            build_segment(f"{second_text}\n", "s2"),
        ],
        "conflicts": [],
    }


def list_jobs(kind: str) -> list[Run]:
    return list(Run.objects.filter(kind=kind).order_by("created_at"))


def get_job_input(run: Run) -> dict[str, Any]:
    """Return the input of a job."""
    job_input: dict[str, Any] | None = run.input
    assert job_input is not None
    return job_input

"""The words of a draft: reading them, typing them, setting them on today's production, letting them answer here."""

from uuid import UUID

from django.db import transaction
from django.db.models import F

from actors.models import Actor
from agents.content import SpecContent, ToolUse
from agents.merging import Merged, Proposal, merged
from agents.models import AgentSpec, Draft, Origin
from agents.permissions import AgentVerb, agent_verbs, get_agent_for
from agents.services.drafts import holding
from agents.services.drafts.earlier import keep
from agents.services.drafts.words import whose_words
from agents.services.specs import check_content, write_spec
from chats import services as chats
from chats.permissions import ChatVerb, get_chat_for
from common.clock import now
from common.errors import Forbidden
from events import audit
from events.frames import DraftText
from events.publish import publish
from events.rows import Provenance, Voice
from tools.registry import registry


def read_draft(*, actor: Actor, chat_id: UUID, agent_id: UUID) -> Draft:
    """The live draft, for everybody in the room. Raises `NotFound` (`no_draft`)."""
    chat = get_chat_for(actor, chat_id, ChatVerb.SEE)
    draft = holding.live(chat.id, agent_id)
    if draft is None:
        raise holding.no_draft()
    return draft


@transaction.atomic
def write_draft(
    *, actor: Actor, chat_id: UUID, agent_id: UUID, content: SpecContent, revision: int, caret: int | None = None
) -> Draft:
    """Store what is being typed, as holder and on `revision`; renews the hold. Everybody reads along.

    `caret` is told on, within the text. It counts as browsers do, in UTF-16 units.

    Raises `Conflict` (`stale_revision`, `draft_held`) with the draft as it stands: the writer keeps their own words.
    """
    get_chat_for(actor, chat_id, ChatVerb.SEE)
    get_agent_for(actor, agent_id, AgentVerb.EDIT_DRAFT)
    check_content(content)
    held_until = now() + holding.HOLD
    mine = Draft.objects.filter(chat_id=chat_id, agent_id=agent_id, ended_at=None, holder=actor, held_until__gt=now())
    written = mine.filter(revision=revision).update(
        written=content.as_json(), revision=F("revision") + 1, held_until=held_until, updated_by=actor, updated_at=now()
    )
    draft = holding.live(chat_id, agent_id)
    if not written or draft is None:
        raise holding.cannot_write(draft, actor)
    publish(
        DraftText(topic=f"chat:{chat_id}", draft_id=draft.id, agent_id=agent_id, revision=revision + 1,
                  holder_id=actor.id, held_until=held_until, written=content.as_json(), caret=_within(caret, content.prompt))
    )  # fmt: skip
    return draft


def _within(caret: int | None, text: str) -> int | None:
    return None if caret is None else max(0, min(caret, len(text.encode("utf-16-le", "surrogatepass")) // 2))


@transaction.atomic
def rebase_draft(*, actor: Actor, chat_id: UUID, agent_id: UUID, revision: int, merge: bool = False) -> Draft:
    """Say that the draft was compared with today's production and stands on it now. `merge` brings production's own
    changes into what is written; the text before is kept. Raises `Conflict`, `TooLarge`."""
    chat, agent = holding.room_of(actor, chat_id, agent_id, AgentVerb.EDIT_DRAFT)
    draft = holding.held(chat, agent, actor, revision)
    spec = agent.current_spec
    assert spec is not None
    if merge and draft.base_version != spec.number:
        _bring_in(draft, spec, actor)
    draft.set(base_version=spec.number, revision=revision + 1, held_until=now() + holding.HOLD)
    chats.changed(chat.id, rows=[draft])
    audit.record(actor, "draft.rebased", workspace_id=chat.workspace_id, object_id=draft.id, base=spec.number)
    return draft


def _bring_in(draft: Draft, production: AgentSpec, actor: Actor) -> None:
    result, voices = _with_production(draft, production)
    written = result.content.as_json()
    if written == draft.written:
        return
    keep(draft, "rebase")
    provenance = Provenance(origin="rebase", voices=voices, pieces=result.pieces, conflicts=result.conflicts)
    draft.set(
        written=written, updated_by=actor, updated_at=now(), provenance=provenance.model_dump(mode="json"),
    )  # fmt: skip


def _with_production(draft: Draft, production: AgentSpec) -> tuple[Merged, list[Voice]]:
    """What is written, on top of today's production; every line goes on being whose it was."""
    base = AgentSpec.objects.get(agent_id=draft.agent_id, number=draft.base_version).content()
    voices, pieces = whose_words(draft, base)
    proposal = Proposal(voices[-1], base, SpecContent.model_validate(draft.written), pieces)
    return merged(production.content(), [proposal]), voices


# --- apply --------------------------------------------------------------------------------------------------------


@transaction.atomic
def apply_draft(*, actor: Actor, chat_id: UUID, agent_id: UUID, revision: int) -> Draft:
    """Make the written text answer in this chat, and only here (S0.6). The hold stays, and is not renewed.

    Applying the same revision twice is one apply. Raises `Conflict`, `Forbidden` for a tool the person may not add.
    """
    chat, agent = holding.room_of(actor, chat_id, agent_id, AgentVerb.EDIT_DRAFT)
    draft = holding.held(chat, agent, actor, revision)
    if draft.applied_revision == revision:
        return draft
    content = SpecContent.model_validate(draft.written)
    _widens_nothing(agent, content)
    spec = write_spec(agent, content, author=actor, origin=Origin.APPLIED, base_number=draft.base_version)
    count = draft.apply_count + 1
    draft.set(applied=spec, apply_count=count, applied_revision=revision)
    line = chats.system_line(chat.id, "DRAFT_APPLIED", actor=actor, target=agent, draft_apply=count)
    chats.changed(chat.id, rows=[line, draft])
    audit.record(actor, "draft.applied", workspace_id=chat.workspace_id, object_id=draft.id, apply=count)
    return draft


def _widens_nothing(agent: Actor, content: SpecContent) -> None:
    """Who may not save may not hand an agent a writing tool that production lacks, or has with other settings (S0.7)."""
    if AgentVerb.SAVE in agent_verbs(agent):
        return
    assert agent.current_spec is not None
    has = {_reach(use) for use in agent.current_spec.content().tools if use.is_enabled}
    wanted = {use.tool: _reach(use) for use in content.tools if use.is_enabled and registry[use.tool].effect == "write"}
    if new := [tool for tool, reach in wanted.items() if reach not in has]:
        raise Forbidden(
            f"Only an editor can give this agent a tool that writes, or change its settings: {', '.join(new)}.",
            hints=["Leave it as it is in production, or suggest it."],
        )


def _reach(use: ToolUse) -> tuple[str, str]:
    """A tool and its settings as they are in force, however they are written down."""
    tool = registry.get(use.tool)
    return use.tool, tool.configured(use.custom_config).model_dump_json() if tool else ""

"""Suggesting: a draft, or a text that came too late to be one, becomes a proposal that reviewers decide on."""

from uuid import UUID

from django.db import IntegrityError, transaction

from actors.models import Actor
from agents.models import AgentSpec, Draft
from agents.permissions import AgentVerb, get_agent_for
from agents.selectors import get_draft
from agents.services import drafts
from agents.services.specs import check_content
from agents.specs.content import SpecContent
from agents.specs.differences import diff, list_changed_parts
from chats import services as chats
from chats.models import Chat, ChatActor, Message
from chats.permissions import ChatVerb, get_chat_for
from common.errors import Code, Conflict, NotFound, id_taken
from common.ids import new_id
from common.quotas import check_quota
from events import audit
from events.publish import notify_workspace_list_changed
from events.rows import DiffRow
from suggestions.hooks import suggestion_changed
from suggestions.models import State, Suggestion, SummaryState
from suggestions.services.summaries import begin_summary


def suggest_draft(actor: Actor, chat_id: UUID, agent_id: UUID, *, revision: int, note: str = "") -> Suggestion:
    """Hand in the draft that `actor` holds: it ends, its lock is free, and what it said is a suggestion.

    Raises `NotFound`, `Forbidden`, `Conflict` (`nothing_changed`, or as writing the draft would).
    """
    draft = get_draft(actor, chat_id, agent_id)
    wanted = SpecContent.model_validate(draft.written)
    # Compared before anything is locked: that takes a while for long texts.
    change = diff(_version(draft.agent, draft.base_version).content(), wanted)
    return _suggest_draft(actor, draft, revision, note.strip(), wanted, change)


@transaction.atomic
def _suggest_draft(
    actor: Actor, seen: Draft, revision: int, note: str, wanted: SpecContent, change: DiffRow
) -> Suggestion:
    chat = get_chat_for(actor, seen.chat_id, ChatVerb.SEE, lock=True)
    agent = get_agent_for(actor, seen.agent_id, AgentVerb.SUGGEST)
    _check_quota(actor, chat)
    suggestion = Suggestion(workspace_id=chat.workspace_id, agent=agent, chat=chat, author=actor, note=note)
    line = _line(suggestion)
    draft = drafts.submit_draft(actor, chat.id, agent.id, revision=revision, log_message=line)
    if (draft.pk, draft.revision, draft.base_version) != (seen.pk, seen.revision, seen.base_version):
        raise drafts.build_write_error(seen, actor)
    _propose(suggestion, wanted, _version(agent, draft.base_version))
    return _told(suggestion, line, change)


def suggest_text(
    actor: Actor, chat_id: UUID, agent_id: UUID, *, id: UUID, content: SpecContent, base_version: int, note: str = ""
) -> Suggestion:
    """Suggest words that could not be written into a draft any more (EDIT2), under an id that the client made: suggesting
    them again changes nothing.

    Raises `NotFound`, `Forbidden`, `Invalid`, `Conflict` (`nothing_changed`, `id_taken`).
    """
    wanted = Suggestion(id=id, author=actor, chat_id=chat_id, agent_id=agent_id, note=note.strip(),
                        content=content.as_json())  # fmt: skip
    get_chat_for(actor, chat_id, ChatVerb.SEE)
    base = _version(get_agent_for(actor, agent_id, AgentVerb.SUGGEST), base_version)
    # Compared before anything is locked: that takes a while for long texts.
    change = diff(base.content(), content)
    try:
        return _suggest_text(actor, wanted, base, change)
    except IntegrityError:
        get_chat_for(actor, chat_id, ChatVerb.SEE)
        return _known(wanted) or wanted


@transaction.atomic
def _suggest_text(actor: Actor, wanted: Suggestion, base: AgentSpec, change: DiffRow) -> Suggestion:
    chat, agent = _room(actor, wanted.chat_id, wanted.agent_id)
    if known := _known(wanted):
        return known
    _check_quota(actor, chat)
    content = wanted.proposed()
    check_content(content)
    wanted.workspace_id, wanted.chat, wanted.agent = chat.workspace_id, chat, agent
    line = _line(wanted)
    _propose(wanted, content, base)
    chats.save_changes(chat.id, [line])
    return _told(wanted, line, change)


def _check_quota(actor: Actor, chat: Chat) -> None:
    pending = Suggestion.objects.filter(workspace=chat.workspace_id, author=actor, state=State.PENDING)
    check_quota("suggestions", pending)


def _room(actor: Actor, chat_id: UUID, agent_id: UUID) -> tuple[Chat, Actor]:
    chat = get_chat_for(actor, chat_id, ChatVerb.SEE, lock=True)
    agent = get_agent_for(actor, agent_id, AgentVerb.SUGGEST)
    if not ChatActor.objects.filter(chat=chat, actor=agent, ended_at=None).exists():
        raise NotFound("This agent is not in this chat.")
    return chat, agent


def _known(wanted: Suggestion) -> Suggestion | None:
    """The same suggestion, made before. Raises `Conflict` when the id stands for another one."""
    known = Suggestion.objects.filter(pk=wanted.pk).first()
    said = ("author_id", "chat_id", "agent_id", "note", "content")
    if known is not None and any(getattr(known, name) != getattr(wanted, name) for name in said):
        raise id_taken("suggestion")
    return known


def _version(agent: Actor, number: int) -> AgentSpec:
    version = agent.specs.filter(number=number).first()
    if version is None:
        raise NotFound(f"{agent.name} has no version {number}.")
    return version


def _line(suggestion: Suggestion) -> Message:
    return chats.system_line(
        suggestion.chat_id, "SUGGESTION_CREATED", actor=suggestion.author, target=suggestion.agent,
        suggestion_id=suggestion.id, note=suggestion.note, summary_state=SummaryState.PENDING.value,
    )  # fmt: skip


def _propose(suggestion: Suggestion, content: SpecContent, base: AgentSpec) -> None:
    """Say what is proposed, beside what it was made on. Raises `Conflict` when that is nothing new."""
    production = suggestion.agent.current_spec
    assert production is not None
    suggestion.content, suggestion.base = content.as_json(), base
    suggestion.touches = list_changed_parts(base.content(), content)
    if not suggestion.touches or not list_changed_parts(production.content(), content):
        raise Conflict(
            f"This is what {suggestion.agent.name} is already.", code=Code.NOTHING_CHANGED,
            hints=["Change something, or discard the draft."],
        )  # fmt: skip


def _told(suggestion: Suggestion, line: Message, change: DiffRow) -> Suggestion:
    """The suggestion, stored and told to everybody, its summary under way."""
    suggestion.line_id = line.pk
    suggestion.id = suggestion.id or new_id()
    begin_summary(suggestion, suggestion.author, change)
    suggestion.save(force_insert=True)
    suggestion_changed(suggestion, "created", suggestion.author)
    audit.record(
        suggestion.author, "suggestion.made", workspace_id=suggestion.workspace_id, object_id=suggestion.id,
        agent=str(suggestion.agent_id), base=suggestion.base.number,
    )  # fmt: skip
    notify_workspace_list_changed(suggestion.workspace_id, "suggestions")
    return suggestion

"""Suggest a draft, or a text that came too late for a draft, to the reviewers of an agent."""

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
from chats.models import Chat, Message
from chats.permissions import ChatVerb, get_chat_for
from common.errors import Code, Conflict, NotFound, build_id_taken_error
from common.ids import new_id
from common.quotas import check_quota
from events import audit
from events.publish import notify_workspace_list_changed
from events.rows import DiffRow
from suggestions.hooks import suggestion_changed
from suggestions.models import State, Suggestion, SummaryState
from suggestions.services.summaries import start_summary


def suggest_draft(actor: Actor, chat_id: UUID, agent_id: UUID, *, revision: int, note: str = "") -> Suggestion:
    """Turn the draft that the actor has locked into a suggestion. The draft ends.

    Raises `NotFound`, `Forbidden`, `Conflict` (`nothing_changed`, or an error of `write_draft`).
    """
    draft = get_draft(actor, chat_id, agent_id)
    content = SpecContent.model_validate(draft.written)
    # Compare the texts before anything is locked: it takes a while for long ones.
    change = diff(_get_version(draft.agent, draft.base_version).content(), content)
    return _suggest_draft(actor, draft, revision, note.strip(), content, change)


@transaction.atomic
def _suggest_draft(
    actor: Actor, seen: Draft, revision: int, note: str, content: SpecContent, change: DiffRow
) -> Suggestion:
    chat = get_chat_for(actor, seen.chat_id, ChatVerb.SEE, lock=True)
    agent = get_agent_for(actor, seen.agent_id, AgentVerb.SUGGEST)
    _check_quota(actor, chat)
    suggestion = Suggestion(workspace_id=chat.workspace_id, agent=agent, chat=chat, author=actor, note=note)
    message = _build_message(suggestion)
    draft = drafts.submit_draft(actor, chat.id, agent.id, revision=revision, log_message=message)
    if (draft.pk, draft.revision, draft.base_version) != (seen.pk, seen.revision, seen.base_version):
        raise drafts.build_write_error(seen, actor)
    _set_content(suggestion, content, _get_version(agent, draft.base_version))
    return _store_suggestion(suggestion, message, change)


def suggest_text(
    actor: Actor, chat_id: UUID, agent_id: UUID, *, id: UUID, content: SpecContent, base_version: int, note: str = ""
) -> Suggestion:
    """Suggest a text that could not be written into a draft any more (EDIT2).

    `id`: made by the client; the same request with the same id changes nothing.
    Raises `NotFound`, `Forbidden`, `Invalid`, `Conflict` (`nothing_changed`, `id_taken`).
    """
    suggestion = Suggestion(id=id, author=actor, chat_id=chat_id, agent_id=agent_id, note=note.strip(),
                        content=content.as_json())  # fmt: skip
    get_chat_for(actor, chat_id, ChatVerb.SEE)
    base = _get_version(get_agent_for(actor, agent_id, AgentVerb.SUGGEST), base_version)
    # Compare the texts before anything is locked: it takes a while for long ones.
    change = diff(base.content(), content)
    try:
        return _suggest_text(actor, suggestion, base, change)
    except IntegrityError:
        get_chat_for(actor, chat_id, ChatVerb.SEE)
        return _find_existing(suggestion) or suggestion


@transaction.atomic
def _suggest_text(actor: Actor, suggestion: Suggestion, base: AgentSpec, change: DiffRow) -> Suggestion:
    chat, agent = drafts.lock_chat_with_agent(actor, suggestion.chat_id, suggestion.agent_id, AgentVerb.SUGGEST)
    if existing := _find_existing(suggestion):
        return existing
    _check_quota(actor, chat)
    content = suggestion.proposed()
    check_content(content)
    suggestion.workspace_id, suggestion.chat, suggestion.agent = chat.workspace_id, chat, agent
    message = _build_message(suggestion)
    _set_content(suggestion, content, base)
    chats.save_changes(chat.id, [message])
    return _store_suggestion(suggestion, message, change)


def _check_quota(actor: Actor, chat: Chat) -> None:
    pending = Suggestion.objects.filter(workspace=chat.workspace_id, author=actor, state=State.PENDING)
    check_quota("suggestions", pending)


def _find_existing(suggestion: Suggestion) -> Suggestion | None:
    """Return the suggestion of an earlier, equal request. Raises `Conflict` if another one has its id."""
    existing = Suggestion.objects.filter(pk=suggestion.pk).first()
    fields = ("author_id", "chat_id", "agent_id", "note", "content")
    if existing is not None and any(getattr(existing, name) != getattr(suggestion, name) for name in fields):
        raise build_id_taken_error("suggestion")
    return existing


def _get_version(agent: Actor, number: int) -> AgentSpec:
    version = agent.specs.filter(number=number).first()
    if version is None:
        raise NotFound(f"{agent.name} has no version {number}.")
    return version


def _build_message(suggestion: Suggestion) -> Message:
    return chats.build_system_message(
        suggestion.chat_id, "SUGGESTION_CREATED", actor=suggestion.author, target=suggestion.agent,
        suggestion_id=suggestion.id, note=suggestion.note, summary_state=SummaryState.PENDING.value,
    )  # fmt: skip


def _set_content(suggestion: Suggestion, content: SpecContent, base: AgentSpec) -> None:
    """Set the proposed spec and the version that it was made on. Raises `Conflict` if it is no change."""
    production = suggestion.agent.current_spec
    assert production is not None
    suggestion.content, suggestion.base = content.as_json(), base
    suggestion.touches = list_changed_parts(base.content(), content)
    if not suggestion.touches or not list_changed_parts(production.content(), content):
        raise Conflict(
            f"This is what {suggestion.agent.name} is already.", code=Code.NOTHING_CHANGED,
            hints=["Change something, or discard the draft."],
        )  # fmt: skip


def _store_suggestion(suggestion: Suggestion, message: Message, change: DiffRow) -> Suggestion:
    """Store the suggestion, start its summary, and report it."""
    suggestion.message_id = message.pk
    suggestion.id = suggestion.id or new_id()
    start_summary(suggestion, suggestion.author, change)
    suggestion.save(force_insert=True)
    suggestion_changed(suggestion, "created", suggestion.author)
    audit.record(
        suggestion.author, "suggestion.made", workspace_id=suggestion.workspace_id, object_id=suggestion.id,
        agent=str(suggestion.agent_id), base=suggestion.base.number,
    )  # fmt: skip
    notify_workspace_list_changed(suggestion.workspace_id, "suggestions")
    return suggestion

"""The draft of an agent in a chat and its lock: compare-and-set throughout (S0.7–S0.9, C1–C3, guarantees §2.8).

What changes for the room (acquired, applied, saved, discarded, released) goes through `chats.changed` under the chat's
lock; the words being typed are one fenced UPDATE and a passing frame, and wait for nobody.
"""

from datetime import timedelta
from uuid import UUID

from django.db import connection, transaction
from django.db.models import F

from actors.models import Actor
from agents.content import SpecContent
from agents.models import AgentSpec, Draft, Origin
from agents.permissions import AgentVerb, agent_verbs, get_agent_for
from agents.services.specs import check_content, write_spec
from chats import services as chats
from chats.models import Chat, ChatActor, InChat
from chats.permissions import ChatVerb, get_chat_for
from common.clock import now
from common.errors import Code, Conflict, Forbidden, NotFound
from events import audit
from events.bells import ring_workspace
from events.frames import DraftText
from events.publish import publish
from tools.registry import registry

HOLD = timedelta(minutes=30)


def read_draft(*, actor: Actor, chat_id: UUID, agent_id: UUID) -> Draft:
    """The live draft, for everybody in the room. Raises `NotFound` (`no_draft`)."""
    chat = get_chat_for(actor, chat_id, ChatVerb.SEE)
    draft = _live(chat.id, agent_id)
    if draft is None:
        raise _no_draft()
    return draft


def _live(chat_id: UUID, agent_id: UUID) -> Draft | None:
    drafts = Draft.objects.select_related("applied", "holder", "agent")
    return drafts.filter(chat_id=chat_id, agent_id=agent_id, ended_at=None).first()


def _no_draft() -> NotFound:
    return NotFound("There is no draft of this agent in this chat.", code=Code.NO_DRAFT)


def _room(actor: Actor, chat_id: UUID, agent_id: UUID, verb: AgentVerb) -> tuple[Chat, Actor]:
    """The chat, held, and the agent, when `actor` may do this with it and both take part. Raises `NotFound`, `Forbidden`."""
    chat = get_chat_for(actor, chat_id, ChatVerb.SEE, lock=True)
    agent = get_agent_for(actor, agent_id, verb)
    if not ChatActor.objects.filter(chat=chat, actor=agent, ended_at=None).exists():
        raise NotFound("This agent is not in this chat.")
    return chat, agent


# --- holding and writing --------------------------------------------------------------------------------------


@transaction.atomic
def take_draft(*, actor: Actor, chat_id: UUID, agent_id: UUID, content: SpecContent | None = None) -> Draft:
    """Begin to write: make the draft, or take one whose hold is free or over, or one's own from another tab.

    Raises `Conflict`: `draft_held` naming who writes, `holding_another` naming where this person already does.
    """
    chat, agent = _room(actor, chat_id, agent_id, AgentVerb.EDIT_DRAFT)
    if content is not None:
        check_content(content)
    _hold_one_at_most(actor, chat_id, agent_id)
    draft = _live(chat.id, agent.id)
    if draft is None:
        return _started(chat, agent, actor, content)
    return _taken(draft, agent, actor, content)


def _hold_one_at_most(actor: Actor, chat_id: UUID, agent_id: UUID) -> None:
    """One draft per person, anywhere. The advisory lock makes two tabs of one person ask one after the other."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"holds:{actor.id}"])
    held = Draft.objects.filter(holder=actor, held_until__gt=now(), ended_at=None).select_related("agent", "chat")
    other = held.exclude(chat_id=chat_id, agent_id=agent_id).first()
    if other is not None:
        raise Conflict(
            f"You are writing {other.agent.name} in another chat.", code=Code.HOLDING_ANOTHER,
            hints=["Save, discard or close that draft first."],
            data={"chat_id": str(other.chat_id), "agent_id": str(other.agent_id), "agent_name": other.agent.name,
                  "chat_title": other.chat.title},
        )  # fmt: skip


def _started(chat: Chat, agent: Actor, actor: Actor, content: SpecContent | None) -> Draft:
    spec = agent.current_spec
    assert spec is not None
    assert spec.number is not None
    draft = Draft(
        chat=chat, agent=agent, written=(content or spec.content()).as_json(), base_version=spec.number, holder=actor,
        held_until=now() + HOLD, created_by=actor, updated_by=actor,
    )  # fmt: skip
    chats.changed(chat.id, rows=[chats.system_line(chat.id, "DRAFT_STARTED", actor=actor, target=agent), draft])
    audit.record(actor, "draft.started", workspace_id=chat.workspace_id, object_id=draft.id)
    return draft


def _taken(draft: Draft, agent: Actor, actor: Actor, content: SpecContent | None) -> Draft:
    """Take a hold. The revision is bumped, so that whoever held it before can write no more (fencing)."""
    if draft.holder_id != actor.id and _is_held(draft):
        raise _held_by_other(draft)
    is_new_holder = draft.holder_id != actor.id
    fields = {"written": content.as_json(), "updated_by": actor} if content else {}
    # Under the chat's lock nobody else takes it; but its holder may be typing, which takes no chat's lock.
    draft.refresh_from_db(fields=["revision", "written"], from_queryset=Draft.objects.select_for_update())
    draft.set(holder=actor, held_until=now() + HOLD, revision=draft.revision + 1, **fields)
    line = [chats.system_line(draft.chat_id, "LOCK_ACQUIRED", actor=actor, target=agent)] if is_new_holder else []
    chats.changed(draft.chat_id, rows=[*line, draft])
    audit.record(actor, "draft.taken", object_id=draft.id)
    return draft


def _is_held(draft: Draft) -> bool:
    return draft.held_until is not None and draft.held_until > now()


def _held_by_other(draft: Draft) -> Conflict:
    assert draft.holder is not None
    assert draft.held_until is not None
    return Conflict(
        f"{draft.holder.name} is writing here.", code=Code.DRAFT_HELD,
        hints=["You can read along; it is free when they finish, or 30 minutes after their last change."],
        data={"holder_id": str(draft.holder_id), "holder_name": draft.holder.name,
              "held_until": draft.held_until.isoformat()},
    )  # fmt: skip


@transaction.atomic
def write_draft(
    *, actor: Actor, chat_id: UUID, agent_id: UUID, content: SpecContent, revision: int, caret: int | None = None
) -> Draft:
    """Store what is being typed, as holder and on `revision`; renews the hold. Everybody reads along.

    Raises `Conflict` (`stale_revision`, `draft_held`) with the draft as it stands: the writer keeps their own words.
    """
    get_chat_for(actor, chat_id, ChatVerb.SEE)
    get_agent_for(actor, agent_id, AgentVerb.EDIT_DRAFT)
    check_content(content)
    held_until = now() + HOLD
    mine = Draft.objects.filter(chat_id=chat_id, agent_id=agent_id, ended_at=None, holder=actor, held_until__gt=now())
    written = mine.filter(revision=revision).update(
        written=content.as_json(), revision=F("revision") + 1, held_until=held_until, updated_by=actor, updated_at=now()
    )
    draft = _live(chat_id, agent_id)
    if not written or draft is None:
        raise _cannot_write(draft, actor)
    publish(
        DraftText(topic=f"chat:{chat_id}", draft_id=draft.id, agent_id=agent_id, revision=revision + 1,
                  holder_id=actor.id, held_until=held_until, written=content.as_json(), caret=caret)
    )  # fmt: skip
    return draft


def _cannot_write(draft: Draft | None, actor: Actor) -> Exception:
    """Why a fenced write changed no row: never the writer's fault, and their words stay with them (C2)."""
    if draft is None:
        return _no_draft()
    if draft.holder_id != actor.id and _is_held(draft):
        return _held_by_other(draft)
    return Conflict(
        "Your hold on this draft is over, or it was changed in another tab.", code=Code.STALE_REVISION,
        hints=["Your text is safe with you: take the draft again and paste it."],
        data={"draft": draft.row().model_dump(mode="json")},
    )  # fmt: skip


def _held(chat: Chat, agent: Actor, actor: Actor, revision: int) -> Draft:
    """The live draft, when `actor` holds it and knows its latest revision; its row is locked against late typing."""
    rows = Draft.objects.filter(chat=chat, agent=agent, ended_at=None).select_related("holder", "applied", "agent")
    draft = rows.select_for_update(of=("self",)).first()
    if draft is None or draft.holder_id != actor.id or not _is_held(draft) or draft.revision != revision:
        raise _cannot_write(draft, actor)
    return draft


# --- apply, save, discard, release ----------------------------------------------------------------------------


@transaction.atomic
def apply_draft(*, actor: Actor, chat_id: UUID, agent_id: UUID, revision: int) -> Draft:
    """Make the written text answer in this chat, and only here (S0.6). The hold stays.

    Applying the same revision twice is one apply. Raises `Conflict`, `Forbidden` for a tool the person may not add.
    """
    chat, agent = _room(actor, chat_id, agent_id, AgentVerb.EDIT_DRAFT)
    draft = _held(chat, agent, actor, revision)
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
    """Who may not save may not hand an agent a writing tool that production lacks (S0.7)."""
    if AgentVerb.SAVE in agent_verbs(agent):
        return
    assert agent.current_spec is not None
    has = {use.tool for use in agent.current_spec.content().tools if use.is_enabled}
    new = [use.tool for use in content.tools if use.is_enabled and use.tool not in has]
    if writing := [tool for tool in new if registry[tool].effect == "write"]:
        raise Forbidden(
            f"Only an editor can give this agent a tool that writes: {', '.join(writing)}.",
            hints=["Take it out of the draft, or suggest it."],
        )


@transaction.atomic
def save_draft(
    *, actor: Actor, chat_id: UUID, agent_id: UUID, revision: int, base_version: int, message: str = ""
) -> AgentSpec:
    """Make the written text the next version, everywhere; the draft is gone (S0.9).

    Raises `Conflict`: `stale_revision`, or `stale_base` with today's production when it is not `base_version` any more.
    """
    chat, agent = _room(actor, chat_id, agent_id, AgentVerb.SAVE)
    draft = _held(chat, agent, actor, revision)
    agent = get_agent_for(actor, agent_id, AgentVerb.SAVE, lock=True)
    number = _next_number(agent, draft, base_version)
    content = SpecContent.model_validate(draft.written)
    check_content(content)
    spec = write_spec(agent, content, author=actor, origin=Origin.DRAFT, number=number, message=message,
                      base_number=base_version)  # fmt: skip
    agent.current_spec = spec
    agent.save(update_fields=["current_spec"])
    line = chats.system_line(chat.id, "SPEC_SAVED", actor=actor, target=agent, version=number, note=spec.message)
    chats.changed(chat.id, rows=[line, _ended(draft, "saved")])
    audit.record(actor, "spec.saved", workspace_id=chat.workspace_id, object_id=agent.id, version=number)
    if agent.workspace_id:
        ring_workspace(agent.workspace_id, "agents")
    return spec


def _next_number(agent: Actor, draft: Draft, base_version: int) -> int:
    spec = agent.current_spec
    assert spec is not None
    assert spec.number is not None
    if base_version != draft.base_version or base_version != spec.number:
        raise Conflict(
            f"{agent.name} is at v{spec.number} by now; this draft was begun on v{draft.base_version}.",
            code=Code.STALE_BASE, hints=["Compare with today's production, then save on top of it."],
            data={"production": spec.row().model_dump(mode="json")},
        )  # fmt: skip
    return spec.number + 1


def _ended(draft: Draft, how: str) -> Draft:
    return draft.set(ended_at=now(), ended_how=how, holder=None, held_until=None)


@transaction.atomic
def rebase_draft(*, actor: Actor, chat_id: UUID, agent_id: UUID, revision: int) -> Draft:
    """Say that the draft was compared with today's production and stands on it now. Raises `Conflict`."""
    chat, agent = _room(actor, chat_id, agent_id, AgentVerb.EDIT_DRAFT)
    draft = _held(chat, agent, actor, revision)
    spec = agent.current_spec
    assert spec is not None
    assert spec.number is not None
    draft.set(base_version=spec.number, revision=revision + 1, held_until=now() + HOLD)
    chats.changed(chat.id, rows=[draft])
    audit.record(actor, "draft.rebased", workspace_id=chat.workspace_id, object_id=draft.id, base=spec.number)
    return draft


@transaction.atomic
def discard_draft(*, actor: Actor, chat_id: UUID, agent_id: UUID, revision: int) -> Draft:
    """Throw a draft away: one's own, or any as an editor. Production answers again here.

    Raises `Forbidden` for somebody else's, `Conflict` when `revision` is not what stands there.
    """
    chat, agent = _room(actor, chat_id, agent_id, AgentVerb.EDIT_DRAFT)
    draft = _discardable(chat, agent, actor, revision)
    line = chats.system_line(chat.id, "DRAFT_DISCARDED", actor=actor, target=agent)
    chats.changed(chat.id, rows=[line, _ended(draft, "discarded")])
    audit.record(actor, "draft.discarded", workspace_id=chat.workspace_id, object_id=draft.id)
    return draft


def _discardable(chat: Chat, agent: Actor, actor: Actor, revision: int) -> Draft:
    rows = Draft.objects.filter(chat=chat, agent=agent, ended_at=None).select_related("holder", "applied")
    draft = rows.select_for_update(of=("self",)).first()
    if draft is None:
        raise _no_draft()
    if AgentVerb.DISCARD_ANY not in agent_verbs(agent):
        if draft.holder_id != actor.id and _is_held(draft):
            raise _held_by_other(draft)
        if draft.created_by_id != actor.id:
            raise Forbidden("You can discard your own drafts only.", hints=["Ask an editor."])
    if draft.revision != revision:
        raise _cannot_write(draft, actor)
    return draft


@transaction.atomic
def release_draft(*, actor: Actor, chat_id: UUID, agent_id: UUID, revision: int) -> Draft:
    """Stop writing and let others: the text stays. A draft in which nothing was changed is gone instead."""
    chat, agent = _room(actor, chat_id, agent_id, AgentVerb.EDIT_DRAFT)
    draft = _held(chat, agent, actor, revision)
    chats.changed(chat.id, rows=_let_go(draft, agent, actor))
    return draft


def _let_go(draft: Draft, agent: Actor, actor: Actor) -> list[InChat]:
    assert agent.current_spec is not None
    if draft.applied_id is None and draft.written == agent.current_spec.content().as_json():
        return [_ended(draft, "discarded")]
    draft.set(holder=None, held_until=None)
    return [chats.system_line(draft.chat_id, "LOCK_RELEASED", actor=actor, target=agent), draft]


@transaction.atomic
def free_draft(draft: Draft, operator: Actor) -> None:
    """An operator takes the hold away from whoever has it; the text stays, and it is logged (C3)."""
    Chat.objects.select_for_update(no_key=True).get(pk=draft.chat_id)
    live = _live(draft.chat_id, draft.agent_id)
    if live is None or live.holder_id is None:
        raise Conflict("Nobody holds this draft.", code=Code.NO_DRAFT)
    line = chats.system_line(live.chat_id, "LOCK_RELEASED", actor=operator, target=live.agent)
    chats.changed(live.chat_id, rows=[line, live.set(holder=None, held_until=None)])
    audit.record(operator, "draft.freed", object_id=live.id)

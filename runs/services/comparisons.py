"""Compare production and the applied draft of an agent in a chat: both answer one message (ADR 0012).

A comparison is a message, on which people vote (`agents.services.votes`). Its two runs have their own concurrency keys, and
their versions are fixed from the start.
"""

from typing import cast
from uuid import UUID

from django.db import IntegrityError, transaction

from actors.models import Actor
from agents.models import AgentSpec, Draft
from agents.permissions import AgentVerb, get_agent_for
from chats import services as chats
from chats.models import Chat, ChatActor, Message
from chats.permissions import ChatVerb, get_chat_for
from common.clock import now
from common.errors import Code, Conflict, NotFound, build_duplicate_id_error
from common.writing import RowUpdate
from events import audit
from events.payloads import ComparisonPayload, ComparisonSide, dump_payload
from events.rows import Stamp
from runs.models import KindName, Run, RunOrigin

TYPE = "COMPARISON"


def start_comparison(
    actor: Actor, chat_id: UUID, agent_id: UUID, *, id: UUID, text: str, revision: int | None
) -> tuple[Message, bool]:
    """Have production and the applied draft answer the same text. Return the message, and whether it is new: the client makes
    its id, and the same request again returns the first message.

    `revision`: the revision of the draft that the client shows, which must be the applied one; null: any. Raises `NotFound`
    (`no_draft`), `Forbidden`, `Invalid`, `TooLarge`, and `Conflict`: `not_applied`, `stale_revision`, `id_taken`.
    """
    try:
        with transaction.atomic():
            chat = get_chat_for(actor, chat_id, ChatVerb.POST, lock=True)
            agent = get_agent_for(actor, agent_id, AgentVerb.EDIT_DRAFT)
            text = chats.clean_text(text)
            if known := Message.objects.filter(pk=id).first():
                payload = known.payload if known.type == TYPE and known.chat_id == chat.id else {}
                same = {"actor_id": str(actor.id), "target_id": str(agent.id), "text": text}
                if any(payload.get(name) != value for name, value in same.items()):
                    raise build_duplicate_id_error("message")
                return known, False
            return _create_comparison(chat, agent, actor, id, text, *_get_versions(chat, agent, revision)), True
    except IntegrityError as error:
        raise build_duplicate_id_error("message") from error


def _get_versions(chat: Chat, agent: Actor, revision: int | None) -> tuple[Draft, AgentSpec, AgentSpec]:
    """Return the agent's draft in a locked chat, its applied version, and the production version."""
    if not ChatActor.objects.filter(chat=chat, actor=agent, ended_at=None).exists():
        raise NotFound("This agent is not in this chat.")
    drafts = Draft.objects.select_related("applied__author")
    draft = drafts.filter(chat=chat, agent=agent, ended_at=None).first()
    if draft is None or agent.current_spec is None:
        raise NotFound("There is no draft of this agent in this chat.", code=Code.NO_DRAFT)
    if revision not in (None, draft.applied_revision, draft.revision):
        raise Conflict("The draft was changed meanwhile.", code=Code.STALE_REVISION, hints=["Look at it again."])
    if draft.applied is None or revision not in (None, draft.applied_revision):
        raise Conflict("What is written is not applied here.", code=Code.NOT_APPLIED, hints=["Apply it, then compare."])
    return draft, draft.applied, agent.current_spec


def _create_comparison(
    chat: Chat, agent: Actor, actor: Actor, id: UUID, text: str, draft: Draft, applied: AgentSpec, current: AgentSpec
) -> Message:
    message = Message(id=id, chat=chat, type=TYPE, author=None, created_at=now())
    production_stamp = Stamp(spec_id=current.id, version=current.number, compared=id, side="production")
    draft_stamp = Stamp(
        spec_id=applied.id, draft_apply=draft.apply_count, draft_by=applied.author.name, compared=id, side="draft"
    )
    runs: list[Run] = []
    sides: list[ComparisonSide] = []
    for stamp in (production_stamp, draft_stamp):
        run = Run(
            workspace_id=chat.workspace_id,
            chat=chat,
            agent=agent,
            kind=KindName.COMPARISON,
            origin=RunOrigin.COMPARE,
            concurrency_key=f"{id}:{stamp.side}",
            trigger_id=id,
            on_behalf_of=actor,
            triggered_by=actor,
            payer_id=chat.workspace_id,
            spec_id=stamp.spec_id,
            stamp=stamp.model_dump(mode="json"),
            dispatched_at=now(),
        )
        run.trigger = message
        runs.append(run)
        sides.append(
            ComparisonSide(run_id=run.id, **stamp.model_dump(include={"spec_id", "version", "draft_apply", "draft_by"}))
        )
    comparison = ComparisonPayload(
        actor_id=actor.id,
        actor_name=actor.name,
        target_id=agent.id,
        target_name=agent.name,
        text=text,
        draft_id=draft.id,
        production=sides[0],
        draft=sides[1],
    )
    message.payload = dump_payload(TYPE, comparison)
    chats.save_changes(chat.id, [message, *runs])
    audit.record(actor, "comparison.started", workspace_id=chat.workspace_id, object_id=id)
    return message


def build_retried_side(failed: Run, again: Run) -> RowUpdate[Message]:
    """Return the update of a comparison that replaces the failed or stopped run of a side by a new run."""
    stamp = Stamp.model_validate(failed.stamp)
    message, name = Message.objects.get(pk=cast(UUID, stamp.compared)), cast(str, stamp.side)
    comparison = ComparisonPayload.model_validate(message.payload)
    side: ComparisonSide = getattr(comparison, name)
    side = side.model_copy(update={"run_id": again.id, "earlier": [*side.earlier, side.run_id]})
    return RowUpdate(message).set(payload=dump_payload(TYPE, comparison.model_copy(update={name: side})))


def close_comparisons(draft: Draft, actor: Actor, spec: AgentSpec | None) -> list[RowUpdate[Message]]:
    """Return the changes that end the votes on the comparisons of a draft. A listener of `draft_ended`."""
    runs = Run.objects.filter(chat_id=draft.chat_id, created_at__gte=draft.created_at, kind=KindName.COMPARISON)
    messages = Message.objects.filter(pk__in=runs.values("trigger_id"), payload__draft_id=str(draft.id))
    return [RowUpdate(message).set(payload={**message.payload, "ended": True}) for message in messages.order_by("seq")]

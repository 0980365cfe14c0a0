"""Comparing in the room: production and the applied draft answer one message side by side, and the room votes.

A comparison is a message; its two runs have concurrency keys of their own and their texts fixed from the start (ADR 0012).
"""

from collections.abc import Sequence
from typing import Any, Literal
from uuid import UUID

from django.db import IntegrityError, transaction

from actors.models import Actor
from agents.models import AgentSpec, Draft
from agents.permissions import AgentVerb, get_agent_for
from chats import services as chats
from chats.models import Chat, ChatActor, Message
from chats.permissions import ChatVerb, get_chat_for
from common.clock import now
from common.errors import Code, Conflict, Forbidden, NotFound, id_taken
from common.writing import RowUpdate
from events import audit
from events.payloads import ComparisonPayload, ComparisonSide, Vote, dump_payload
from events.rows import Stamp, Tally
from runs.models import Run
from runs.services.dispatch import dispatch_run

Choice = Literal["production", "equal", "draft"]
TYPE = "COMPARISON"


# --- asking both -----------------------------------------------------------------------------------------------


def start_comparison(
    *, actor: Actor, chat_id: UUID, agent_id: UUID, id: UUID, text: str, revision: int | None
) -> tuple[Message, bool]:
    """Ask production and the applied draft the same, under an id that the caller made; asking again changes nothing.

    `revision` is what the caller sees written, and it must be what is applied; null compares what is applied, whatever
    has been written since. Returns the message, and whether it is new. Opens its own transaction. Raises `NotFound`
    (`no_draft`), `Forbidden`, `Invalid`, `TooLarge`, and `Conflict`: `not_applied`, `stale_revision`, `id_taken`.
    """
    try:
        with transaction.atomic():
            chat = get_chat_for(actor, chat_id, ChatVerb.POST, lock=True)
            agent = get_agent_for(actor, agent_id, AgentVerb.EDIT_DRAFT)
            text = chats.checked_text(text)
            if known := Message.objects.filter(pk=id).first():
                return _started_before(known, chat, agent, actor, text), False
            draft = _applied_draft(chat, agent, revision)
            return _started(chat, agent, actor, draft, id, text), True
    except IntegrityError as error:
        raise id_taken("message") from error


def _started_before(known: Message, chat: Chat, agent: Actor, actor: Actor, text: str) -> Message:
    if known.type != TYPE or known.chat_id != chat.id:
        raise id_taken("message")
    asked = ComparisonPayload.model_validate(known.payload)
    if (asked.actor_id, asked.target_id, asked.text) != (actor.id, agent.id, text):
        raise id_taken("message")
    return known


def _applied_draft(chat: Chat, agent: Actor, revision: int | None) -> Draft:
    """The draft that answers here, in a room that the agent is in. The caller holds the chat."""
    if not ChatActor.objects.filter(chat=chat, actor=agent, ended_at=None).exists():
        raise NotFound("This agent is not in this chat.")
    drafts = Draft.objects.select_related("applied__author")
    draft = drafts.filter(chat=chat, agent=agent, ended_at=None).first()
    if draft is None:
        raise NotFound("There is no draft of this agent in this chat.", code=Code.NO_DRAFT)
    if revision not in (None, draft.applied_revision, draft.revision):
        raise Conflict("The draft was changed meanwhile.", code=Code.STALE_REVISION, hints=["Look at it again."])
    if draft.applied is None or revision not in (None, draft.applied_revision):
        raise Conflict("What is written is not applied here.", code=Code.NOT_APPLIED, hints=["Apply it, then compare."])
    return draft


def _started(chat: Chat, agent: Actor, actor: Actor, draft: Draft, id: UUID, text: str) -> Message:
    assert agent.current_spec is not None
    assert draft.applied is not None
    message = Message(id=id, chat=chat, type=TYPE, author=None, created_at=now())
    production = Stamp(spec_id=agent.current_spec.id, version=agent.current_spec.number, compared=id, side="production")
    applied = Stamp(
        spec_id=draft.applied.id, draft_apply=draft.apply_count, draft_by=draft.applied.author.name, compared=id,
        side="draft",
    )  # fmt: skip
    runs = [_run(message, agent, actor, stamp) for stamp in (production, applied)]
    comparison = ComparisonPayload(
        actor_id=actor.id, actor_name=actor.name, target_id=agent.id, target_name=agent.name, text=text,
        draft_id=draft.id, production=_side(runs[0], production), draft=_side(runs[1], applied),
    )  # fmt: skip
    message.payload = _payload(comparison)
    chats.save_changes(chat.id, [message, *runs])
    audit.record(actor, "comparison.started", workspace_id=chat.workspace_id, object_id=id)
    return message


def _run(message: Message, agent: Actor, actor: Actor, stamp: Stamp) -> Run:
    """One side at work. Its concurrency key is its own: it waits for nobody, and nobody for it."""
    run = Run(
        workspace_id=message.chat.workspace_id, chat=message.chat, agent=agent, origin="compare",
        concurrency_key=f"{message.id}:{stamp.side}", trigger_id=message.id, on_behalf_of=actor, triggered_by=actor,
        payer_id=message.chat.workspace_id, spec_id=stamp.spec_id, stamp=stamp.model_dump(mode="json"), dispatched_at=now(),
    )  # fmt: skip
    run.trigger = message
    dispatch_run(run)
    return run


def _side(run: Run, stamp: Stamp) -> ComparisonSide:
    return ComparisonSide(
        run_id=run.id, spec_id=stamp.spec_id, version=stamp.version, draft_apply=stamp.draft_apply, draft_by=stamp.draft_by
    )  # fmt: skip


def _payload(comparison: ComparisonPayload) -> dict[str, object]:
    return dump_payload(TYPE, comparison)


def build_retried_side(first: Run, again: Run) -> RowUpdate[Message]:
    """Return the update of a comparison that shows a side's new run in place of one that failed or was stopped."""
    stamp = Stamp.model_validate(first.stamp)
    assert stamp.compared is not None
    assert stamp.side is not None
    message = Message.objects.get(pk=stamp.compared)
    comparison = ComparisonPayload.model_validate(message.payload)
    side = comparison.production if stamp.side == "production" else comparison.draft
    side = side.model_copy(update={"run_id": again.id, "earlier": [*side.earlier, side.run_id]})
    return RowUpdate(message).set(payload=_payload(comparison.model_copy(update={stamp.side: side})))


# --- voting ----------------------------------------------------------------------------------------------------


@transaction.atomic
def vote(*, actor: Actor, chat_id: UUID, comparison_id: UUID, choice: Choice | None) -> Message:
    """Say which side is better: one vote a person, which they may change or, with null, take back.

    Raises `NotFound`, `Forbidden` (an agent), `Conflict` (`comparison_ended`: the draft is saved, suggested or gone).
    """
    chat = get_chat_for(actor, chat_id, ChatVerb.POST, lock=True)
    if actor.is_agent:
        raise Forbidden("Only people vote.")
    message = Message.objects.filter(pk=comparison_id, chat=chat, type=TYPE).first()
    if message is None:
        raise NotFound("There is no such comparison in this chat.")
    comparison = ComparisonPayload.model_validate(message.payload)
    if comparison.ended:
        raise Conflict("The draft is over, so the vote is, too.", code=Code.COMPARISON_ENDED)
    before = next((vote.choice for vote in comparison.votes if vote.actor_id == actor.id), None)
    if before != choice:
        changes = [_voted(message, comparison, actor, choice), _counted(comparison, before, choice)]
        chats.save_changes(chat.id, changes)
    return message


def _voted(message: Message, comparison: ComparisonPayload, actor: Actor, choice: Choice | None) -> RowUpdate[Any]:
    votes = [vote for vote in comparison.votes if vote.actor_id != actor.id]
    if choice is not None:
        votes.append(Vote(actor_id=actor.id, choice=choice))
    return RowUpdate(message).set(payload=_payload(comparison.model_copy(update={"votes": votes})))


def _counted(comparison: ComparisonPayload, before: Choice | None, after: Choice | None) -> RowUpdate[Any]:
    # Who writes takes no chat's lock: the row is held, so that what goes out with the vote is what is written now.
    held = Draft.objects.select_for_update(of=("self",), no_key=True).select_related("applied")
    draft = held.get(pk=comparison.draft_id)
    assert comparison.draft.draft_apply is not None
    votes = tallied([Tally.model_validate(one) for one in draft.votes], comparison.draft.draft_apply, before, after)
    return RowUpdate(draft).set(votes=[one.model_dump() for one in votes])


def tallied(tallies: Sequence[Tally], draft_apply: int, before: Choice | None, after: Choice | None) -> list[Tally]:
    """The votes of a draft after one person's vote went from `before` to `after`, by its applies in their order."""
    by_apply = {one.draft_apply: one.model_dump() for one in tallies}
    counts = by_apply.setdefault(draft_apply, Tally(draft_apply=draft_apply).model_dump())
    for choice, step in ((before, -1), (after, 1)):
        if choice is not None:
            counts[choice] += step
    return [Tally(**by_apply[number]) for number in sorted(by_apply)]


def close_comparisons(draft: Draft, actor: Actor, spec: AgentSpec | None) -> list[RowUpdate[Message]]:
    """End the vote of the draft's comparisons, which stay in the log. Listens to `draft_ended`; the chat is locked."""
    asked = Run.objects.filter(chat_id=draft.chat_id, created_at__gte=draft.created_at, origin="compare")
    open_ = Message.objects.filter(pk__in=asked.values("trigger_id"), payload__draft_id=str(draft.id))
    return [RowUpdate(message).set(payload={**message.payload, "ended": True}) for message in open_.order_by("seq")]

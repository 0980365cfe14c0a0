"""Another answer of an agent to the same message, and the choice of the answer that is in use: the one that agents read."""

from collections.abc import Sequence
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext

from actors.models import Actor
from chats import services as chats
from chats.models import Message
from chats.permissions import ChatVerb
from common.clock import now
from common.errors import Code, Conflict, Forbidden, LimitReached
from events import audit
from runs.errors import RunNotAllowed
from runs.kinds.chat import build_use_updates
from runs.models import NOT_ENDED, KindName, Run, RunOrigin, RunState
from runs.permissions import get_chat_of_run, get_run_for
from runs.runtime.history import list_run_ids_of_group

MAX_ANSWERS = 20
"""The most answers of a group, so that choosing one updates few messages."""


@transaction.atomic
def request_other_answer(actor: Actor, run_id: UUID) -> Run:
    """Start a run that gives another answer to the message that this run has answered. While such a run is active, return it.

    The new run works for the actor. Raises `NotFound`, `Forbidden` for agents, `Conflict` for a run that gave no answer, whose
    message is deleted, whose agent may not answer here any more, or for whose agent an outside program answers now, and
    `LimitReached`.
    """
    run = _get_answered_run(actor, run_id, ChatVerb.WAKE_AGENT)
    group_seq = _find_group_seq(run)
    group = list_run_ids_of_group(run.get_chat_id(), group_seq)
    active = Run.objects.filter(chat=run.chat_id, group_seq=group_seq, state__in=NOT_ENDED).first()
    if active is not None:
        return active
    check_size_of_group(group)
    trigger = Message.objects.filter(pk=run.trigger_id, chat=run.chat_id).first() if run.trigger_id else None
    if trigger is None or trigger.payload.get("is_deleted", False):
        raise Conflict(gettext("The message that it answers was deleted."), code=Code.INVALID)
    if run.agent.runs_outside:
        raise Conflict(gettext("An outside program answers for this agent now. Write to it again."), code=Code.INVALID)
    answered = Message.objects.filter(pk__in=run.answered_ids, chat=run.chat_id).values_list("seq", flat=True)
    again = Run(
        kind=KindName.OTHER_ANSWER,
        origin=RunOrigin.OTHER_ANSWER,
        workspace_id=run.workspace_id,
        chat_id=run.chat_id,
        agent_id=run.agent_id,
        concurrency_key=f"{group[0]}:answer",
        trigger_id=run.trigger_id,
        # The new run also reads the later messages that the first run has answered.
        trigger_seq=max(run.trigger_seq, *answered, trigger.seq),
        group_seq=group_seq,
        answered_ids=run.answered_ids,
        replies_to_trigger=run.replies_to_trigger,
        woken_by=actor,
        payer_id=run.payer_id,
        triggered_by_id=run.triggered_by_id,
        on_behalf_of=actor,
        dispatched_at=now(),
    )
    try:
        get_chat_of_run(again)
    except RunNotAllowed as error:
        raise Conflict(gettext("This agent cannot answer here any more."), code=Code.INVALID) from error
    chats.save_changes(run.get_chat_id(), [again])
    audit.record(actor, "answer.requested", workspace_id=run.workspace_id, object_id=again.id)
    return again


def check_size_of_group(run_ids: Sequence[UUID]) -> None:
    """Raise `LimitReached` if a group, whose runs these are, can have no further answer."""
    if len(run_ids) >= MAX_ANSWERS:
        raise LimitReached(gettext("A message has at most %s answers of an agent.") % MAX_ANSWERS)


@transaction.atomic
def choose_answer(actor: Actor, run_id: UUID) -> Run:
    """Put the answer of this run into use instead of the others of its group, and say so in the log of the chat. If it is in
    use already, change nothing.

    Raises `NotFound`, `Forbidden` for agents, and `Conflict` for a run that gave no answer, or the only one of its group, or one
    that was deleted.
    """
    run = _get_answered_run(actor, run_id, ChatVerb.POST)
    group = list_run_ids_of_group(run.get_chat_id(), _find_group_seq(run))
    if len(group) < 2:
        raise Conflict("There is no other answer.", code=Code.INVALID)
    texts = Message.objects.filter(run_id=run.id, type="TEXT_MESSAGE", deleted_at=None)
    answer = texts.order_by("-seq").first()
    if answer is None:
        raise Conflict(gettext("This run has given no answer."), code=Code.INVALID)
    if updates := build_use_updates(run.id, group):
        line = chats.build_system_message(
            run.get_chat_id(),
            "ANSWER_CHOSEN",
            actor=actor,
            target=run.agent,
            run_id=run.id,
            message_id=answer.id,
        )
        chats.save_changes(run.get_chat_id(), [*updates, line], changes_activity=True)
        audit.record(actor, "answer.chosen", workspace_id=run.workspace_id, object_id=run.id)
    return run


def _get_answered_run(actor: Actor, run_id: UUID, verb: ChatVerb) -> Run:
    """Return the run, whose chat is locked, if it has given an answer in the conversation."""
    if actor.is_agent:
        raise Forbidden("Only people ask for another answer, or choose one.")
    run = get_run_for(actor, run_id, verb, lock=True)
    run.refresh_from_db()
    if run.kind not in (KindName.CHAT, KindName.OTHER_ANSWER) or run.state != RunState.COMPLETED:
        raise Conflict(gettext("This run has given no answer."), code=Code.INVALID)
    return run


def _find_group_seq(run: Run) -> int:
    """Return the `seq` of the first row of the first answer of a run's group. Raises `Conflict` if the run wrote no text."""
    if run.group_seq is not None:
        return run.group_seq
    rows = Message.objects.filter(run_id=run.id).order_by("seq")
    first = rows.values_list("seq", flat=True).first()
    if first is None or not rows.filter(type="TEXT_MESSAGE").exists():
        # A run is also completed, without an answer of its own, when another run has answered its message.
        raise Conflict(gettext("This run has given no answer."), code=Code.INVALID)
    return first

"""What people do with runs: stopping one, asking again."""

from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext

from actors.models import Actor
from chats import services as chats
from chats.permissions import ChatVerb
from common.clock import now
from common.errors import Code, Conflict
from events import audit
from events.control import send_stop
from runs.kinds.transitions import build_closing_changes, build_run_update
from runs.models import ACTIVE, Run, RunState
from runs.permissions import get_run_for
from runs.services.comparisons import build_retried_side
from runs.services.dispatch import dispatch_next_run, dispatch_run
from runs.services.jobs import stop_job


@transaction.atomic
def stop_run(*, actor: Actor, run_id: UUID) -> Run:
    """Stop a run and everything it started. What waits ends at once; what is at work ends with its last transaction,
    which keeps what was said so far (RUN16).

    The person it works for and the person who set it off may do so, and editors. Raises `NotFound`, `Forbidden`,
    `Conflict` (`run_ended`).
    """
    run = get_run_for(actor, run_id, ChatVerb.STOP_ANY_RUN, own=ChatVerb.STOP_OWN_RUN, lock=True)
    return _stopped(run, actor)


@transaction.atomic
def stop_any_run(run: Run, operator: Actor) -> Run:
    """`stop_run` for an operator, who is in no chat; the run is from `get_for_operator`. Raises `Conflict` (`run_ended`)."""
    if run.chat_id is None:
        return _stopped_job(run, operator)
    chats.lock_chat(run.get_chat_id())
    return _stopped(run, operator)


def _stopped_job(run: Run, operator: Actor) -> Run:
    if run.state not in ACTIVE:
        raise Conflict(gettext("This run is over."), code=Code.RUN_ENDED)
    stop_job(run_id=run.id, actor=operator)
    audit.record(operator, "run.stopped", workspace_id=run.workspace_id, object_id=run.id)
    run.refresh_from_db()
    return run


def _stopped(run: Run, actor: Actor) -> Run:
    run.refresh_from_db()
    if run.state not in ACTIVE:
        raise Conflict(gettext("This run is over."), code=Code.RUN_ENDED)
    tree = Run.objects.filter(Q(pk=run.tree_id) | Q(root_id=run.tree_id), chat_id=run.get_chat_id(), state__in=ACTIVE)
    changes = [
        change for one in tree.select_related("agent").order_by("pk") for change in build_stop_changes(one, by=actor)
    ]
    if changes:
        chats.save_changes(run.get_chat_id(), changes)
    audit.record(actor, "run.stopped", workspace_id=run.workspace_id, object_id=run.id)
    run.refresh_from_db()
    return run


def build_stop_changes(run: Run, *, by: Actor | None = None) -> list[chats.RowChange]:
    """Return the changes that stop a run, whose chat is locked: its end, or the request to stop if a worker has it."""
    if run.state != RunState.RUNNING:
        dispatch_next_run(run.concurrency_key)
        return build_closing_changes(build_run_update(run, state=run.state), RunState.STOPPED, agent=run.agent, by=by)
    send_stop(run.tree_id)
    if run.stop_requested_at is not None:
        return []
    return [build_run_update(run, state=RunState.RUNNING).set(stop_requested_at=now(), stopped_by=by)]


@transaction.atomic
def retry_run(*, actor: Actor, run_id: UUID) -> Run:
    """Ask again after a run that failed or was stopped: a new run on the same message, for whoever asks now. Asking
    twice while it waits or works is asking once.

    Raises `NotFound`, `Forbidden`, `Conflict` when there is nothing to repeat.
    """
    run = get_run_for(actor, run_id, ChatVerb.RETRY_RUN, lock=True)
    return _repeated(run, actor, for_whom=actor)


@transaction.atomic
def retry_any_run(run: Run, operator: Actor) -> Run:
    """`retry_run` for an operator: it works for whom it worked before. Raises `Conflict` when there is nothing to repeat."""
    if run.chat_id is None:
        raise Conflict(gettext("A summary or a merge is asked for again where it was asked for."), code=Code.INVALID)
    chats.lock_chat(run.get_chat_id())
    return _repeated(run, operator, for_whom=run.on_behalf_of)


def _repeated(run: Run, actor: Actor, *, for_whom: Actor | None) -> Run:
    run.refresh_from_db()
    if run.state not in (RunState.FAILED, RunState.STOPPED):
        raise Conflict(gettext("Only a run that failed or was stopped can be repeated."), code=Code.INVALID)
    again = Run.objects.filter(
        origin="retry", concurrency_key=run.concurrency_key, trigger_id=run.trigger_id, state__in=ACTIVE
    ).first()
    if again is not None:
        return again
    again = Run(
        workspace_id=run.workspace_id,
        chat_id=run.chat_id,
        agent_id=run.agent_id,
        origin="retry",
        concurrency_key=run.concurrency_key,
        trigger_id=run.trigger_id,
        trigger_seq=run.trigger_seq,
        hops=run.hops,
        on_behalf_of=for_whom,
        triggered_by_id=run.triggered_by_id,
        payer_id=run.payer_id,
        dispatched_at=now(),
    )
    changes: list[chats.RowChange] = [again]
    if run.is_compared:
        again.spec_id, again.stamp = run.spec_id, run.stamp
        changes.append(build_retried_side(run, again))
    dispatch_run(again)
    chats.save_changes(run.get_chat_id(), changes)
    audit.record(actor, "run.repeated", workspace_id=run.workspace_id, object_id=again.id)
    return again

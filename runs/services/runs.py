"""Stop and retry runs; start and stop jobs, which are runs without a chat, such as a summary or a merge."""

from collections.abc import Sequence
from dataclasses import asdict
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils.translation import gettext

from actors.models import Actor
from agents.services.shipped import get_shipped_agent
from chats import services as chats
from chats.hooks import MessageChange
from chats.models import Chat, Message, VersionedRow
from chats.permissions import ChatVerb, compute_chat_verbs
from common.clock import now
from common.errors import Code, Conflict
from common.operators import get_for_operator
from common.writing import insert
from context.hooks import SummaryJob
from events import audit
from events.control import send_stop
from runs.errors import LeaseLost
from runs.kinds import get_kind
from runs.kinds.base import build_changes_after_end, build_run_update
from runs.kinds.chat import build_closing_changes
from runs.kinds.job import CHAT_SUMMARY, Job, JobInput
from runs.models import NOT_ENDED, KindName, Run, RunOrigin, RunState
from runs.permissions import get_run_for, is_own_run
from runs.runtime.answered_messages import replace_trigger
from runs.runtime.dispatch import dispatch_before_commit, dispatch_next_run, dispatch_run
from runs.runtime.history import list_run_ids_of_group
from runs.runtime.steps import LoopEnded
from runs.runtime.sub_agents import list_runs_to_stop
from runs.services.agent_states import publish_agent_states
from runs.services.comparisons import build_retried_side
from runs.services.other_answers import check_size_of_group
from workspaces.models import Workspace


@transaction.atomic
def stop_run(actor: Actor, run_id: UUID, *, as_operator: bool = False) -> Run:
    """Stop a run and the other active runs of its tree in its chat; of a sub-agent, only itself and the sub-agents below it. A
    run that no worker executes ends at once; else its worker ends it, and keeps what was streamed so far (RUN16).

    The person whom the run works for, the person who triggered it and editors may do so. `as_operator`: the actor is an
    operator, who needs no rights in the chat and may stop jobs, too. Stopping a stopped run changes nothing. Raises `NotFound`,
    `Forbidden`, and `Conflict` (`run_ended`) if it has ended otherwise.
    """
    run = _get_locked_run(actor, run_id, ChatVerb.STOP_ANY_RUN, own=ChatVerb.STOP_OWN_RUN, as_operator=as_operator)
    if run.state == RunState.STOPPED:
        return run
    if run.state not in NOT_ENDED:
        raise Conflict(gettext("This run is over."), code=Code.RUN_ENDED)
    if isinstance(get_kind(run), Job):
        stop_job(actor, run.id)
    elif changes := build_stop_changes(list_runs_to_stop(run), by=actor):
        chats.save_changes(run.get_chat_id(), changes)
    audit.record(actor, "run.stopped", workspace_id=run.workspace_id, object_id=run.id)
    run.refresh_from_db()
    return run


@transaction.atomic
def retry_run(actor: Actor, run_id: UUID, *, as_operator: bool = False) -> Run:
    """Retry a run that failed or was stopped: a new run answers the same message. While that one is active, return it.

    The new run works for the actor. `as_operator`: the actor is an operator, who needs no rights in the chat; the new run works
    for the same person as before. Raises `NotFound`, `Forbidden`, and `Conflict` for a run that cannot be retried.
    """
    run = _get_locked_run(actor, run_id, ChatVerb.RETRY_RUN, as_operator=as_operator)
    kind = get_kind(run)
    if kind.retry_refusal is not None:
        raise Conflict(str(kind.retry_refusal), code=Code.INVALID)
    if run.agent.runs_outside and (kind.is_participant or run.kind == KindName.OTHER_ANSWER):
        raise Conflict(gettext("An outside program answers for this agent now. Write to it again."), code=Code.INVALID)
    if run.state not in (RunState.FAILED, RunState.STOPPED):
        raise Conflict(gettext("Only a run that failed or was stopped can be retried."), code=Code.INVALID)
    active = Run.objects.filter(origin=RunOrigin.RETRY, concurrency_key=run.concurrency_key, state__in=NOT_ENDED)
    if (again := active.filter(trigger_id=run.trigger_id).first()) is not None:
        return again
    if run.group_seq is not None:
        check_size_of_group(list_run_ids_of_group(run.get_chat_id(), run.group_seq))
    if _is_answering_nothing(run):
        raise Conflict(gettext("The message that it answers was deleted."), code=Code.INVALID)
    again = Run(
        kind=run.kind,
        origin=RunOrigin.RETRY,
        workspace_id=run.workspace_id,
        chat_id=run.chat_id,
        agent_id=run.agent_id,
        concurrency_key=run.concurrency_key,
        trigger_id=run.trigger_id,
        trigger_seq=run.trigger_seq,
        group_seq=run.group_seq,
        agent_hops=run.agent_hops,
        answered_ids=run.answered_ids,
        replies_to_trigger=run.replies_to_trigger,
        woken_by_id=run.woken_by_id,
        payer_id=run.payer_id,
        triggered_by_id=run.triggered_by_id,
        on_behalf_of=run.on_behalf_of if as_operator else actor,
        dispatched_at=now(),
    )
    changes: list[chats.RowChange] = [again]
    if run.kind == KindName.COMPARISON:
        again.spec_id, again.stamp = run.spec_id, run.stamp
        changes.append(build_retried_side(run, again))
    chats.save_changes(run.get_chat_id(), changes)
    audit.record(actor, "run.retried", workspace_id=run.workspace_id, object_id=again.id)
    return again


def _is_answering_nothing(run: Run) -> bool:
    """Return whether all messages that a run answers were deleted."""
    deleted = Message.objects.filter(pk__in=run.list_message_ids(), chat=run.chat_id).values_list(
        "deleted_at", flat=True
    )
    return bool(deleted) and all(deleted)


def _get_locked_run(
    actor: Actor, run_id: UUID, verb: ChatVerb, *, own: ChatVerb | None = None, as_operator: bool
) -> Run:
    """Return the run as it is after its chat was locked. A job has no chat and is not locked. `own`: see `get_run_for`."""
    if as_operator:
        run = get_for_operator(actor, Run, run_id)
        get_kind(run).lock(run)
    else:
        run = get_run_for(actor, run_id, verb, own=own, lock=True)
    run.refresh_from_db()
    return run


def build_stop_changes(runs: Sequence[Run], *, by: Actor | None = None) -> list[chats.RowChange]:
    """Return the changes that stop runs of a locked chat. The workers that execute them are asked to stop."""
    changes: list[chats.RowChange] = []
    for run in runs:
        if run.state == RunState.RUNNING:
            send_stop(run.id)
            if run.stop_requested_at is None:
                changes.append(
                    build_run_update(run, state=RunState.RUNNING).set(stop_requested_at=now(), stopped_by=by)
                )
            continue
        dispatch_next_run(run.concurrency_key)
        if run.state in (RunState.WAITING_APPROVAL, RunState.WAITING_CHILD, RunState.WAITING_BOARD):
            publish_agent_states([run])
        update = build_run_update(run, state=run.state)
        changes += build_closing_changes(update, LoopEnded("stopped"), claimed=None, by=by)
    return [*changes, *build_changes_after_end([run for run in runs if run.ended_at is not None])]


def update_runs_of_changed_message(change: MessageChange) -> list[chats.RowChange]:
    """Return the changes of runs when a message is edited or deleted. A listener of `message_changed`.

    Queued runs read the message as it is now. Running ones that have read it read the change at their next step
    (`changed_ids`). One that waits for a board may pass its result on without another step: this answer says that it answers the
    earlier text. So does that of a run that gives another answer to this message, and does not read the change. If the message that
    a queued run would answer is deleted, the run answers the next message that addresses its agent, or is stopped. A run that has
    begun to answer the deleted message is stopped only with `stop_runs`, and only if whoever deletes the message may stop it.
    """
    message = change.message
    active = Run.objects.filter(chat=change.chat, state__in=NOT_ENDED).select_related("agent", "on_behalf_of")
    changes: list[chats.RowChange] = []
    stopped: dict[UUID, Run] = {}
    for run in active.order_by("pk"):
        has_begun = run.state != RunState.QUEUED or run.attempt > 0
        if has_begun and message.id in run.list_message_ids() and _may_stop(change, run):
            stopped |= {other.pk: other for other in list_runs_to_stop(run)}
        elif not has_begun and change.is_deleted and run.trigger_id == message.id:
            update = build_run_update(run, state=RunState.QUEUED, attempt=0)
            if run.origin == RunOrigin.WAKE and replace_trigger(update):
                changes.append(update)
            else:
                stopped[run.pk] = run  # not its tree: the run that wrote the message may have begun, and works on
        elif run.state in (RunState.RUNNING, RunState.WAITING_BOARD) and _has_read(run, message):
            changed_ids = [*(id for id in run.changed_ids if id != message.id), message.id]
            changes.append(build_run_update(run, state=run.state).set(changed_ids=changed_ids))
    changes = [one for one in changes if isinstance(one, VersionedRow) or one.row.pk not in stopped]
    return [*changes, *build_stop_changes(list(stopped.values()), by=change.actor)]


def _may_stop(change: MessageChange, run: Run) -> bool:
    """Return whether a deletion stops a run that has begun: the same run may answer other messages, for another person."""
    if not change.stop_runs:
        return False
    return is_own_run(change.actor, run) or ChatVerb.STOP_ANY_RUN in compute_chat_verbs(change.chat)


def _has_read(run: Run, message: Message) -> bool:
    """Return whether a run that has begun in the chat of the message has read it. For a run of a comparison, return False."""
    if run.kind == KindName.OTHER_ANSWER:
        return message.seq <= run.trigger_seq
    return message.seq <= run.read_to and get_kind(run).is_participant


def end_runs_of_leaver(chat: Chat, actor: Actor, remover: Actor) -> list[chats.RowChange]:
    """Return the changes that end runs when an actor leaves a chat: the runs of an agent that leaves are stopped, and runs that
    work for the person who leaves and wait for an approval fail (`rights_lost`). A listener of `actor_left`."""
    runs = Run.objects.filter(chat=chat).select_related("agent").order_by("pk")
    changes = build_changes_that_stop_agent(chat, actor)
    # Those of tasks that the actor has given are stopped above.
    waiting = list(
        runs.filter(on_behalf_of=actor, state=RunState.WAITING_APPROVAL).exclude(
            Q(agent=actor) | Q(path__contains=[actor.id])
        )
    )
    for run in waiting:
        publish_agent_states([run])
        end = LoopEnded("failed", "rights_lost", "The person it worked for has left this chat.")
        changes += build_closing_changes(build_run_update(run, state=run.state), end, claimed=None)
    return [*changes, *build_changes_after_end(waiting)]


def build_changes_that_stop_agent(chat: Chat, agent: Actor) -> list[chats.RowChange]:
    """Return the changes that stop the active runs of an agent in a locked chat, and those of its sub-agents."""
    runs = list_runs_of_agent(agent.id).filter(chat=chat, state__in=NOT_ENDED)
    return build_stop_changes(list(runs.select_related("agent").order_by("pk")))


def list_runs_of_agent(agent_id: UUID) -> QuerySet[Run]:
    """Return the runs of an agent and of its sub-agents, in all chats."""
    return Run.objects.filter(Q(agent=agent_id) | Q(path__contains=[agent_id]))


def stop_runs_of_workspace(workspace: Workspace, actor: Actor) -> None:
    """Ask the workers to stop the runs of a deleted workspace. Those that no worker executes are not started any more, because
    their people have no rights, and the purge deletes them. A listener of `workspace_deleted`."""
    active = Run.objects.filter(workspace=workspace, state__in=NOT_ENDED).order_by("pk").select_for_update(no_key=True)
    runs = list(active.only("pk"))
    Run.objects.filter(pk__in=[run.pk for run in runs]).update(stop_requested_at=now(), stopped_by=actor)
    for run in runs:
        send_stop(run.pk)


@transaction.atomic
def start_job(actor: Actor, workspace_id: UUID, *, kind: Job, subject_id: UUID, job_input: JobInput) -> Run:
    """Start a job for a person; the workspace pays. The hook `runs_ended` is called once, at its end. The jobs of a subject run
    one after the other. The caller has checked the actor's rights to the subject."""
    run = Run(
        workspace_id=workspace_id,
        agent=get_shipped_agent(kind.agent_handle),
        kind=kind.name,
        origin=RunOrigin.JOB,
        concurrency_key=f"{kind.name}:{subject_id}",
        trigger_id=subject_id,
        payer_id=workspace_id,
        on_behalf_of=actor,
        triggered_by=actor,
        input=asdict(job_input),
        dispatched_at=now(),
    )
    insert([run])
    dispatch_run(run)
    return run


def dispatch_new_runs(chat_id: UUID, rows: Sequence[VersionedRow]) -> None:
    """Send the runs among new rows of a chat to the workers before they are committed. A listener of `rows_inserted`."""
    runs = [row for row in rows if isinstance(row, Run) and get_kind(row).is_dispatched_before_commit]
    if runs:
        dispatch_before_commit(chat_id, runs)


def start_summary_job(job: SummaryJob) -> list[UUID]:
    """Start the job that writes the summary of a chat. A listener of `summary_requested`."""
    job_input = JobInput(text=job.text, input=job.data, expected=job.expected)
    run = start_job(job.person, job.workspace_id, kind=CHAT_SUMMARY, subject_id=job.chat_id, job_input=job_input)
    return [run.id]


@transaction.atomic
def stop_job(actor: Actor, run_id: UUID) -> Run:
    """Stop a job if it is active. A queued job has ended when this returns; else the worker that executes it ends it. The caller
    has checked the actor's rights to the subject of the job."""
    run = Run.objects.select_related("agent").get(pk=run_id, chat=None)
    kind = get_kind(run)
    if run.state == RunState.QUEUED:
        try:
            with transaction.atomic():
                update = build_run_update(run, state=RunState.QUEUED, attempt=run.attempt).set(stopped_by=actor)
                kind.close(update, LoopEnded("stopped"), claimed=None)
        except LeaseLost:
            pass  # a worker has claimed it meanwhile
        else:
            dispatch_next_run(run.concurrency_key)
            return run
    running = Run.objects.filter(pk=run.pk, state__in=NOT_ENDED, stop_requested_at=None)
    if running.update(stop_requested_at=now(), stopped_by=actor):
        send_stop(run.id)
    return run

"""Sub-agents: the runs that do the tasks which an agent gives to others.

The calls of an answer that give tasks become runs, and their caller waits for all of them without a lease and without a slot
(`waiting_child`). The end of the last of them queues the caller again, as a decision of a person does. The caller then continues as
after a crash, and reads what the sub-agents answered. All this is done while the chat is locked, so no sub-agent starts or ends
unnoticed. A run is created once for each call: `one_child_per_call`.
"""

import json
from collections.abc import Sequence
from typing import Any

from django.db.models import Q

from actors.models import Actor
from agents.specs.content import Limits
from agents.sub_agents import MAX_DEPTH
from chats.models import Message
from chats.services import RowChange
from common.clock import now
from common.writing import RowUpdate
from events.payloads import SubAgentResultData
from events.rows import MessageMetadata
from files.selectors import find_passable_files
from llm.messages import ToolCall
from runs.errors import LeaseLost
from runs.models import NOT_ENDED, KindName, Run, RunState
from runs.prepared_queries import (
    ACTORS,
    ENDED_SUB_AGENTS,
    LAST_TEXTS,
    SUB_AGENTS_OF_STEP,
    SUB_AGENTS_OF_TREE,
    WAITING_CALLERS,
)
from runs.runtime.dispatch import dispatch_run, dispatch_siblings
from runs.runtime.steps import ToolResult, ToolStatus, WaitingCall
from runs.runtime.tasks import TaskInput, build_task_run
from runs.runtime.waits import WaitKind
from tools.interface import AgentTask

MAX_TASKS_AT_ONCE = (10, 5, 3, 2, 1)
"""Tasks for other agents in one answer of an agent, by its depth."""
MAX_TASKS_OF_TREE = 50
"""Runs of sub-agents in one tree: a run with all runs that it starts."""
TOO_MANY = f"{MAX_TASKS_OF_TREE} tasks were given to other agents already; no more are allowed."
MAX_SUMMARY_CHARACTERS = 16_000
MAX_SHOWN_CHARACTERS = 300  # of a summary on the screen


class SubAgentWaits(WaitKind[AgentTask]):
    """Calls that give other agents tasks: each waits for the run of the other agent."""

    name = AgentTask.kind

    def find_refusal(self, run: Run, wait: AgentTask, others: Sequence[AgentTask]) -> str:
        path = run.agent_path
        depth = len(path) - 1
        most = MAX_TASKS_AT_ONCE[min(depth, len(MAX_TASKS_AT_ONCE) - 1)]
        if wait.agent_id in path:
            return "This agent waits for your answer itself, or is you: it was given no task."
        if depth >= min(wait.max_depth, MAX_DEPTH):
            return "You were given this task by another agent, and may not give it to one more. Do it yourself."
        if len(others) >= most:
            return f"At most {most} tasks are given at the same time: not this one. Give it when the others are done."
        return ""

    def start(self, update: RowUpdate[Run], calls: Sequence[WaitingCall]) -> list[RowChange]:
        """Return the new runs for these tasks. A task above `MAX_TASKS_OF_TREE` gets no run (`find_refused`)."""
        caller = update.row
        tree = SUB_AGENTS_OF_TREE.rows(caller.tree_id)
        known = {call_id: state for parent_id, call_id, state in tree if parent_id == caller.id}
        tasks = [(waiting.call.id, _get_task(waiting)) for waiting in calls]
        agents = {agent.id: agent for agent in ACTORS.all([task.agent_id for _, task in tasks])}
        runs: list[Run] = []
        for call_id, task in tasks:
            if call_id not in known and len(tree) + len(runs) < MAX_TASKS_OF_TREE:
                runs.append(_build_run(caller, call_id, task, agents[task.agent_id]))
        dispatch_siblings(runs)
        update.set(lease_owner="", lease_until=None)
        if runs or any(state in NOT_ENDED for state in known.values()):
            update.set(state=RunState.WAITING_CHILD)
        else:
            update.set(state=RunState.QUEUED, dispatched_at=None if caller.is_isolated else now())
            dispatch_run(caller)
        return [*runs]

    def find_results(self, run: Run, calls: Sequence[ToolCall]) -> dict[str, ToolResult]:
        by_id = {call.id: call for call in calls}
        ended = ENDED_SUB_AGENTS.all(run.id, list(by_id))
        texts = {text.run_id: text for text in LAST_TEXTS.all([task_run.id for task_run in ended])} if ended else {}
        return {
            task_run.call_id: _build_task_result(by_id[task_run.call_id], task_run, texts.get(task_run.id))
            for task_run in ended
        }

    def find_refused(self, run: Run, calls: Sequence[ToolCall]) -> dict[str, ToolResult]:
        """Return the results of those of these tasks that are not given, because their tree has as many as `MAX_TASKS_OF_TREE`."""
        tree = SUB_AGENTS_OF_TREE.rows(run.tree_id) if calls else ()
        if len(tree) < MAX_TASKS_OF_TREE:
            return {}
        given = {call_id for parent_id, call_id, _ in tree if parent_id == run.id}
        return {call.id: ToolResult(call, "error", TOO_MANY) for call in calls if call.id not in given}


SUB_AGENT_WAITS = SubAgentWaits()


def _get_task(waiting: WaitingCall) -> AgentTask:
    if not isinstance(waiting.wait, AgentTask):
        raise TypeError(f"The call {waiting.call.id} gives no task.")
    return waiting.wait


def _build_run(caller: Run, call_id: str, task: AgentTask, agent: Actor) -> Run:
    seconds_of_caller = caller.compute_seconds_left(Limits.model_validate(caller.limits).max_seconds)
    above = [caller.agent.handle]
    if caller.metadata is not None:
        above = MessageMetadata.model_validate(caller.metadata).agent.path
    given_ids = TaskInput.from_run(caller).file_ids if caller.input is not None else None
    task_input = TaskInput(
        text=task.text,
        author_id=str(caller.agent_id),
        author_name=caller.agent.name,
        context=task.context,
        file_ids=find_passable_files(task.file_ids, caller.get_chat_id(), given_ids),
        max_steps=task.max_steps,
        max_seconds=min(task.max_seconds, max(seconds_of_caller, 0.0)),
    )
    return build_task_run(
        KindName.SUB_AGENT,
        agent,
        task_input,
        path=[*caller.agent_path, agent.id],
        handles=[*above, agent.handle],
        call_id=call_id,
        id=task.id,
        workspace_id=caller.workspace_id,
        chat_id=caller.chat_id,
        concurrency_key=f"{caller.id}:{call_id}",
        root_id=caller.tree_id,
        parent=caller,
        agent_hops=caller.agent_hops,
        on_behalf_of_id=caller.on_behalf_of_id,
        triggered_by_id=caller.triggered_by_id,
        payer_id=caller.payer_id,
    )


def _build_task_result(call: ToolCall, task_run: Run, message: Message | None) -> ToolResult:
    """Return the result of an ended sub-agent for its caller: a JSON object for the model, and data for the screen.
    `message`: its last text message, null if it has none."""
    summary = message.text[:MAX_SUMMARY_CHARACTERS] if message else ""
    is_ok = task_run.state == RunState.COMPLETED
    seconds = max((task_run.ended_at - task_run.created_at).total_seconds(), 0.0) if task_run.ended_at else None
    data = SubAgentResultData(
        run_id=task_run.id,
        agent_id=task_run.agent_id,
        name=task_run.agent.name,
        message_id=message.id if message else None,
        state=task_run.state,
        error_code=task_run.error_code or None,
        summary=" ".join(summary.split())[:MAX_SHOWN_CHARACTERS],
        steps=task_run.steps_done,
        seconds=seconds,
        cost_micro=task_run.cost_micro,
    )
    result: dict[str, Any] = {"ok": is_ok, "messageId": str(message.id) if message else None, "summary": summary}
    if not is_ok:
        stopped = "A person has stopped this task." if task_run.stopped_by_id else "This task was stopped."
        result["error"] = task_run.error or stopped
    status: ToolStatus = "ok" if is_ok else "stopped" if task_run.state == RunState.STOPPED else "error"
    return ToolResult(
        call, status, json.dumps(result, ensure_ascii=False), seconds=seconds, data=data, quotes_agents=True
    )


def queue_callers(ended: Sequence[Run]) -> list[RowUpdate[Run]]:
    """Return the changes that queue the callers of sub-agents that end. A caller is left out if it waits for others, or is in
    `ended`. The chat is locked."""
    ended_ids = {run.id for run in ended}
    parent_ids = {run.parent_id for run in ended if run.parent_id is not None} - ended_ids
    if not parent_ids:
        return []
    updates: list[RowUpdate[Run]] = []
    for caller in WAITING_CALLERS.all(list(parent_ids), list(ended_ids)):
        waited = caller.waited_seconds + _compute_seconds_waited(caller)
        dispatch_run(caller)
        update = RowUpdate(
            caller, only_if={"state": RunState.WAITING_CHILD, "attempt": caller.attempt}, error=LeaseLost
        )
        dispatched_at = None if caller.is_isolated else now()
        updates.append(update.set(state=RunState.QUEUED, dispatched_at=dispatched_at, waited_seconds=waited))
    return updates


def _compute_seconds_waited(caller: Run) -> float:
    """Return how long people kept the caller waiting: the longest wait of the sub-agents that it waits for, with the waits of their
    own sub-agents. Those that have ended, or were stopped, count as well."""
    waited = [
        run.waited_seconds
        + (((run.ended_at or now()) - run.waiting_since).total_seconds() if run.waiting_since else 0)
        + (_compute_seconds_waited(run) if run.state == RunState.WAITING_CHILD else 0)
        for run in SUB_AGENTS_OF_STEP.all(caller.id, caller.steps_done)
    ]
    return max(waited, default=0.0)


def list_runs_to_stop(run: Run) -> list[Run]:
    """Return the active runs that are stopped with this one, the oldest first: those of its tree or, for a sub-agent, itself and
    the sub-agents below it. The chat is locked."""
    tree = Run.objects.filter(Q(pk=run.tree_id) | Q(root_id=run.tree_id), chat=run.get_chat_id(), state__in=NOT_ENDED)
    active = list(tree.select_related("agent").order_by("pk"))
    if run.parent_id is None:
        return active
    found = {run.id}
    for other in active:  # a sub-agent is younger than its caller
        if other.parent_id in found:
            found.add(other.id)
    return [other for other in active if other.id in found]

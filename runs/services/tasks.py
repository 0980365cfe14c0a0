"""Start runs that do tasks of an app, such as the tasks of a plan. Tasks that a run gives are started in
`runs/runtime/sub_agents.py`."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from actors.models import Actor
from chats.models import Chat
from common.ids import new_id
from events.rows import TextsOfOthers
from files.selectors import find_passable_files
from runs.kinds.task import TaskRun
from runs.models import Run
from runs.runtime.dispatch import dispatch_run
from runs.runtime.tasks import TaskInput, build_task_run


def start_task_run(
    actor: Actor,
    chat: Chat,
    agent: Actor,
    *,
    kind: TaskRun,
    author: Actor,
    text: str,
    context: dict[str, Any] | None = None,
    file_ids: Collection[UUID] = (),
    max_steps: int | None = None,
    max_seconds: float | None = None,
    read_texts: TextsOfOthers | None = None,
    output_schema: dict[str, Any] | None = None,
    subject_id: UUID | None = None,
    key: str = "",
    agent_hops: int = 0,
    is_dispatched: bool = True,
) -> Run:
    """Return the new run of a task that no other run has given, which is dispatched on commit. The caller has locked the chat,
    and saves the run with its other changes of the chat.

    The run works for `actor`, a person. `author`: that person, or the agent that has given the task. The agent that does it need
    not be in the chat; its own rights and those of the others are checked when the run is claimed and at each step
    (`lock_chat_of_tasks`). It reads those of the files that were posted in the chat. The hook `runs_ended` is called once, at its
    end.

    `read_texts`: whose texts the task may contain, besides those of the person; null: that is not known. `output_schema`: the JSON
    schema of an object, which the answer has to follow. `subject_id`: what
    the task is a part of, which the run has as its `trigger_id` and its messages as the id of their call. `key`: the
    concurrency key, which only one run has; by default one of its own. `agent_hops`: messages of agents in a row that led to the
    task."""
    task = TaskInput(
        text=text,
        author_id=str(author.id),
        author_name=author.name,
        context=context,
        file_ids=find_passable_files(file_ids, chat.id, None),
        max_steps=max_steps,
        max_seconds=max_seconds,
        read_texts=None if read_texts is None else read_texts.value,
        output_schema=output_schema,
    )
    id = new_id()
    run = build_task_run(
        kind.name,
        agent,
        task,
        path=[author.id, agent.id],
        handles=[author.handle, agent.handle],
        id=id,
        workspace_id=chat.workspace_id,
        chat=chat,
        call_id="" if subject_id is None else str(subject_id),
        trigger_id=subject_id,
        concurrency_key=key or f"{kind.name}:{id}",
        on_behalf_of=actor,
        triggered_by=actor,
        payer_id=chat.workspace_id,
        agent_hops=agent_hops,
    )
    if is_dispatched:
        dispatch_run(run)
    return run

"""Tasks: the input of a run that reads no message of its chat. Another run gives a task (`sub_agents.py`), or an app does
(`start_task_run` in `runs/services/tasks.py`)."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

from actors.models import Actor
from common.clock import now
from events.rows import MessageMetadata, SubAgentMetadata
from llm.structured import AnswerForm, InvalidAnswer
from runs.models import Run, RunOrigin
from tools.arguments import ArgumentsNotCheckable, find_problems
from tools.registry import SUBMIT_RESULT

MAX_DATA_CHARACTERS = 16_000
"""Characters of the JSON of a result. In UTF-8 they are at most 64 kB."""
MAX_PROBLEM = 200
"""Characters of one problem of a result that the model is told."""


@dataclass(frozen=True)
class TaskInput:
    """The input of a run that does a task: what is to be done, who wants it, and which files the run may read. The run ends after
    `max_steps` or `max_seconds`, or at the limits of its agent's version if they are lower. `read_texts`: whose texts the task may
    contain, besides those of the person for whom the run works (`TextsOfOthers`); null: that is not known.
    `output_schema`: the JSON schema of an object, which the answer has to follow; null: the answer is a text."""

    text: str
    author_id: str
    author_name: str
    context: dict[str, Any] | None = None
    file_ids: list[str] = field(default_factory=list)
    max_steps: int | None = None
    max_seconds: float | None = None
    read_texts: str | None = None
    output_schema: dict[str, Any] | None = None

    @classmethod
    def from_run(cls, run: Run) -> "TaskInput":
        """Return the task of this run. Raises `TypeError` for a run that does none."""
        return cls(**(run.input or {}))

    def build_message(self) -> str:
        """Return the task as the message that the model reads."""
        if self.context is None:
            return self.text
        return f"{self.text}\n\nContext:\n{json.dumps(self.context, ensure_ascii=False)}"


def build_result_form(schema: dict[str, Any]) -> AnswerForm:
    """Return the form of the answer of a task whose result follows this JSON schema. A run whose answer does not follow it
    after the repairs fails (`answer_invalid`)."""
    return AnswerForm(
        SUBMIT_RESULT,
        "Hand in the result of your task. This ends it: call it once, by itself, when you have all that you need.",
        schema,
        check=partial(_check_result, schema),
        must_fit=True,
    )


def _check_result(schema: dict[str, Any], value: dict[str, Any]) -> None:
    """Raise `InvalidAnswer` for a result that is too long or does not follow its schema."""
    if len(json.dumps(value, ensure_ascii=False)) > MAX_DATA_CHARACTERS:
        raise InvalidAnswer(f"The result has more than {MAX_DATA_CHARACTERS:,} characters: write less.")
    try:
        problems = find_problems(schema, value)
    except ArgumentsNotCheckable as error:
        raise InvalidAnswer("It cannot be checked whether the result follows its schema.") from error
    if problems:
        raise InvalidAnswer("\n".join(f"- {problem[:MAX_PROBLEM]}" for problem in problems), code="wrong_shape")


def build_task_run(
    kind: str,
    agent: Actor,
    task: TaskInput,
    *,
    path: Sequence[UUID],
    handles: Sequence[str],
    call_id: str = "",
    **columns: Any,
) -> Run:
    """Return the new run of a task, with these further columns. `path`, `handles`: who has given the first task,
    and the agents from there to this one."""
    depth = len(path) - 1
    sub_agent = SubAgentMetadata(name=agent.handle, displayName=agent.name, depth=depth, path=list(handles))
    metadata = MessageMetadata(agent=sub_agent, call_id=call_id, avatar=agent.avatar)
    return Run(
        agent=agent,
        kind=kind,
        origin=RunOrigin.TASK,
        path=list(path),
        depth=depth,
        call_id=call_id,
        metadata=metadata.model_dump(mode="json"),
        input=asdict(task),
        deadline_at=None if task.max_seconds is None else now() + timedelta(seconds=task.max_seconds),
        dispatched_at=now(),
        **columns,
    )

"""A plan: the tasks of a board as a model, a person or an earlier board has written them. It is checked here, without the
database."""

import json
from collections.abc import Iterable, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Annotated, Any, Protocol
from uuid import UUID

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from pydantic import BaseModel, ConfigDict, Field

from common.request_types import NOT_BLANK
from events.rows import FailureRule, JoinRule

MAX_TASKS = 50
"""Tasks of a plan by hand."""
MAX_DESCRIPTION = 20_000
MAX_PARAMETER_CHARACTERS = 20_000
"""Characters of the JSON of a task's parameters."""
MAX_SCHEMA_CHARACTERS = 20_000
"""Characters of the JSON schema of a task's result."""
MAX_SCHEMA_DEPTH = 20
MAX_SCHEMA_PARTS = 1_000
"""Objects, lists and truth values of the different schemas of a plan together: each may be a schema, whose check takes up to a
millisecond. The chat is locked meanwhile."""
MAX_PLAN_CHARACTERS = 100_000
"""Characters of the descriptions, parameters and schemas of a plan together. Every client that opens the chat loads them until the
board has ended."""
TOO_LONG = f"The descriptions, parameters and schemas of a plan have at most {MAX_PLAN_CHARACTERS:,} characters."
MAX_ATTEMPTS = 5
MAX_FILES = 20


class PlannedTask(BaseModel):
    """A task of a plan: the agent, what it is to do, and the numbers of the tasks of the plan (from 1) that it follows.
    `output_schema`: the JSON schema of an object, which its result has to follow; null: the result is a text."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    agent_id: UUID
    description: Annotated[str, Field(min_length=1, max_length=MAX_DESCRIPTION, pattern=NOT_BLANK)]
    parameters: dict[str, Any] = {}
    after: Annotated[list[Annotated[int, Field(ge=1, le=MAX_TASKS)]], Field(max_length=MAX_TASKS)] = []
    join: JoinRule = JoinRule.ALL
    on_failure: FailureRule = FailureRule.GO_ON
    max_attempts: Annotated[int, Field(ge=1, le=MAX_ATTEMPTS)] = 2
    file_ids: Annotated[list[UUID], Field(max_length=MAX_FILES)] = []
    output_schema: dict[str, Any] | None = None


class TaskTexts(Protocol):
    """A task that is planned or stored."""

    @property
    def description(self) -> str: ...
    @property
    def parameters(self) -> dict[str, Any]: ...
    @property
    def output_schema(self) -> dict[str, Any] | None: ...


def count_characters(value: dict[str, Any]) -> int:
    """Return the number of characters of the JSON of a task's parameters or schema."""
    return len(_dump(value))


def _dump(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False)


def find_problems(tasks: Sequence[PlannedTask], *, max_tasks: int = MAX_TASKS) -> list[str]:
    """Return what is wrong with the order, the size and the schemas of a plan, for the model or the person who has written it."""
    if problem := _find_size_problem(tasks, max_tasks):
        return [problem]
    problems: list[str] = []
    problems_of_schemas = {text: _find_schema_problem(schema) for text, schema in _list_schemas(tasks).items()}
    for number, task in enumerate(tasks, 1):
        if unknown := sorted(after for after in set(task.after) if after > len(tasks)):
            problems.append(f"Task {number} follows task {unknown[0]}, which is not in the plan.")
        if number in task.after:
            problems.append(f"Task {number} follows itself.")
        if count_characters(task.parameters) > MAX_PARAMETER_CHARACTERS:
            problems.append(f"The parameters of task {number} have more than {MAX_PARAMETER_CHARACTERS:,} characters.")
        if task.output_schema is not None and (problem := problems_of_schemas[_dump(task.output_schema)]):
            problems.append(f"The output schema of task {number} {problem}.")
    if problems:
        return problems
    try:
        TopologicalSorter({number: task.after for number, task in enumerate(tasks, 1)}).prepare()
    except CycleError as error:
        cycle = ", ".join(str(number) for number in error.args[1][1:])
        return [f"The tasks {cycle} wait for each other."]
    return []


def _find_schema_problem(schema: dict[str, Any]) -> str:
    """Return why results cannot follow this schema, or an empty text."""
    if schema.get("type") != "object":
        return 'is not that of an object ("type": "object")'
    level: list[Any] = [schema]
    for _ in range(MAX_SCHEMA_DEPTH):
        references = [value.get("$ref") for value in level if isinstance(value, dict)]
        if any(isinstance(reference, str) and not reference.startswith("#") for reference in references):
            return "refers to another document"
        level = [child for value in level for child in _list_children(value)]
        if not level:
            break
    else:
        return f"is nested more than {MAX_SCHEMA_DEPTH} levels deep"
    if count_characters(schema) > MAX_SCHEMA_CHARACTERS:
        return f"has more than {MAX_SCHEMA_CHARACTERS:,} characters"
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        path = ".".join(map(str, error.absolute_path))
        return f"is not valid{f' at {path}' if path else ''}: {error.message[:200]}"
    return ""


def _list_schemas(tasks: Sequence[PlannedTask]) -> dict[str, dict[str, Any]]:
    """Return the different schemas of a plan, by their JSON."""
    return {_dump(task.output_schema): task.output_schema for task in tasks if task.output_schema is not None}


def _count_parts(schema: dict[str, Any]) -> int:
    """Return the number of objects, lists and truth values of a schema."""
    count, level = 0, [schema]
    while level:
        values = [value.values() if isinstance(value, dict) else value for value in level]
        count += len(level) + sum(isinstance(item, bool) for items in values for item in items)
        level = [child for value in level for child in _list_children(value)]
    return count


def _list_children(value: Any) -> list[Any]:
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [child for child in children if isinstance(child, (dict, list))]


def is_too_long(tasks: Iterable[TaskTexts]) -> bool:
    """Return whether the texts of a plan have more than `MAX_PLAN_CHARACTERS` characters together."""
    return sum(map(_count_characters_of_task, tasks)) > MAX_PLAN_CHARACTERS


def _count_characters_of_task(task: TaskTexts) -> int:
    of_schema = count_characters(task.output_schema) if task.output_schema else 0
    return len(task.description) + count_characters(task.parameters) + of_schema


def _find_size_problem(tasks: Sequence[PlannedTask], max_tasks: int) -> str:
    """Return why a plan is too small or too large; empty if it is neither."""
    if not tasks:
        return "A plan has at least one task."
    if len(tasks) > max_tasks:
        return f"A plan has at most {max_tasks} tasks, not {len(tasks)}."
    if is_too_long(tasks):
        return TOO_LONG
    if sum(map(_count_parts, _list_schemas(tasks).values())) > MAX_SCHEMA_PARTS:
        return f"The schemas of a plan have at most {MAX_SCHEMA_PARTS:,} objects, lists and truth values together."
    return ""

"""Tasks whose results follow a schema: how they are asked for, repaired, refused and passed on."""

import json

import pytest

from boards.models import TaskResult
from common.bounded import BoundedMap
from common.errors import Invalid
from llm import structured
from runs.models import Run, Step
from tests.boards.fixtures import PlanTasks
from tests.boards.test_execution import list_requests

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("receiving_engine")]

SCHEMA = {
    "type": "object",
    "properties": {"days": {"type": "array", "items": {"type": "integer"}, "minItems": 1}, "note": {"type": "string"}},
    "required": ["days"],
    "additionalProperties": False,
}


@pytest.fixture(autouse=True)
def forget_techniques(monkeypatch):
    monkeypatch.setattr(structured, "_techniques", BoundedMap(10_000))


def submit(**result):
    return {"calls": [{"name": "submit_result", "arguments": json.dumps(result)}]}


def script_weather(environment, *answers):
    """Let the model of Weather give these answers in order: scripts that were added later come first."""
    for answer in reversed(answers):
        scripted = {"text": answer} if isinstance(answer, str) else answer
        environment.model.script(system="You are Weather.", times=1, **scripted)


def test_BRD18_the_data_of_a_result_follows_the_schema_of_its_task(environment, boards):
    script_weather(environment, submit(days=[19, 20], note="乾燥"))
    environment.model.script(system="You are Finance.", text="89,080.")
    environment.model.script(match="Answer this request", text="Go on 19 November.")
    board = boards.create(
        boards.plan("Find dry days", output_schema=SCHEMA), boards.plan("Add it up", boards.finance, after=[1])
    )
    board = boards.wait_until_ended(board)
    assert (board.state, boards.list_states(board)) == ("completed", ["succeeded", "succeeded"])
    result = TaskResult.objects.get(task__board=board, task__number=1)
    assert (result.data, result.follows_schema, result.file_ids) == ({"days": [19, 20], "note": "乾燥"}, True, [])
    row, detail = result.to_row(), result.to_detail_row()
    assert (json.loads(row.text), row.follows_schema) == (result.data, True)
    assert (detail.data, detail.message_id) == (result.data, row.message_id)
    assert boards.task(board, 1).output_schema == SCHEMA
    assert TaskResult.objects.get(task__board=board, task__number=2).data == {"text": "89,080.", "files": []}
    [sent] = [sent.body for sent in environment.model.requests if "You are Weather." in json.dumps(sent.body)]
    assert sent["tool_choice"] == {"type": "function", "function": {"name": "submit_result"}}
    assert [tool["function"]["parameters"] for tool in sent["tools"]] == [SCHEMA]
    [request] = list_requests(environment, "You are Finance.")
    assert '\\"data\\": {\\"days\\": [19, 20]' in request, "the next task reads the values"


def test_BRD18_an_answer_that_does_not_follow_the_schema_is_repaired(environment, boards):
    script_weather(environment, "19 and 20 November.", submit(days=[]), submit(days=[19]))
    board = boards.wait_until_ended(boards.create(boards.plan("Find dry days", output_schema=SCHEMA)))
    assert (board.state, json.loads(board.final_response)) == ("completed", {"days": [19]})
    assert boards.task(board, 1).attempt == 1
    [run] = Run.objects.all()
    assert (run.state, run.steps_done, Step.objects.filter(run=run).count()) == ("completed", 3, 3)
    requests = list_requests(environment, "You are Weather.")
    assert "not JSON" in requests[1]
    assert "days: [] should be non-empty" in requests[2]
    texts = [row.text for row in environment.log("TEXT_MESSAGE") if row.run_id == run.id]
    assert [json.loads(text) for text in texts] == [{"days": [19]}], "refused answers are no messages"


def test_BRD18_an_answer_that_follows_no_schema_after_the_repairs_is_a_failed_result(environment, boards):
    environment.model.script(system="You are Weather.", **submit(days="none"))
    board = boards.wait_until_ended(boards.create(boards.plan("Find dry days", output_schema=SCHEMA, max_attempts=1)))
    assert (board.state, board.reason_code, boards.list_states(board)) == ("failed", "no_results", ["failed"])
    [result] = TaskResult.objects.all()
    assert (result.success, result.error_code, result.data) == (False, "answer_invalid", None)
    assert "days: 'none' is not of type 'array'" in str(result.error)
    assert len(environment.model.requests) == 3
    [run] = Run.objects.all()
    assert (run.state, run.error_code) == ("failed", "answer_invalid")


def test_BRD18_an_agent_uses_its_tools_before_it_hands_its_result_in(environment, boards):
    """It is made to hand it in only when it has answered otherwise."""
    agent = environment.add_agent("Almanac", prompt="You are Almanac.", tools=["current_time"])
    agent.accepts_tasks = True
    agent.save(update_fields=["accepts_tasks"])
    clock = {"name": "current_time", "arguments": "{}"}
    both = {"calls": [{"name": "submit_result", "arguments": '{"days": [1]}'}, clock]}
    for answer in reversed([both, {"text": "I know now."}, submit(days=[29])]):
        environment.model.script(system="You are Almanac.", times=1, **answer)
    board = boards.wait_until_ended(boards.create(boards.plan("Which day is it?", agent, output_schema=SCHEMA)))
    assert json.loads(board.final_response) == {"days": [29]}
    bodies = [sent.body for sent in environment.model.requests]
    assert [{tool["function"]["name"] for tool in body["tools"]} for body in bodies] == [
        {"current_time", "submit_result"}
    ] * 3
    assert [body.get("tool_choice", "auto") for body in bodies[:2]] == ["auto", "auto"]
    assert bodies[2]["tool_choice"] == {"type": "function", "function": {"name": "submit_result"}}
    called = [row.payload["name"] for row in environment.log("TOOL_CALL")]
    assert called == ["current_time"], "a result beside another call is not the result"


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        ({"type": "array"}, "is not that of an object"),
        ({"type": "object", "properties": {"a": {"type": "no-type"}}}, "is not valid at properties.a.type"),
        ({"type": "object", "properties": {"a": {"$ref": "https://example.com/a"}}}, "refers to another document"),
        ({"type": "object", "description": "a" * 20_000}, "has more than 20,000 characters"),
    ],
)
def test_BRD18_a_schema_that_no_result_can_follow_is_refused_with_the_plan(boards, schema, problem):
    with pytest.raises(Invalid) as raised:
        boards.create(boards.plan("Find dry days", output_schema=schema))
    assert problem in raised.value.hints[0]
    assert not TaskResult.objects.exists()


def test_BRD18_a_deep_schema_is_refused(boards):
    schema: dict = {"type": "object"}
    for _ in range(30):
        schema = {"type": "object", "properties": {"a": schema}}
    with pytest.raises(Invalid) as raised:
        boards.create(boards.plan("Find dry days", output_schema=schema))
    assert "nested more than 20 levels deep" in raised.value.hints[0]


@pytest.mark.parametrize("part", [{}, True])
def test_BRD18_the_number_of_schemas_in_the_schemas_of_a_plan_is_limited(boards, part):
    """Each of these parts is a schema, too. Checking them would take seconds, in which the chat is locked."""
    schemas = [{"type": "object", "title": str(number), "allOf": [part] * 3_200} for number in range(4)]
    with pytest.raises(Invalid) as raised:
        boards.create(*(boards.plan("Find dry days", output_schema=schema) for schema in schemas))
    assert raised.value.hints == ["The schemas of a plan have at most 1,000 objects, lists and truth values together."]
    fields = {f"day_{number}": {"type": "string", "description": "What is on"} for number in range(100)}
    same = {"type": "object", "properties": fields, "required": [*fields], "additionalProperties": False}
    board = boards.create(*(boards.plan("Find dry days", output_schema=same) for _ in range(10)), start=False)
    assert board.task_count == 10, "equal schemas are checked once"


def test_BRD18_a_supervisor_asks_for_results_by_a_schema(environment, boards, supervisor):
    script_weather(environment, submit(days=[19]))
    supervisor.script_plan(
        {"agent": "weather", "description": "Find dry days", "output_schema": SCHEMA},
        requires_aggregation=True,
        then={"text": "Go on 19 November."},
    )
    supervisor.ask()
    board = boards.wait_until_ended(supervisor.get_board())
    assert (board.state, board.final_response) == ("completed", "Go on 19 November.")
    [read] = [row for row in environment.log("TOOL_RESPONSE") if row.payload["name"] == PlanTasks.name]
    assert json.loads(read.payload["text"])["results"][0]["data"] == {"days": [19]}

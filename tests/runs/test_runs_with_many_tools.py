"""Runs with more than thirty tools: the model finds those of the workspace, and is offered what it has found."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from chats.models import Message
from chats.services.text_sources import classify_texts_of_others
from events.payloads import FoundTool, FoundToolsData
from events.rows import Policy
from runs.runtime.offered_tools import MAX_OFFERED
from runs.runtime.steps import ToolResult, ToolsFinished, ToolsStarted
from tests.factories.agents import add_tool_use
from tests.factories.tools import ToolPolicyFactory, ToolServerFactory, WorkspaceToolFactory
from tests.recorder import Recorder
from tests.runs.test_takeover import MODEL, answer, claimed, expire
from tools.models import WorkspaceTool

pytestmark = pytest.mark.django_db(transaction=True)

SYSTEM_TOOLS = ["current_time", "find_tools"]
BOOKING = ["book_room", "book_table"]


class _Answers(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.end_headers()
        self.wfile.write(b"done by the server")

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture
def base_url(settings, environment) -> Iterator[str]:
    """A server that answers each call."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Answers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    host = f"127.0.0.1:{server.server_port}"
    settings.ALLOW_PRIVATE_HOSTS |= {host}
    yield f"http://{host}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def add_tools(environment, base_url):
    """Give Robin so many tools of the workspace, the first two of which book something."""

    def add(count: int, **fields) -> list[str]:
        server = ToolServerFactory.create(workspace=environment.team.workspace, name="Hotel", base_url=base_url)
        names = [*BOOKING, *(f"count_things_{number}" for number in range(count - len(BOOKING)))]
        for name in names:
            description = "Reserve it for a guest." if name in BOOKING else "Say how many things there are in a place."
            WorkspaceToolFactory.create(
                workspace=environment.team.workspace, server=server, name=name, description=description, **fields
            )
            add_tool_use(environment.team.robin.current_spec, name, usage_instructions=f"Instructions of {name}.")
        return names

    return add


def list_offered(environment) -> list[list[str]]:
    """Return the names of the tools that each request offered."""
    return [[tool["function"]["name"] for tool in asked.body["tools"]] for asked in environment.model.requests]


def script(environment, *calls: tuple[str, str]) -> None:
    """Let the model make these calls one after the other, and then answer."""
    environment.model.script(text="done")
    for name, arguments in reversed(calls):
        environment.model.script(calls=[{"name": name, "arguments": arguments}], times=1)


@pytest.mark.usefixtures("engine")
def test_a_model_with_many_tools_finds_one_and_is_offered_it_for_the_rest_of_the_run(environment, add_tools):
    add_tools(44)
    script(environment, ("find_tools", '{"query": "book a room"}'), ("book_room", "{}"))
    environment.post("Book a room")
    [run] = environment.wait_until_idle()
    assert (run.state, environment.list_answers()) == ("completed", ["done"])
    found = ["book_room", "book_table", "current_time", "find_tools"]
    assert [sorted(names) for names in list_offered(environment)] == [SYSTEM_TOOLS, found, found]
    first, booked = [row.payload for row in environment.log("TOOL_RESPONSE")]
    assert first["data"]["tools"] == [{"name": name, "server": "Hotel"} for name in BOOKING]
    assert first["quotes_agents"] is True
    assert "done by the server" in booked["text"]
    # The instructions of a found tool are with its description; the system text stays the same.
    systems = {asked.body["messages"][0]["content"] for asked in environment.model.requests}
    assert [("Instructions of" in system) for system in systems] == [False]
    [schema] = [
        tool["function"]
        for tool in environment.model.requests[1].body["tools"]
        if "room" in str(tool["function"]["name"])
    ]
    assert schema["description"] == "Reserve it for a guest.\n\nHow to use it: Instructions of book_room."


@pytest.mark.usefixtures("engine")
def test_the_descriptions_of_many_tools_are_not_in_the_request(environment, add_tools, monkeypatch):
    """Measured on the same agent, once with a higher limit."""
    sizes = {}
    names = add_tools(44)
    environment.model.script(text="done")
    for limit in (MAX_OFFERED, 1000):
        monkeypatch.setattr("runs.runtime.offered_tools.MAX_OFFERED", limit)
        environment.post(f"Hello {limit}")
        environment.wait_until_idle()
        sizes[limit] = len(json.dumps(environment.model.requests[-1].body["tools"]))
    assert list_offered(environment)[-1] == ["current_time", *names]
    assert sizes[MAX_OFFERED] * 5 < sizes[1000], sizes


@pytest.mark.usefixtures("engine")
def test_thirty_tools_are_all_offered(environment, add_tools):
    names = add_tools(MAX_OFFERED - 1)
    environment.model.script(text="done")
    environment.post("Hello")
    environment.wait_until_idle()
    assert list_offered(environment) == [["current_time", *names]]


@pytest.mark.usefixtures("engine")
def test_a_tool_that_was_not_found_can_be_called_and_is_offered_then(environment, add_tools):
    """The model may know it from earlier in the chat. With wrong arguments, it reads the schema in the next request."""
    add_tools(40)
    script(environment, ("count_things_7", '{"place": 1}'), ("count_things_7", "{}"))
    environment.post("How many?")
    environment.wait_until_idle()
    assert [row.payload["status"] for row in environment.log("TOOL_RESPONSE")] == ["error", "ok"]
    assert ["count_things_7" in names for names in list_offered(environment)] == [False, True, True]


@pytest.mark.usefixtures("engine")
def test_a_tool_that_the_run_may_not_use_is_neither_found_nor_called(environment, add_tools):
    add_tools(40)
    workspace = environment.team.workspace
    ToolPolicyFactory.create(workspace=workspace, tool="book_room", policy=Policy.OFF)
    WorkspaceTool.objects.filter(name="book_table").update(is_enabled=False, off_reason="editor")
    other = ToolServerFactory.create(workspace=environment.team.elsewhere)
    WorkspaceToolFactory.create(workspace=environment.team.elsewhere, server=other, name="book_flight")
    script(
        environment,
        ("find_tools", '{"query": "book reserve room table flight"}'),
        ("book_room", "{}"),
        ("book_flight", "{}"),
    )
    environment.post("Book it")
    environment.wait_until_idle()
    found, *called = [row.payload for row in environment.log("TOOL_RESPONSE")]
    assert found["data"]["tools"] == []
    assert [result["text"] for result in called] == [
        f"There is no tool {name!r}. There are: current_time, find_tools." for name in ("book_room", "book_flight")
    ]
    assert all(sorted(names) == SYSTEM_TOOLS for names in list_offered(environment))


@pytest.mark.parametrize(("is_stored", "found"), [(True, ["book_room"]), (False, BOOKING)])
def test_RUN1_a_worker_that_takes_over_offers_what_the_model_has_read(environment, add_tools, engine, is_stored, found):
    """If the worker died before it stored the result, the search is repeated."""
    add_tools(44)
    environment.model.script(text="done")
    dead = claimed(environment, owner="elsewhere:1:a")
    recorder = Recorder(dead, MODEL)
    received = answer(dead, "", ("find_tools", '{"query": "book"}'), ("count_things_3", "{}"))
    recorder.record_answer(received)
    recorder.record_tool_start(ToolsStarted(received.answer.calls))
    if is_stored:
        search, count = received.answer.calls
        data = FoundToolsData(query="book", tools=[FoundTool(name=name, server="Hotel") for name in found])
        recorder.record_tool_results(
            ToolsFinished((ToolResult(search, "ok", "found", data=data), ToolResult(count, "ok", "7")))
        )
    expire(dead)
    environment.wait_until_idle()
    assert [sorted(names) for names in list_offered(environment)] == [[*found, "count_things_3", *SYSTEM_TOOLS]]


@pytest.mark.stack
def test_RUN1_found_tools_are_offered_after_a_kill(environment, add_tools, start_worker):
    add_tools(44)
    environment.model.script(text="done")
    environment.model.script(mode="nofirst", times=1)
    environment.model.script(calls=[{"name": "find_tools", "arguments": '{"query": "book"}'}], times=1)
    worker = start_worker(ATELIER_ALLOW_PRIVATE_HOSTS=environment.model.host)
    environment.post("Book a room")
    environment.wait(lambda: len(environment.model.requests) == 2, 30)
    worker.kill()
    start_worker(ATELIER_ALLOW_PRIVATE_HOSTS=environment.model.host)
    [run] = environment.wait_until_idle(40)
    assert (run.state, run.crashes) == ("completed", 1)
    assert [sorted(names) for names in list_offered(environment)] == [
        SYSTEM_TOOLS,
        [*BOOKING, *SYSTEM_TOOLS],
        [*BOOKING, *SYSTEM_TOOLS],
    ]


@pytest.mark.usefixtures("engine")
def test_FAIR8_what_find_tools_returns_is_no_text_from_outside(environment, add_tools):
    add_tools(44)
    team = environment.team
    environment.delete_bob_from_chat()
    script(environment, ("find_tools", '{"query": "book"}'))
    environment.post("What can you book?")
    environment.wait_until_idle()
    assert Message.objects.filter(type="TOOL_RESPONSE", payload__name="find_tools").count() == 1
    found = classify_texts_of_others(
        team.chat.id, agent_id=team.robin.id, workspace_id=team.workspace.id, person_id=team.alice.id
    )
    assert found is None

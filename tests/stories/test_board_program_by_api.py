"""Programs of an integrator, as processes of their own against the running product: `examples/round.py` asks an agent, and
`examples/board.py` makes a board by hand, tries a task again, and runs the board again from there."""

import json

import pytest

from tests.stories.integrator import PASSWORD, Integrator
from tests.stories.test_outside_program_by_api import start_program

pytestmark = pytest.mark.stack

REQUEST = "Four days in Kyoto for six people"
CLOCK = {"name": "current_time", "arguments": '{"timezone": "Asia/Tokyo"}'}
HANDLES = ["weather", "finance", "travel"]


@pytest.fixture
def alice(stack, model):
    """A person in a chat with three agents. Each call of a tool of Weather waits for her."""
    model.reset()
    alice = Integrator(stack, "Alice")
    alice.workspace = alice.ok("POST", "workspaces", {"name": "Kyoto"})["id"]
    settings = {"provider": "openai_compatible", "api_base": model.api_base, "default_model": "scripted", "revision": 0}
    alice.ok("PUT", f"workspaces/{alice.workspace}/model", settings)
    price = {"provider": "openai_compatible", "input_micro": 1_000_000, "output_micro": 100_000_000}
    alice.ok("PUT", f"workspaces/{alice.workspace}/prices", price)
    alice.ok("PUT", f"workspaces/{alice.workspace}/tools/current_time/policy", {"policy": "ask"})
    ids = []
    for handle in HANDLES:
        tools = [{"tool": "current_time"}] if handle == "weather" else []
        file = {"atelier": "agent/1", "name": handle.title(), "handle": handle, "prompt": f"You are {handle}."}
        made = alice.ok(
            "POST", f"workspaces/{alice.workspace}/agents/import", {"text": json.dumps(file | {"tools": tools})}
        )
        ids.append(made["agent"]["actor"]["id"])
    chat = alice.ok("POST", f"workspaces/{alice.workspace}/chats", {"title": "Kyoto", "actor_ids": ids})
    alice.chat = chat["chat"]["id"]
    yield alice
    alice.close()


def test_a_program_makes_a_board_retries_a_task_and_runs_it_again_from_there(alice, stack, model):
    # The last script that fits a request is used.
    model.script(system="You are weather.", calls=[CLOCK], then={"text": "19 to 22 November are dry."})
    model.script(system="You are finance.", mode="status", status=400, error="No rates.")
    model.script(system="You are finance.", match="A rough sum is enough.", text="About 90,000.")
    model.script(system="You are travel.", text="Arashiyama first.")
    model.script(match="Answer this request", text="Go on 19 November.")
    token = alice.ok("POST", "me/tokens", {"name": "Program", "password": PASSWORD})["secret"]
    variables = {"ATELIER_URL": stack.url, "ATELIER_TOKEN": token, "ATELIER_CHAT": alice.chat}
    lines = []
    command = ("examples/board.py", REQUEST, *HANDLES)
    with start_program(*command, ATELIER_POLL_SECONDS="0.1", **variables) as output:
        for line in output:
            lines.append(line.decode().strip())
            if lines[-1] == "Trying task 2 again":
                # Weather waits for Alice until then, so nothing follows from the failure of Finance yet.
                tab = alice.watch(alice.chat)
                approval = tab.wait_until(lambda tab: tab.messages("APPROVAL_ASKED"))[0]["id"]
                alice.ok("POST", f"approvals/{approval}/decide", {"decision": "approved"})
    first, second = lines[: lines.index("Running again from task 2")], lines[lines.index("Running again from task 2") :]
    assert first[0] == "Estimate: unknown"
    assert "Task 2, Finance: failed 1" in first
    results = [line for line in first if line.startswith(("Result", "Answer"))]
    assert [line.partition(":")[0] for line in results] == [
        "Result 1.1 of Weather",
        "Result 2.1 of Finance",
        "Result 2.2 of Finance",
        "Result 3.1 of Travel",
        "Answer",
    ]
    assert results[0].endswith(": 19 to 22 November are dry.")
    assert results[-1] == "Answer: Go on 19 November."
    assert [line for line in second if line.startswith(("Result", "Answer"))] == [
        "Result 1.1 of Weather, reused: 19 to 22 November are dry.",
        "Result 2.1 of Finance: About 90,000.",
        "Result 3.1 of Travel: Arashiyama first.",
        "Answer: Go on 19 November.",
    ]
    costs = [float(line.removeprefix("Cost: $")) for line in lines if line.startswith("Cost: ")]
    boards = alice.ok("GET", f"chats/{alice.chat}/boards")["results"]
    assert costs == [round(board["cost_micro"] / 1_000_000, 4) for board in reversed(boards)]
    assert [(board["planned_by"], board["state"]) for board in boards] == [
        ("fork", "completed"),
        ("person", "completed"),
    ]
    assert costs[0] > 0


def test_a_program_asks_an_agent_and_prints_the_answer_with_its_cost(alice, stack, model):
    model.script(system="You are travel.", text="Arashiyama first.")
    token = alice.ok("POST", "me/tokens", {"name": "Program", "password": PASSWORD})["secret"]
    variables = {"ATELIER_URL": stack.url, "ATELIER_TOKEN": token}
    with start_program("examples/round.py", alice.workspace, "travel", "Where do we begin?", **variables) as output:
        answered = output.read().decode().strip()
    [chat] = [
        row
        for row in alice.ok("GET", f"workspaces/{alice.workspace}/chats")["results"]
        if row["chat"]["title"] == "A round"
    ]
    asked, answer = alice.ok("GET", f"chats/{chat['chat']['id']}/messages")["results"][-2:]
    assert alice.ok("GET", f"messages/{answer['id']}") == answer
    assert answer["payload"]["answers"] == asked["id"]
    assert answer["payload"]["stamp"]["cost_micro"] > 0
    assert answered == f"Arashiyama first. (${answer['payload']['stamp']['cost_micro'] / 1_000_000:.6f})"

"""Tool calls: settings of an agent, long results, exceptions, and the result that is stored with the transaction."""

import asyncio
import time
from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from actors.models import Actor
from agents.services.allowed_tools import ConfiguredTool, configure_tools
from agents.specs.content import ToolUse
from approvals.selectors import Consent, DecidedCall
from common.egress import HostRefused
from common.ids import new_id
from events.payloads import ServerTarget
from events.rows import Policy
from llm.messages import ToolCall
from runs.models import Step
from runs.runtime.steps import Batch, ToolResult
from runs.runtime.toolbox import MAX_RESULT, Toolbox
from runs.services import runs
from tests.factories.agents import add_tool_use
from tests.factories.tools import ToolPolicyFactory
from tools.interface import AgentTask, Tool, ToolArgs, ToolConfig, ToolContext, ToolError
from tools.registry import register, registry


class Nothing(ToolArgs):
    pass


class Optional(ToolArgs):
    n: int = 0


async def find_consent(configured, context, args):
    return Consent()


def build_toolbox(run, *, effect="write", is_idempotent=False, wait_kind="", build_wait=None, **config):
    """A toolbox with one tool, `it`."""
    body = {
        "__doc__": "It.",
        "name": "it",
        "effect": effect,
        "is_idempotent": is_idempotent,
        "Args": Nothing,
        "run": run,
        "wait_kind": wait_kind,
        "build_wait": build_wait,
    }
    context = ToolContext(Actor(name="Scribe"), None, None, None, "")  # type: ignore[arg-type]  # no run in this test

    async def in_transaction(call, work, seconds):
        return work()

    return Toolbox(
        {"it": ConfiguredTool(type("It", (Tool,), body)(), ToolConfig(**config), "")},
        context,
        in_transaction,
        find_consent,
    )


async def outcome(run, **config):
    [made] = await build_toolbox(run, **config).call(Batch((ToolCall("call_1", "it", "{}"),)))
    return made


async def test_a_result_too_long_for_a_model_is_cut_and_says_so():
    made = await outcome(lambda tool, ctx, args: "x" * (MAX_RESULT + 7))
    assert made.text == "x" * MAX_RESULT + "\n[cut: 7 more characters]"


async def test_RUN13_a_call_ends_at_the_time_limit_of_the_agents_settings():
    async def hang(tool, ctx, args):
        await asyncio.sleep(60)

    assert (await outcome(hang, timeout_s=0.1)).status == "timeout"


@pytest.mark.parametrize("repeatable", [{"effect": "read"}, {"is_idempotent": True}])
async def test_a_call_is_retried_as_often_as_the_agents_settings_say(repeatable):
    tries = []

    async def fail_twice(tool, ctx, args):
        tries.append(ctx.call_id)
        if len(tries) < 3:
            raise ToolError("busy")
        return "at last"

    assert (await outcome(fail_twice, retries=1, **repeatable)).status == "error"
    tries.clear()
    assert (await outcome(fail_twice, retries=2, **repeatable)).text == "at last"
    assert tries == ["call_1"] * 3


@pytest.mark.parametrize("is_async", [True, False])
async def test_RUN15_a_call_that_must_not_be_repeated_is_not_retried(is_async):
    tries = []

    def fail(tool, ctx, args):
        tries.append(ctx.call_id)
        raise ToolError("busy")

    async def fail_later(tool, ctx, args):
        fail(tool, ctx, args)

    made = await outcome(fail_later if is_async else fail, retries=3)
    assert (made.status, made.text, tries) == ("error", "busy", ["call_1"])


@pytest.mark.parametrize("error", [ToolError("gone", is_final=True), HostRefused("private")])
async def test_a_final_error_is_not_retried(error):
    tries = []

    async def fail(tool, ctx, args):
        tries.append(ctx.call_id)
        raise error

    assert (await outcome(fail, retries=3, effect="read")).status == "error"
    assert len(tries) == 1


async def test_an_exception_in_a_tool_is_not_shown_to_the_model(caplog):
    def broken(tool, ctx, args):
        raise KeyError("secret detail")

    made = await outcome(broken, retries=3)
    assert (made.status, made.error_kind, made.text) == ("error", "tool", "it failed by an internal error.")
    assert "secret detail" in caplog.text
    assert caplog.text.count("Traceback") == 1


def test_empty_arguments_are_accepted_only_by_tools_without_required_arguments():
    it = build_toolbox(lambda tool, ctx, args: "").tools["it"].tool
    assert it.parse_arguments("") == Nothing()
    with pytest.raises(ToolError) as refused:
        registry["current_time"].parse_arguments("")
    assert str(refused.value) == "The call was not made, because its arguments are wrong. timezone: Field required"


def test_tools_that_are_removed_disabled_or_misconfigured_are_left_out():
    uses = [
        ToolUse(tool="current_time", usage_instructions="Only for Tokyo."),
        ToolUse(tool="never_was"),
    ]
    assert {name: tool.instructions for name, tool in configure_tools(uses, registry, {}).items()} == {
        "current_time": "Only for Tokyo."
    }
    assert configure_tools([ToolUse(tool="current_time", is_enabled=False)], registry, {}) == {}
    assert configure_tools([ToolUse(tool="current_time", custom_config={"timeout_s": 999})], registry, {}) == {}
    with pytest.raises(ValidationError):
        registry["current_time"].parse_config({"timeout_s": 999})


def test_a_policy_of_the_workspace_is_given_to_the_tool_and_off_leaves_it_out():
    uses = [ToolUse(tool="current_time"), ToolUse(tool="web_fetch")]
    assert {name: tool.policy for name, tool in configure_tools(uses, registry, {"web_fetch": Policy.ASK}).items()} == {
        "current_time": Policy.AUTO,
        "web_fetch": Policy.ASK,
    }
    assert list(configure_tools(uses, registry, {"web_fetch": Policy.OFF})) == ["current_time"]


# --- in a run -------------------------------------------------------------------------------------------------


@pytest.fixture
def note(environment):
    """A tool of Robin that writes our database; its `behaviour` can be set."""

    class Note(Tool):
        """Rename the agent."""

        name = "note"
        effect = "write"
        is_trusted = True
        Args = Optional
        behaviour = staticmethod(lambda: "noted")

        def run(self, ctx: ToolContext, args: Optional) -> str:
            Actor.objects.filter(pk=ctx.actor.pk).update(name=f"Noted {args.n}")
            return str(type(self).behaviour())

    register(Note)
    environment.delete_bob_from_chat()
    add_tool_use(environment.team.robin.current_spec, "note", custom_config={"timeout_s": 0.5})
    environment.model.script(calls=[{"name": "note", "arguments": '{"n": 7}'}], then={"text": "ok"})
    yield Note
    del registry["note"]


def name_of(environment):
    environment.team.robin.refresh_from_db()
    return environment.team.robin.name


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("engine")
def test_a_tool_that_writes_our_database_is_stored_in_one_transaction_with_its_result(environment, note):
    environment.post("go")
    environment.wait_until_idle()
    assert name_of(environment) == "Noted 7"
    step = Step.objects.get(kind="tool")
    assert (step.name, step.state, step.result) == ("note", "done", {"status": "ok", "text": "noted"})


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("engine")
def test_a_tool_that_fails_writes_nothing(environment, note):
    def fail():
        raise ToolError("not today")

    note.behaviour = staticmethod(fail)
    environment.post("go")
    environment.wait_until_idle()
    assert name_of(environment) == "Robin"
    assert environment.log("TOOL_RESPONSE")[0].payload["status"] == "error"


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("engine")
def test_RUN13_a_tool_that_exceeded_its_time_writes_nothing_later(environment, note):
    note.behaviour = staticmethod(lambda: time.sleep(1.5))
    environment.post("go")
    environment.wait_until_idle()
    assert environment.log("TOOL_RESPONSE")[0].payload["status"] == "timeout"
    time.sleep(1.5)
    assert name_of(environment) == "Robin"
    assert environment.list_answers() == ["ok"]


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("engine")
def test_three_exceptions_in_tools_end_the_run(environment, note):
    note.behaviour = staticmethod(lambda: 1 / 0)
    calls = [{"name": "note", "arguments": f'{{"n": {n}}}'} for n in range(3)]
    environment.model.reset()
    environment.model.script(calls=calls, then={"text": "never said"})
    environment.post("go")
    [run] = environment.wait_until_idle()
    assert (run.state, run.error_code) == ("failed", "tools_broken")
    assert environment.list_answers() == []


@pytest.fixture
def endless(environment):
    class Endless(Tool):
        """Never ends."""

        name = "endless"
        effect = "write"
        Args = Nothing

        async def run(self, ctx: ToolContext, args: Nothing) -> str:
            await asyncio.sleep(100)
            return ""

    register(Endless)
    environment.delete_bob_from_chat()
    add_tool_use(environment.team.robin.current_spec, "endless")
    environment.model.script(calls=[{"name": "endless", "arguments": "{}"}])
    yield
    del registry["endless"]


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("engine", "endless")
def test_RUN16_stop_ends_a_tool_at_once_and_its_call_has_a_result(environment):
    environment.post("go")
    environment.wait(lambda: Step.objects.filter(state="started").exists())
    runs.stop_run(actor=environment.team.alice, run_id=environment.runs()[0].id)
    [run] = environment.wait_until_idle()  # the tool takes much longer
    assert run.state == "stopped"
    assert [row.type for row in environment.log()] == ["TEXT_MESSAGE", "TOOL_CALL", "TOOL_RESPONSE", "RUN_STOPPED"]
    assert environment.log("TOOL_RESPONSE")[0].payload["status"] == "stopped"


async def test_neighbours_with_known_results_are_one_batch_in_the_order_of_the_model():
    made = build_toolbox(lambda tool, ctx, args: "")
    names = ["it", "no", "no", "it", "no"]
    calls = [ToolCall(f"call_{index}", name, "{}", index) for index, name in enumerate(names)]
    made.known_results[calls[0].id] = ToolResult(calls[0], "ok", "known")
    batches = [batch async for batch in made.build_batches(calls, is_answer_cut=False)]
    assert [batch.calls for batch in batches] == [tuple(calls[:3]), (calls[3],), (calls[4],)]
    assert [[result.call for result in batch.known] for batch in batches] == [calls[:3], [], [calls[4]]]


@pytest.mark.parametrize(("effect", "has_written"), [("write", True), ("read", False)])
async def test_a_call_of_a_tool_that_writes_is_remembered(effect, has_written):
    """So an answer that breaks off after it is not requested again (RUN11)."""
    made = build_toolbox(lambda tool, ctx, args: "")
    made.tools["it"].tool.effect = effect
    assert made.has_written is False
    [batch] = [batch async for batch in made.build_batches([ToolCall("call_1", "it", "{}")], is_answer_cut=False)]
    await made.call(batch)
    assert (batch.effect, made.has_written) == (effect, has_written)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("engine")
def test_a_tool_that_is_off_in_the_workspace_is_neither_offered_nor_called(environment, note):
    ToolPolicyFactory.create(workspace=environment.team.elsewhere, tool="current_time", policy=Policy.OFF)
    ToolPolicyFactory.create(workspace=environment.team.workspace, tool="note", policy=Policy.OFF)
    environment.post("go")
    environment.wait_until_idle()
    [asked, *_] = environment.model.requests
    assert [tool["function"]["name"] for tool in asked.body["tools"]] == ["current_time"]
    assert name_of(environment) == "Robin"


@pytest.mark.parametrize(("policy", "is_asked"), [(Policy.AUTO, False), (Policy.ASK, True)])
async def test_consent_to_a_task_is_looked_up_only_if_the_policy_requires_it(policy, is_asked):
    task = AgentTask(new_id(), "Look it up.", None, (), None, 900, 3)
    toolbox = build_toolbox(None, effect="read", wait_kind=task.kind, build_wait=lambda tool, args, config: task)
    toolbox.tools = {"it": replace(toolbox.tools["it"], policy=policy)}
    asked = []

    async def find_consent(configured, context, args):
        asked.append(context.call_id)
        return Consent("policy")

    toolbox.find_consent = find_consent
    calls = [ToolCall("call_1", "it", "{}")]
    assert [batch async for batch in toolbox.build_batches(calls, is_answer_cut=False)] == []
    expected = (["call_1"], 1, 0) if is_asked else ([], 0, 1)
    assert (asked, len(toolbox.requests), len(toolbox.waits)) == expected


@pytest.mark.parametrize("is_async", [True, False])
async def test_FAIR8_an_approved_call_is_made_only_if_it_still_goes_where_the_person_has_approved(is_async):
    made = []

    async def run_async(tool, ctx, args):
        made.append(tool.host)
        return "paid"

    def run(tool, ctx, args):
        made.append(tool.host)
        return "paid"

    def describe_target(tool, ctx, args):
        return ServerTarget(server="Bank", host=tool.host, method="POST", path="/payments", effect="write")

    toolbox = build_toolbox(run_async if is_async else run)
    tool: Any = toolbox.tools["it"].tool
    type(tool).describe_target = describe_target
    target = ServerTarget(server="Bank", host="bank.example", method="POST", path="/payments", effect="write")
    toolbox.decided_calls = {"call_1": DecidedCall("{}", None, target=target)}
    statuses = []
    for tool.host in ("evil.example", "bank.example"):
        [result] = await toolbox.call(Batch((ToolCall("call_1", "it", "{}"),)))
        statuses.append((result.status, result.text[:22]))
    assert statuses == [("error", "The call was not made:"), ("ok", "paid")]
    assert made == ["bank.example"]

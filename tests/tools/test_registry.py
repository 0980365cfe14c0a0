"""The class of a tool is checked when it is registered."""

import pytest
from pydantic import ValidationError

from tools.interface import Tool, ToolArgs
from tools.registry import InvalidTool, build_tool_rows, register, registry


@pytest.fixture(autouse=True)
def registry_is_restored():
    before = dict(registry)
    yield
    registry.clear()
    registry.update(before)


class NoArgs(ToolArgs):
    pass


def make(**members):
    body = {"__doc__": "Does it.", "name": "do_it", "effect": "read", "Args": NoArgs, "run": lambda self, ctx, args: ""}
    return type("DoIt", (Tool,), {name: value for name, value in (body | members).items() if value is not None})


def test_a_valid_tool_is_registered_and_found():
    register(make())
    tool = registry["do_it"]
    assert tool.description == "Does it."
    assert tool.can_repeat
    assert not tool.is_async


@pytest.mark.parametrize(
    ("members", "complaint"),
    [
        ({"name": "do it"}, "a name"),
        ({"name": None}, "a name"),
        ({"name": "x" * 65}, "a name"),
        ({"__doc__": None}, "a docstring"),
        ({"effect": "maybe"}, "an effect"),
        ({"Args": dict}, "Args"),
        ({"Args": None}, "Args"),
        ({"run": None}, "a method run"),
    ],
)
def test_an_invalid_tool_is_refused_with_the_rules_that_it_breaks(members, complaint):
    before = len(registry)
    with pytest.raises(InvalidTool, match=complaint):
        register(make(**members))
    assert len(registry) == before


def test_two_tools_of_one_name_are_refused():
    first = register(make())
    with pytest.raises(InvalidTool, match="two tools called 'do_it'"):
        register(make())
    assert isinstance(registry["do_it"], first)


def test_the_tools_of_all_apps_are_registered_at_start():
    assert "current_time" in registry


def test_the_row_of_a_tool_has_a_schema_without_titles():
    row = next(row for row in build_tool_rows() if row.name == "current_time")
    schema = row.model_dump(by_alias=True)["schema"]
    assert schema["required"] == ["timezone"]
    assert schema["additionalProperties"] is False
    assert "title" not in schema
    assert set(schema["properties"]["timezone"]) == {"type", "description", "minLength", "maxLength"}


def test_the_row_of_a_tool_has_its_settings_with_their_limits():
    row = next(row for row in build_tool_rows() if row.name == "web_fetch")
    assert set(row.config_schema["properties"]) == {"retries", "timeout_s", "max_chars"}
    assert row.config_schema["properties"]["max_chars"] == {
        "type": "integer",
        "default": 12_000,
        "minimum": 500,
        "maximum": 19_000,
    }


def test_a_tool_whose_calls_are_not_retried_has_no_setting_for_retries():
    def list_settings(**members):
        return set(make(**members)().build_config_schema()["properties"])

    assert list_settings(effect="read") == {"retries", "timeout_s"}
    assert list_settings(effect="write") == {"timeout_s"}
    assert list_settings(effect="write", is_idempotent=True) == {"retries", "timeout_s"}


def test_the_settings_of_an_agent_override_the_defaults():
    tool = make()()
    assert (tool.parse_config({}).timeout_s, tool.parse_config({}).retries) == (30, 0)
    assert tool.parse_config({"timeout_s": 5, "retries": 2}).timeout_s == 5


@pytest.mark.parametrize("custom", [{"timeout_s": 121}, {"retries": 9}, {"timeout_s": 0}, {"colour": "red"}])
def test_settings_beyond_their_limits_are_refused(custom):
    with pytest.raises(ValidationError):
        make()().parse_config(custom)

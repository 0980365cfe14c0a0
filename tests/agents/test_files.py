"""Export and import of agents as files (RUN6)."""

import json
from uuid import UUID

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from actors.models import Actor
from agent_files import services as files
from agent_files.specs import MAX_FILE, AgentFile, format_file, read_file
from agents.models import AgentSpec
from agents.services import stored_specs
from agents.specs.content import MAX_PROMPT, SpecContent
from chats.models import Message
from common.errors import AppError, Code, Conflict, Invalid, TooLarge
from common.secrets import Secret
from common.text import to_storable, to_storable_json
from events.rows import SpecOrigin
from tests.api.test_rights import client_for
from tests.chaos import examples
from tests.factories.files import FileFactory
from tests.people import make_agent
from workspaces import services as workspaces

LINES = [
    "yes",
    "null",
    "  leads",
    "ends  ",
    "\tindented",
    "- item",
    "a: b",
    "# no comment",
    "'",
    '"',
    "界🌍",
    "",
    "   ",
    "|",
    ">",
    "%",
    "---",
    "...",
    "\x85",
    "\u2028",
    "\r",
    "\ufeff",
    "\x07",
    "{{x}}",
    "&a",
    "*a",
    "!tag",
    "1",
    "2026-01-01",
    "=",
    "<<",
    "\u3000全形",
]
TEXTS = st.one_of(st.text(max_size=40), st.lists(st.sampled_from(LINES), max_size=5).map("\n".join)).map(to_storable)
SINGLES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS
NAMES = st.text(max_size=40).map(to_storable)
VALUES = SINGLES | st.lists(SINGLES, max_size=2) | st.dictionaries(NAMES, SINGLES, max_size=2)
TOOLS = st.lists(
    st.fixed_dictionaries(
        {
            "tool": st.from_regex(r"[a-zA-Z0-9_-]{1,64}", fullmatch=True),
            "is_enabled": st.booleans(),
            "custom_config": st.dictionaries(NAMES, VALUES, max_size=2).map(to_storable_json),
            "usage_instructions": TEXTS,
        }
    ),
    max_size=2,
    unique_by=lambda use: use["tool"],
)
CONTENTS = st.fixed_dictionaries(
    {
        "prompt": TEXTS,
        "model": TEXTS,
        "parameters": st.fixed_dictionaries({"temperature": st.none() | st.floats(0, 2)}),
        "limits": st.fixed_dictionaries({"max_steps": st.integers(1, 50)}),
        "memory": st.sampled_from(["chat", "agent"]),
        "context": st.fixed_dictionaries({"strategy": st.sampled_from(["default", "retrieve"])}),
        "tools": TOOLS,
    }
).map(SpecContent.model_validate)


def build_hard(text: str) -> SpecContent:
    """Return an agent with a text that YAML reads in another way, wherever a file has a text."""
    use = {"tool": "x", "custom_config": {text: [text]}, "usage_instructions": text}
    return SpecContent.model_validate({"prompt": f"{text}\n{text}", "model": text, "tools": [use]})


@settings(max_examples=examples(300), deadline=None)
@example(content=build_hard("a\x85b"), description="\x85", format="yaml")  # a line break of YAML 1.1
@example(content=build_hard("\ufeffno"), description="\u2028", format="yaml")
@example(content=build_hard("1:30"), description="<<", format="yaml")
@example(content=build_hard("=\r\n\t- "), description=" ", format="yaml")
@given(content=CONTENTS, description=TEXTS, format=st.sampled_from(["yaml", "json"]))
def test_a_file_that_is_written_and_read_is_the_same(content, description, format):
    file = AgentFile(**dict(content), name="Robin", description=description, version=3)
    text = format_file(file, format)
    assert read_file(text) == file
    assert format_file(read_file(text), format) == text
    assert read_file(text).content() == content


def test_a_prompt_of_several_lines_is_written_as_a_block():
    prompt = "You plan trips.\n\n- 用繁體中文回答：簡短 🌏\n  - a sub-item  \n\tcode"
    text = format_file(AgentFile(name="旅行", prompt=prompt), "yaml")
    assert "name: 旅行\n" in text
    assert "prompt: |-\n  You plan trips.\n\n  - 用繁體中文回答：簡短 🌏\n    - a sub-item  \n  \tcode\n" in text


def test_the_longest_prompt_fits_into_a_file():
    file = AgentFile(name="Robin", prompt="界" * MAX_PROMPT)
    assert read_file(format_file(file, "yaml")) == file


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("", "file: Input should be"),
        ("just words", "file: Input should be"),
        ("name: Robin\natelier: agent/2", "atelier: "),
        ("name: 5", "name: Input should be a valid string"),
        ("name: Robin\nowner: me", "owner: Extra inputs"),
        ("name: Robin\nlimits: {max_steps: 99}", "limits.max_steps: "),
        ("name: Robin\ntools: [{tool: x, secret: y}]", "tools.0.secret: Extra inputs"),
        ("name: Robin\ntools: [{tool: x}, {tool: x}]", "tools: "),
        ("name: [Robin", "line "),
        ('{"name": ', "line "),
        ("a: &x [1, 2]\nname: *x", "alias"),
        ("name: !!python/object/apply:os.system [ls]", "tag"),
        ("[" * 100_000, "nested"),
        ('{"a":' * 100_000, "recursion"),
        ("name: .nan", "not JSON compliant"),
        ("name: Robin\x01", "control characters"),
        ("name: Robin\nversion: 1:30", "version: Input should be"),
        (f"name: Robin\nversion: {':'.join('1' * 400)}.5", "version: Input should be"),
        pytest.param(f"name: Robin\nversion: {':'.join('1' * 200_000)}", "version: ", marks=pytest.mark.timeout(10)),
    ],
)
def test_the_error_of_an_unreadable_file_names_the_place(text, hint):
    with pytest.raises(Invalid) as refusal:
        read_file(text)
    assert refusal.value.code == Code.FILE_UNREADABLE
    assert any(hint in problem for problem in refusal.value.hints), refusal.value.hints


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("atelier: agent/1", ("name", "missing")),
        ("name: Robin\nlimits: {max_steps: 99}", ("limits.max_steps", "unfit")),
        ("a: &x [1, 2]\nname: *x", ("", "alias")),
        ("name: !!python/object/apply:os.system [ls]", ("", "tag")),
        ("[" * 100, ("", "depth")),
        ("name: Robin\nname: [Robin", ("line 3, column 1", "syntax")),
        ("name: .nan", ("", "syntax")),
        ("name: A\nprompt: one\nprompt: two", ("line 3", "double")),
        ("\ufeffname: A\nlimits:\n  max_steps: 1\n  max_seconds: 60\n  max_steps: 2", ("line 5", "double")),
        ("name: A\ntools:\n- tool: x\n  custom_config: {1: a,\n   '1': b}", ("line 5", "double")),
        ("name: A\ntools: [{tool: x}, {tool: y,\n tool: z}]", ("line 3", "double")),
        ('{"name": "A",\n "prompt": "{\\"name\\": \\"name\\":",\n "n\\u0061me": "B"}', ("line 3", "double")),
        ('{"name": "A", "limits":\n {"max_steps": 1, "max_steps": 2}}', ("line 2", "double")),
    ],
)
def test_a_problem_of_a_file_has_a_kind(text, problem):
    with pytest.raises(Invalid) as refusal:
        read_file(text)
    assert [(problem["where"], problem["kind"]) for problem in refusal.value.data["problems"]] == [problem]


@pytest.mark.parametrize(
    "text",
    [
        "name: A\nlimits: {max_steps: 1}\ntools: [{tool: x}, {tool: y}]",
        '{"name": "name", "tools": [{"tool": "x"}, {"tool": "y"}]}',
    ],
)
def test_a_key_may_be_in_several_objects(text):
    assert [tool.tool for tool in read_file(text).tools] == ["x", "y"]


def test_a_yaml_bomb_is_refused():
    bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "\n".join(
        f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]"
        for before, name in zip("abcdefgh", "bcdefghi", strict=True)
    )
    with pytest.raises(Invalid):
        read_file(bomb)


def test_dates_and_keys_in_the_settings_of_a_tool_are_read_as_text():
    file = read_file("name: Robin\ntools: [{tool: x, custom_config: {since: 2026-01-01, 1: one}}]")
    assert file.tools[0].custom_config == {"since": "2026-01-01", "1": "one"}


def test_a_file_that_is_too_large_is_refused():
    with pytest.raises(TooLarge):
        read_file("# " + "界" * (MAX_FILE // 3 + 1))


# --- over the API ------------------------------------------------------------------------------------------------


def get_first_version(agent_id):
    return AgentSpec.objects.get(agent=agent_id, number=1)


def import_file(team, text, **fields):
    address = f"workspaces/{team.workspace.id}/agents/import"
    return client_for(team, "alice").ok("POST", address, {"text": text, **fields})


@pytest.mark.parametrize("format", ["yaml", "json"])
def test_an_exported_agent_can_be_imported_with_the_same_content_and_greets(team, format):
    agent_to_export = make_agent(
        team.workspace, team.alice, "Heron 蒼鷺", prompt="Wait.\nStrike.", tools=["current_time", "web_fetch"]
    )
    response = client_for(team, "bob")("GET", f"agents/{agent_to_export.id}/file?format={format}")
    assert response["Content-Type"] == f"application/{format}; charset=utf-8"
    assert response["Content-Disposition"] == f"attachment; filename*=utf-8''Heron_%E8%92%BC%E9%B7%BA.v1.{format}"
    row = import_file(team, response.content.decode())
    agent = Actor.objects.get(pk=row["agent"]["actor"]["id"])
    spec = get_first_version(agent)
    assert (agent.name, agent.handle, row["missing"]) == ("Heron 蒼鷺", "heron-canglu-2", [])
    assert spec.parse_content() == get_first_version(agent_to_export).parse_content()
    assert (spec.origin, agent.current_spec_id) == ("imported", spec.id)
    greeting = Message.objects.get(chat=row["chat_id"], type="TEXT_MESSAGE")
    assert (greeting.author, greeting.payload["greeting"]) == (agent, True)
    assert greeting.payload["questions"] == ["What can you do for me?"]
    assert greeting.payload["improvement"] == {"label": "Make it one sentence", "line": "- Answer in one sentence."}


def test_any_version_can_be_exported(team):
    content = SpecContent(prompt="New")
    stored_specs.write_spec(team.robin, content, author=team.alice, origin=SpecOrigin.DRAFT, number=2)
    api, address = client_for(team, "bob"), f"agents/{team.robin.id}/file"
    assert read_file(api("GET", f"{address}?version=2").content.decode()).prompt == "New"
    assert read_file(api("GET", address).content.decode()).prompt == "Answer."
    api.refused(404, "not_found", "GET", f"{address}?version=9")
    api.refused(400, "invalid", "GET", f"{address}?format=xml")


def test_an_exported_file_has_no_api_key(team):
    workspaces.set_model(
        team.alice,
        team.workspace.id,
        provider="openai",
        default_model="m",
        api_base="",
        key=Secret("sk-very-secret-1234"),
        revision=0,
    )
    text = client_for(team, "alice")("GET", f"agents/{team.robin.id}/file").content.decode()
    assert "1234" not in text
    assert "openai" not in text


ELSEWHERE = """
name: Robin
model: gpt-9
tools:
- tool: summon
- tool: web_fetch
  custom_config: {colour: red}
- tool: current_time
team: {members: [robin, ghost], max_at_once: 2}
"""


def test_a_trial_lists_what_is_missing_and_creates_nothing(team):
    before = Actor.objects.count()
    row = import_file(team, ELSEWHERE, is_trial=True)
    assert (row["agent"], row["chat_id"]) == (None, None)
    assert {(problem["kind"], problem["name"]) for problem in row["missing"]} == {
        ("tool", "summon"),
        ("setting", "web_fetch"),
        ("model", "gpt-9"),
        ("member", "@ghost"),
    }
    assert [use["tool"] for use in row["content"]["tools"]] == ["web_fetch", "current_time"]
    assert Actor.objects.count() == before


def test_an_import_leaves_out_what_is_missing(team):
    row = import_file(team, ELSEWHERE, name="Second")
    spec = get_first_version(row["agent"]["actor"]["id"])
    assert [(use.tool, use.custom_config) for use in spec.parse_content().tools] == [
        ("web_fetch", {}),
        ("current_time", {}),
    ]
    assert spec.content["model"] == "gpt-9"
    assert (spec.content["team"]["members"], spec.content["team"]["max_at_once"]) == (["robin"], 2)
    assert row["agent"]["actor"]["name"] == "Second"


def test_pages_of_another_workspace_are_missing_in_an_import(team):
    own, foreign = (
        FileFactory.create(workspace_id=workspace.id, chat=None, name="rules.md")
        for workspace in (team.workspace, team.elsewhere)
    )
    settings = f"{{mode: retrievable, page_ids: [{foreign.id}, {own.id}]}}"
    row = import_file(team, f"name: Wren\ntools:\n- tool: read_pages\n  custom_config: {settings}")
    assert [(problem["kind"], problem["name"]) for problem in row["missing"]] == [("setting", "read_pages")]
    [use] = get_first_version(row["agent"]["actor"]["id"]).parse_content().tools
    assert use.custom_config == {"mode": "retrievable", "page_ids": [str(own.id)]}


def test_the_memory_of_an_agent_goes_along_with_its_file(team):
    row = import_file(team, "name: Wren\nmemory: agent")
    assert row["missing"] == []
    assert get_first_version(row["agent"]["actor"]["id"]).parse_content().memory == "agent"
    assert "memory: agent" in files.export_agent(team.alice, UUID(row["agent"]["actor"]["id"]), format="yaml").text


def test_a_model_of_an_own_provider_is_not_reported_as_missing(team):
    workspaces.set_model(
        team.alice, team.workspace.id, provider="openai", default_model="m", api_base="", key=Secret("k"), revision=0
    )
    assert files.fit_content(AgentFile(name="X", model="gpt-9"), team.workspace)[1] == []


@pytest.mark.parametrize(("handle", "error"), [("robin", Conflict), ("Not a handle", Invalid)])
def test_an_import_with_a_handle_that_is_taken_or_invalid_is_refused(team, handle, error):
    before = Actor.objects.count()
    with pytest.raises(AppError) as refusal:
        files.import_agent(team.alice, team.workspace.id, text="name: X", handle=handle)
    assert type(refusal.value) is error
    assert Actor.objects.count() == before


def test_an_unreadable_file_creates_nothing(team):
    before = Actor.objects.count()
    api = client_for(team, "alice")
    address = f"workspaces/{team.workspace.id}/agents/import"
    refusal = api.refused(400, "file_unreadable", "POST", address, {"text": "name: Robin\nowner: me"})
    assert refusal["hints"] == ["owner: Extra inputs are not permitted"]
    assert refusal["data"]["problems"] == [
        {"where": "owner", "kind": "unknown", "text": "Extra inputs are not permitted"}
    ]
    assert Actor.objects.count() == before


def test_an_exported_file_is_valid_by_the_json_schema(team):
    schema = client_for(team, "bob").ok("GET", "agent-file-schema")
    Draft202012Validator.check_schema(schema)
    text = client_for(team, "bob")("GET", f"agents/{team.robin.id}/file?format=json").content
    Draft202012Validator(schema).validate(json.loads(text))

"""The search of an agent's tools: what is found, in which order, and that nothing else is."""

import asyncio
import json
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.models import Actor
from events.payloads import FoundToolsData
from tools.find_tools import MAX_FOUND, FindTools, list_terms
from tools.http.tool import HTTPTool
from tools.interface import ToolContext, ToolOutput
from tools.models import ToolServer, WorkspaceTool

DESCRIPTIONS = {
    "book_room": ("Hotel", "Reserve a room for some nights."),
    "cancel_booking": ("Hotel", "Cancel a reservation by its number."),
    "listOrders": ("Shop", "List the orders of a customer."),
    "refund_order": ("Shop", "Pay the price of an order back."),
    "get_stock": ("倉庫", "查詢商品的庫存數量。"),
    "move_stock": ("倉庫", "把商品移到另一個倉庫。"),
    "weather": ("Sky", "Tomorrow's weather at a place, as https://sky.example/?q=1 has it."),
}


def build_tool(name: str, server: str, description: str) -> HTTPTool:
    return HTTPTool(WorkspaceTool(server=ToolServer(name=server), name=name, description=description, effect="read"))


@pytest.fixture
def find_tools() -> FindTools:
    return FindTools(build_tool(name, *texts) for name, texts in DESCRIPTIONS.items())


def find(tool: FindTools, query: str) -> ToolOutput:
    context = ToolContext(Actor(name="Scribe"), None, None, uuid4(), "call_1")
    return asyncio.run(tool.run(context, tool.parse_arguments(json.dumps({"query": query}))))


def data_of(output: ToolOutput) -> FoundToolsData:
    assert isinstance(output.data, FoundToolsData)
    return output.data


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("refund_order", ["refund_order"]),
        ("list orders", ["listOrders", "refund_order"]),
        ("reserve", ["book_room"]),
        ("book", ["book_room", "cancel_booking"]),
        ("庫存還有多少", ["get_stock"]),
        ("倉庫", ["get_stock", "move_stock"]),
        ("Hotel", ["book_room", "cancel_booking"]),
        ("WEATHER", ["weather"]),
        ("the weather", ["weather"]),
        ("unicorn", []),
        ("?!", []),
    ],
)
def test_tools_are_found_by_words_of_their_names_servers_and_descriptions(find_tools, query, names):
    found = [tool.name for tool in data_of(find(find_tools, query)).tools]
    assert found == [tool.name for tool in find_tools.search(query)]
    assert (sorted(found), found[:1]) == (sorted(names), names[:1])


def test_the_result_has_the_server_and_the_description_of_each_tool(find_tools):
    output = find(find_tools, "weather")
    assert data_of(output).model_dump(mode="json") == {
        "kind": "found_tools",
        "query": "weather",
        "tools": [{"name": "weather", "server": "Sky"}],
    }
    assert output.text.splitlines()[1].startswith("- weather (Sky): Tomorrow's weather")


def test_without_a_match_the_model_reads_the_names(find_tools):
    assert find(find_tools, "unicorn").text.endswith(f"these names: {', '.join(sorted(DESCRIPTIONS))}.")


def test_SEC9_no_url_in_a_result_counts_as_read(find_tools):
    """The query is written by the model, and the descriptions by other servers."""
    for query in ("weather", "https://evil.example/?q=secret x"):
        assert find(find_tools, query).quotes_agents is True
    assert "evil.example" not in find(find_tools, "https://evil.example/?q=secret x").text


def test_chinese_text_is_split_into_pairs_and_names_into_words():
    assert list_terms("查詢庫存 a_b getStock 人") == ["a", "b", "get", "stock", "查詢", "詢庫", "庫存", "人"]


@given(
    names=st.lists(st.text("abc_", min_size=1, max_size=6), unique=True, max_size=40),
    query=st.text("abc _查詢", min_size=1, max_size=30),
)
def test_at_most_eight_tools_are_found_each_once_and_only_those_of_the_run(names, query):
    found = [tool.name for tool in FindTools(build_tool(name, "S", f"{name} 查詢") for name in names).search(query)]
    assert len(found) == len(set(found)) <= MAX_FOUND
    assert set(found) <= set(names)

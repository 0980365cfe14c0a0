"""Long lists, page by page."""

import pytest

from tests.api.operations import OPERATIONS, things_of
from tests.api.test_query_counts import grow
from tests.api.test_rights import asked_by

PAGED = [
    "list_workspaces", "list_members", "list_agents", "list_versions", "list_chats", "list_chat_members", "list_links",
    "list_runs",
]  # fmt: skip


def key_of(row):
    return row.get("id") or (row.get("chat") or row.get("actor"))["id"]


@pytest.mark.parametrize("name", PAGED)
def test_the_pages_together_are_the_list_each_row_once(team, name):
    things, alice = things_of(team), asked_by(team, "alice")
    grow(team, 3)
    path = OPERATIONS[name].path.format(**things)
    whole = alice.ok("GET", f"{path}?limit=200")
    pages: list[dict] = []
    cursor: str | None = ""
    while cursor is not None:
        page = alice.ok("GET", f"{path}?limit=2" + (f"&cursor={cursor}" if cursor else ""))
        assert len(page["results"]) <= 2
        pages += page["results"]
        cursor = page["next"]
    assert whole["next"] is None
    assert [key_of(row) for row in pages] == [key_of(row) for row in whole["results"]]
    assert len(pages) >= (0 if name == "list_runs" else 2)


@pytest.mark.parametrize(
    "cursor", ["x", "bnVsbA==", "WzEsMl0=", "WyJub3QtYS1kYXRlIiwgIngiXQ==", "%00", "é", "WzFlOTk5LCAieCJd"]
)
def test_a_cursor_that_is_not_ours_is_bad_input(team, cursor):
    things, alice = things_of(team), asked_by(team, "alice")
    for name in PAGED:
        path = OPERATIONS[name].path.format(**things)
        alice.refused(400, "invalid", "GET", f"{path}?cursor={cursor}")
    alice.refused(400, "invalid", "GET", f"{OPERATIONS['list_agents'].path.format(**things)}?limit=0")

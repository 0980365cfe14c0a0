"""Long lists, page by page."""

import pytest

from agents.models import Origin
from agents.services import drafts, specs
from agents.specs.content import SpecContent
from chats.models import Message
from common.paging import MAX_LARGE_ROWS
from tests.api.operations import OPERATIONS, a_merge, a_suggestion, things_of
from tests.api.test_query_counts import grow
from tests.api.test_rights import client_for
from tests.factories.agents import DraftSnapshotFactory

PAGE_PARAMETERS = [
    "list_workspaces", "list_members", "list_agents", "list_versions", "list_chats", "list_chat_members", "list_links",
    "list_runs",
]  # fmt: skip


def key_of(row):
    return row.get("id") or (row.get("chat") or row.get("actor"))["id"]


@pytest.mark.parametrize("name", PAGE_PARAMETERS)
def test_the_pages_together_are_the_list_each_row_once(team, name):
    things, alice = things_of(team), client_for(team, "alice")
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


def make_large_rows(team, count):
    """So many versions, merges and earlier texts."""
    said = Message.objects.filter(chat=team.chat)[0]
    suggestion = a_suggestion(team, said)
    draft = drafts.claim_draft(actor=team.alice, chat_id=team.chat.id, agent_id=team.robin.id)
    for number in range(count):
        specs.write_spec(team.robin, SpecContent(), author=team.alice, origin=Origin.DRAFT, number=100 + number)
        a_merge(team, suggestion)
        DraftSnapshotFactory.create(draft=draft, revision=number, author=team.alice)


@pytest.mark.parametrize("name", ["list_versions", "list_merges", "list_draft_snapshots"])
def test_FAIR3_a_page_of_rows_with_whole_prompts_is_short_whatever_limit_is_asked_for(team, name):
    things, alice = things_of(team), client_for(team, "alice")
    make_large_rows(team, MAX_LARGE_ROWS + 3)
    path = OPERATIONS[name].path.format(**things) + "?limit=50" + ("&state=all" if name == "list_merges" else "")
    pages = [alice.ok("GET", path)]
    while pages[-1]["next"] is not None:
        pages.append(alice.ok("GET", f"{path}&cursor={pages[-1]['next']}"))
    assert [len(page["results"]) for page in pages][:1] == [MAX_LARGE_ROWS]
    assert all(len(page["results"]) <= MAX_LARGE_ROWS for page in pages)
    assert len({row["id"] for page in pages for row in page["results"]}) > MAX_LARGE_ROWS


@pytest.mark.parametrize(
    "cursor", ["x", "bnVsbA==", "WzEsMl0=", "WyJub3QtYS1kYXRlIiwgIngiXQ==", "%00", "é", "WzFlOTk5LCAieCJd"]
)
def test_a_cursor_that_is_not_ours_is_bad_input(team, cursor):
    things, alice = things_of(team), client_for(team, "alice")
    for name in PAGE_PARAMETERS:
        path = OPERATIONS[name].path.format(**things)
        alice.refused(400, "invalid", "GET", f"{path}?cursor={cursor}")
    alice.refused(400, "invalid", "GET", f"{OPERATIONS['list_agents'].path.format(**things)}?limit=0")

"""Pagination of lists."""

import pytest

from agents.services import drafts, stored_specs
from agents.specs.content import SpecContent
from chats.models import Message
from common.paging import MAX_LARGE_ROWS
from events.rows import SpecOrigin
from tests.api.operations import OPERATIONS, make_merge, make_suggestion
from tests.api.test_query_counts import grow
from tests.api.test_rights import client_for
from tests.factories.agents import DraftSnapshotFactory

PAGED_LISTS = [
    "list_workspaces",
    "list_members",
    "list_agents",
    "list_versions",
    "list_chats",
    "list_participants",
    "list_links",
    "list_runs",
]


def get_key(row):
    return row.get("id") or (row.get("chat") or row.get("actor"))["id"]


@pytest.mark.parametrize("name", PAGED_LISTS)
def test_all_pages_together_have_each_row_once_in_the_same_order(team_with_things, name):
    team, things = team_with_things
    alice = client_for(team, "alice")
    grow(team, 3)
    path = OPERATIONS[name].path.format(**things)
    all_rows = alice.ok("GET", f"{path}?limit=200")
    pages: list[dict] = []
    cursor: str | None = ""
    while cursor is not None:
        page = alice.ok("GET", f"{path}?limit=2" + (f"&cursor={cursor}" if cursor else ""))
        assert len(page["results"]) <= 2
        pages += page["results"]
        cursor = page["next"]
    assert all_rows["next"] is None
    assert [get_key(row) for row in pages] == [get_key(row) for row in all_rows["results"]]
    assert len(pages) >= (0 if name == "list_runs" else 2)


def make_large_rows(team, count):
    """Create `count` versions, merges and snapshots of a draft."""
    message = Message.objects.filter(chat=team.chat)[0]
    suggestion = make_suggestion(team, message)
    draft = drafts.claim_draft(actor=team.alice, chat_id=team.chat.id, agent_id=team.robin.id)
    for number in range(count):
        stored_specs.write_spec(
            team.robin, SpecContent(), author=team.alice, origin=SpecOrigin.DRAFT, number=100 + number
        )
        make_merge(team, suggestion)
        DraftSnapshotFactory.create(draft=draft, revision=number, author=team.alice)


@pytest.mark.parametrize("name", ["list_versions", "list_merges", "list_draft_snapshots"])
def test_FAIR3_a_page_of_rows_with_whole_prompts_is_short_for_any_limit(team_with_things, name):
    team, things = team_with_things
    alice = client_for(team, "alice")
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
def test_an_invalid_cursor_is_a_bad_request(team_with_things, cursor):
    team, things = team_with_things
    alice = client_for(team, "alice")
    for name in PAGED_LISTS:
        path = OPERATIONS[name].path.format(**things)
        alice.refused(400, "invalid", "GET", f"{path}?cursor={cursor}")
    alice.refused(400, "invalid", "GET", f"{OPERATIONS['list_agents'].path.format(**things)}?limit=0")

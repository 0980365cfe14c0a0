"""What becomes of the words of a draft: kept when others take their place, placed by others, handed in, rebased, revised."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from agents import hooks, selectors
from agents.agent_tools import RevisePrompt
from agents.models import AgentSpec, Draft, DraftSnapshot
from agents.services import drafts
from agents.specs.content import Limits, SpecContent, ToolUse
from chats import services as chats
from chats.models import Message
from common.errors import Code, Conflict, NotFound
from events.rows import Contributor, Provenance, Segment
from tests.factories.agents import AgentSpecFactory
from tests.hooks import record_calls
from tests.people import make_agent
from tools.interface import ToolContext, ToolError
from workspaces import services as workspaces

pytestmark = pytest.mark.django_db

BOB = uuid4()


def where(team, who="alice", **more):
    return {"actor": team[who], "chat_id": team.chat.id, "agent_id": team.robin.id, **more}


def take(team, who="alice", prompt=None):
    return drafts.claim_draft(**where(team, who), content=says(prompt) if prompt is not None else None)


def says(prompt, **fields):
    return SpecContent(prompt=prompt, **fields)


def run_out():
    Draft.objects.filter(lock_holder__isnull=False).update(lock_expires_at=timezone.now() - timedelta(seconds=1))


def kept():
    return [(e.written["prompt"], e.author.name, e.why) for e in DraftSnapshot.objects.order_by("revision")]


def saves(team, content, who="alice"):
    draft = drafts.claim_draft(**where(team, who), content=content)
    return drafts.save_draft(**where(team, who), revision=draft.revision, base_version=draft.base_version)


def places(team, prompt, *, lock=True, who="alice", **more):
    contributor = Contributor(id=BOB, actor_id=team.bob.id, name="Bob")
    return drafts.replace_draft(
        **where(team, who), content=says(prompt), base=team.robin.current_spec, lock=lock,
        provenance=Provenance(origin="merge", contributors=[contributor], segments=[Segment(text=prompt, contributors=[BOB])]),
        log_message=chats.build_system_message(team.chat.id, "DRAFT_MERGED", actor=team[who], target=team.robin), **more,
    )  # fmt: skip


# --- nothing is lost ----------------------------------------------------------------------------------------------


def whose(draft: Draft) -> Provenance:
    """Whose the words of a draft are."""
    provenance = draft.to_row().provenance
    assert provenance is not None
    return provenance


def test_a_takeover_keeps_what_the_other_wrote(team):
    first = take(team, "bob", "Bob's")
    drafts.write_draft(**where(team, "bob"), content=says("Bob's, longer"), revision=first.revision)
    run_out()
    taken = take(team)
    drafts.write_draft(**where(team), content=says("Alice's"), revision=taken.revision)
    assert kept() == [("Bob's, longer", "Bob", "takeover")]
    run_out()
    take(team, "bob", "Bob again")
    assert kept()[1:] == [("Alice's", "Alice", "takeover")]
    rows = [text.to_row() for text in selectors.list_draft_snapshots(**where(team, "bob")).order_by("-revision")]
    assert [(row.author.name, row.written["prompt"]) for row in rows] == [
        ("Alice", "Alice's"),
        ("Bob", "Bob's, longer"),
    ]


def test_ones_own_text_productions_text_and_what_is_kept_already_are_not_kept(team):
    take(team, "bob")
    run_out()
    take(team, "alice")
    assert kept() == []
    take(team, "alice", "Mine")
    take(team, "alice", "Mine, too")
    assert kept() == []
    for who in ("bob", "alice", "bob"):
        run_out()
        take(team, who)
    assert kept() == [("Mine, too", "Alice", "takeover")]


def test_earlier_texts_are_read_by_the_chat_alone(team):
    with pytest.raises(NotFound):
        selectors.list_draft_snapshots(**where(team))
    take(team)
    with pytest.raises(NotFound):
        selectors.list_draft_snapshots(**where(team, "charlie"))
    assert not selectors.list_draft_snapshots(**where(team, "bob"))


# --- words that were not typed ------------------------------------------------------------------------------------


def test_a_placed_draft_is_the_placers_and_its_line_and_rows_come_with_it(team):
    more = chats.build_system_message(team.chat.id, "SUGGESTION_ACCEPTED", actor=team.alice, target=team.robin)
    draft = places(team, "Merged", changes=[more])
    draft.refresh_from_db()
    assert (draft.written["prompt"], draft.lock_holder, draft.status, draft.base_version) == (
        "Merged",
        team.alice,
        "drafting",
        1,
    )
    assert draft.to_row().provenance.contributors[0].name == "Bob"
    lines = Message.objects.filter(chat=team.chat, type__in=["DRAFT_MERGED", "SUGGESTION_ACCEPTED"])
    assert sorted(lines.values_list("type", flat=True)) == ["DRAFT_MERGED", "SUGGESTION_ACCEPTED"]
    assert drafts.write_draft(**where(team), content=says("On"), revision=draft.revision).written["prompt"] == "On"


def test_what_was_written_is_kept_and_what_is_applied_goes_on_answering(team):
    mine = take(team, "alice", "Mine")
    drafts.apply_draft(**where(team), revision=mine.revision)
    draft = places(team, "Merged")
    assert (draft.revision, draft.applied.prompt, draft.status) == (mine.revision + 1, "Mine", "drafting")
    assert kept() == [("Mine", "Alice", "merge")]
    with pytest.raises(Conflict):
        drafts.write_draft(**where(team), content=says("Late"), revision=mine.revision)


def test_nothing_is_placed_into_a_draft_that_somebody_locks_or_by_who_locks_another(team):
    take(team, "bob", "Bob's")
    with pytest.raises(Conflict) as refusal:
        places(team, "Merged")
    assert refusal.value.code == Code.DRAFT_LOCKED
    wren = make_agent(team.workspace, team.alice, "Wren")
    other = chats.create_chat(team.alice, team.workspace.id, title="Other", actor_ids=[wren.id])
    drafts.claim_draft(actor=team.alice, chat_id=other.id, agent_id=wren.id)
    Draft.objects.filter(lock_holder=team.bob).update(lock_expires_at=timezone.now() - timedelta(seconds=1))
    with pytest.raises(Conflict) as refusal:
        places(team, "Merged")
    assert refusal.value.code == Code.OTHER_DRAFT_LOCKED
    free = places(team, "Merged", lock=False)
    assert (free.lock_holder, free.lock_expires_at) == (None, None)


def test_what_is_left_free_is_not_placed_under_ones_own_hands(team):
    take(team, "alice", "Typing")
    with pytest.raises(Conflict):
        places(team, "Merged", lock=False)
    assert Draft.objects.get().written["prompt"] == "Typing"


def test_handing_in_ends_the_draft_and_frees_the_lock(team, monkeypatch):
    told = record_calls(monkeypatch, hooks.draft_ended)
    draft = take(team, "bob", "Bob's")
    line = chats.build_system_message(team.chat.id, "SUGGESTION_CREATED", actor=team.bob, target=team.robin)
    with pytest.raises(Conflict):
        drafts.submit_draft(**where(team, "bob"), revision=draft.revision + 1, log_message=line)
    handed = drafts.submit_draft(**where(team, "bob"), revision=draft.revision, log_message=line)
    assert (handed.written["prompt"], handed.outcome, handed.lock_holder) == ("Bob's", "suggested", None)
    assert told == [(draft, team.bob, None)]
    assert Message.objects.filter(type="SUGGESTION_CREATED").count() == 1
    assert take(team, "alice").written["prompt"] == "Answer."


# --- on top of today's production ---------------------------------------------------------------------------------


def two_rooms(team):
    return chats.create_chat(team.alice, team.workspace.id, title="Other", actor_ids=[team.bob.id, team.robin.id])


def test_rebasing_brings_in_what_production_changed_and_keeps_the_text_before(team):
    saves(team, says("a\nb\nc\nd"))
    other = two_rooms(team)
    mine = drafts.claim_draft(actor=team.bob, chat_id=other.id, agent_id=team.robin.id, content=says("a\nb\nc\nmine"))
    saves(team, says("today\nb\nc\nd", limits=Limits(max_steps=3)))
    at = {"actor": team.bob, "chat_id": other.id, "agent_id": team.robin.id}
    drafts.apply_draft(**at, revision=mine.revision)
    rebased = drafts.rebase_draft(**at, revision=mine.revision, merge=True)
    assert (rebased.base_version, rebased.revision, rebased.status) == (3, mine.revision + 1, "drafting")
    content = SpecContent.model_validate(rebased.written)
    assert (content.prompt, content.limits.max_steps) == ("today\nb\nc\nmine", 3)
    assert kept() == [("a\nb\nc\nmine", "Bob", "rebase")]
    provenance = whose(rebased)
    assert [(segment.text, len(segment.contributors)) for segment in provenance.segments] == [
        ("today\nb\nc\n", 0),
        ("mine", 1),
    ]
    assert [contributor.name for contributor in provenance.contributors] == ["Bob"]


def test_rebasing_a_merged_draft_leaves_every_line_its_author(team):
    saves(team, says("a\nb\nc\nd\ne"))
    team.robin.refresh_from_db()
    other = two_rooms(team)
    merged = places(team, "a\nb\nc\nd\nbob's")
    Draft.objects.filter(pk=merged.pk).update(
        provenance=Provenance(
            origin="merge", contributors=[Contributor(id=BOB, actor_id=team.bob.id, name="Bob")],
            segments=[Segment(text="a\nb\nc\nd\n"), Segment(text="bob's", contributors=[BOB])],
        ).model_dump(mode="json")
    )  # fmt: skip
    written = drafts.write_draft(**where(team), content=says("a\nb\nalice's\nd\nbob's"), revision=merged.revision)
    there = {"actor": team.bob, "chat_id": other.id, "agent_id": team.robin.id}
    newer = drafts.claim_draft(**there, content=says("today\nb\nc\nd\ne"))
    spec = AgentSpecFactory.create(agent=team.robin, number=3, prompt="today\nb\nc\nd\ne", author=team.alice)
    team.robin.current_spec = spec
    team.robin.save()
    assert newer.base_version == 2
    rebased = drafts.rebase_draft(**where(team), revision=written.revision, merge=True)
    assert rebased.written["prompt"] == "today\nb\nalice's\nd\nbob's"
    assert [(segment.text, segment.contributors) for segment in whose(rebased).segments] == [
        ("today\nb\n", []), ("alice's\n", [team.alice.id]), ("d\n", []), ("bob's", [BOB])
    ]  # fmt: skip


def test_rebasing_by_hand_changes_no_word(team):
    draft = take(team, "alice", "Mine")
    rebased = drafts.rebase_draft(**where(team), revision=draft.revision)
    assert (rebased.written["prompt"], rebased.provenance, kept()) == ("Mine", None, [])


# --- an agent that is told to change itself ---------------------------------------------------------------

REVISE = RevisePrompt()


def revise(team, who="alice", prompt="Shorter.", agent=None, chat=None):
    context = ToolContext(agent or team.robin, team[who] if who else None, (chat or team.chat).id, uuid4(), "call",
                          authors=[team[who]] if who else [])  # fmt: skip
    return REVISE.run(context, REVISE.Args(prompt=prompt, reason="Dave wants it shorter"))


def test_an_agent_drafts_its_new_prompt_and_goes_on_as_before(team):
    assert "review" in revise(team)
    draft = Draft.objects.get()
    assert (draft.written["prompt"], draft.lock_holder, draft.status, draft.created_by) == (
        "Shorter.",
        None,
        "drafting",
        team.robin,
    )
    assert SpecContent.model_validate(draft.written).tools == (ToolUse(tool="current_time"),)
    assert (draft.applied, AgentSpec.objects.filter(agent=team.robin).count()) == (None, 1)
    provenance = whose(draft)
    assert (
        provenance.origin,
        [(contributor.name, contributor.in_run_of) for contributor in provenance.contributors],
    ) == (
        "revise",
        [("Robin", "Alice")],
    )
    assert [(segment.text, segment.contributors) for segment in provenance.segments] == [("Shorter.", [team.robin.id])]
    line = Message.objects.get(type="DRAFT_STARTED").payload
    assert (line["actor_name"], line["via"], line["note"]) == ("Alice", "Robin", "Dave wants it shorter")
    assert take(team, "bob").written["prompt"] == "Shorter."


def test_only_for_who_may_save_the_agent_when_it_is_called(team):
    with pytest.raises(ToolError) as refusal:
        revise(team, "bob")
    assert refusal.value.is_final
    assert "suggest it" in str(refusal.value)
    with pytest.raises(ToolError):
        revise(team, None)
    assert not Draft.objects.exists()
    workspaces.change_role(team.alice, team.workspace.id, team.bob.id, role="editor")
    assert revise(team, "bob")


def test_a_free_draft_is_built_upon_and_kept_and_a_held_one_is_left_alone(team):
    held = take(team, "bob", "Bob's\nlines")
    with pytest.raises(ToolError, match="Bob is writing"):
        revise(team)
    drafts.release_draft(**where(team, "bob"), revision=held.revision)
    revise(team, prompt="Bob's\nand more")
    draft = Draft.objects.get()
    assert (draft.written["prompt"], draft.revision) == ("Bob's\nand more", held.revision + 1)
    assert kept() == [("Bob's\nlines", "Bob", "revise")]
    assert [(segment.text, segment.contributors) for segment in whose(draft).segments] == [
        ("Bob's\n", [team.bob.id]), ("and more", [team.robin.id])
    ]  # fmt: skip
    with pytest.raises(ToolError, match="says this already"):
        revise(team, prompt="Bob's\nand more")


def test_nobody_has_a_public_agent_or_one_of_another_chat_changed(team):
    team.robin.is_public = True
    team.robin.workspace, team.robin.is_shipped, team.robin.published_at = None, True, timezone.now()
    team.robin.save()
    with pytest.raises(ToolError, match="public agent"):
        revise(team)
    wren = make_agent(team.workspace, team.alice, "Wren")
    with pytest.raises(ToolError):
        revise(team, agent=wren)
    assert not Draft.objects.exists()


def test_new_agents_can_be_told_to_change_themselves(team):
    for more in ({}, {"template": "scribe"}):
        agent = make_agent(team.workspace, team.alice, "New", **more)
        assert agent.current_spec is not None
        assert "revise_prompt" in [use.tool for use in agent.current_spec.content().tools]

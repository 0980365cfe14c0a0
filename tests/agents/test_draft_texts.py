"""Changes of the text of a draft: snapshots, replacement by a merge, submitting, rebasing, and revisions by the agent."""

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


def draft_args(team, who="alice", **arguments):
    return {"actor": team[who], "chat_id": team.chat.id, "agent_id": team.robin.id, **arguments}


def claim(team, who="alice", prompt=None):
    return drafts.claim_draft(**draft_args(team, who), content=build_content(prompt) if prompt is not None else None)


def build_content(prompt, **fields):
    return SpecContent(prompt=prompt, **fields)


def expire_locks():
    Draft.objects.filter(lock_holder__isnull=False).update(lock_expires_at=timezone.now() - timedelta(seconds=1))


def list_snapshots():
    return [
        (snapshot.written["prompt"], snapshot.author.name, snapshot.reason)
        for snapshot in DraftSnapshot.objects.order_by("revision")
    ]


def save_version(team, content, who="alice"):
    draft = drafts.claim_draft(**draft_args(team, who), content=content)
    return drafts.save_draft(**draft_args(team, who), revision=draft.revision, base_version=draft.base_version)


def replace_draft(team, prompt, *, lock=True, who="alice", **arguments):
    contributor = Contributor(id=BOB, actor_id=team.bob.id, name="Bob")
    return drafts.replace_draft(
        **draft_args(team, who),
        content=build_content(prompt),
        base=team.robin.current_spec,
        lock=lock,
        provenance=Provenance(
            origin="merge", contributors=[contributor], segments=[Segment(text=prompt, contributors=[BOB])]
        ),
        system_message=chats.build_system_message(team.chat.id, "DRAFT_MERGED", actor=team[who], target=team.robin),
        **arguments,
    )


# --- snapshots ----------------------------------------------------------------------------------------------


def get_provenance(draft: Draft) -> Provenance:
    """Return the provenance of a draft."""
    provenance = draft.to_row().provenance
    assert provenance is not None
    return provenance


def test_a_claim_of_another_persons_draft_saves_a_snapshot(team):
    first = claim(team, "bob", "Bob's")
    drafts.write_draft(**draft_args(team, "bob"), content=build_content("Bob's, longer"), revision=first.revision)
    expire_locks()
    claimed = claim(team)
    drafts.write_draft(**draft_args(team), content=build_content("Alice's"), revision=claimed.revision)
    assert list_snapshots() == [("Bob's, longer", "Bob", "takeover")]
    expire_locks()
    claim(team, "bob", "Bob again")
    assert list_snapshots()[1:] == [("Alice's", "Alice", "takeover")]
    rows = [text.to_row() for text in selectors.list_draft_snapshots(**draft_args(team, "bob")).order_by("-revision")]
    assert [(row.author.name, row.written["prompt"]) for row in rows] == [
        ("Alice", "Alice's"),
        ("Bob", "Bob's, longer"),
    ]


def test_no_snapshot_is_saved_of_ones_own_text_of_production_or_twice(team):
    claim(team, "bob")
    expire_locks()
    claim(team, "alice")
    assert list_snapshots() == []
    claim(team, "alice", "Mine")
    claim(team, "alice", "Mine, too")
    assert list_snapshots() == []
    for who in ("bob", "alice", "bob"):
        expire_locks()
        claim(team, who)
    assert list_snapshots() == [("Mine, too", "Alice", "takeover")]


def test_only_participants_can_list_snapshots(team):
    with pytest.raises(NotFound):
        selectors.list_draft_snapshots(**draft_args(team))
    claim(team)
    with pytest.raises(NotFound):
        selectors.list_draft_snapshots(**draft_args(team, "charlie"))
    assert not selectors.list_draft_snapshots(**draft_args(team, "bob"))


# --- replacing a draft ------------------------------------------------------------------------------------


def test_replacing_a_draft_locks_it_for_the_actor_and_saves_the_messages(team):
    message = chats.build_system_message(team.chat.id, "SUGGESTION_ACCEPTED", actor=team.alice, target=team.robin)
    draft = replace_draft(team, "Merged", changes=[message])
    draft.refresh_from_db()
    assert (draft.written["prompt"], draft.lock_holder, draft.status, draft.base_version) == (
        "Merged",
        team.alice,
        "drafting",
        1,
    )
    assert draft.to_row().provenance.contributors[0].name == "Bob"
    messages = Message.objects.filter(chat=team.chat, type__in=["DRAFT_MERGED", "SUGGESTION_ACCEPTED"])
    assert sorted(messages.values_list("type", flat=True)) == ["DRAFT_MERGED", "SUGGESTION_ACCEPTED"]
    assert (
        drafts.write_draft(**draft_args(team), content=build_content("On"), revision=draft.revision).written["prompt"]
        == "On"
    )


def test_replacing_a_draft_saves_a_snapshot_and_keeps_the_applied_text(team):
    draft_of_alice = claim(team, "alice", "Mine")
    drafts.apply_draft(**draft_args(team), revision=draft_of_alice.revision)
    draft = replace_draft(team, "Merged")
    assert (draft.revision, draft.applied.content["prompt"], draft.status) == (
        draft_of_alice.revision + 1,
        "Mine",
        "drafting",
    )
    assert list_snapshots() == [("Mine", "Alice", "merge")]
    with pytest.raises(Conflict):
        drafts.write_draft(**draft_args(team), content=build_content("Late"), revision=draft_of_alice.revision)


def test_a_draft_is_not_replaced_if_another_person_locks_it_or_the_actor_locks_another(team):
    claim(team, "bob", "Bob's")
    with pytest.raises(Conflict) as refusal:
        replace_draft(team, "Merged")
    assert refusal.value.code == Code.DRAFT_LOCKED
    wren = make_agent(team.workspace, team.alice, "Wren")
    other = chats.create_chat(team.alice, team.workspace.id, title="Other", actor_ids=[wren.id])
    drafts.claim_draft(actor=team.alice, chat_id=other.id, agent_id=wren.id)
    Draft.objects.filter(lock_holder=team.bob).update(lock_expires_at=timezone.now() - timedelta(seconds=1))
    with pytest.raises(Conflict) as refusal:
        replace_draft(team, "Merged")
    assert refusal.value.code == Code.OTHER_DRAFT_LOCKED
    unlocked_draft = replace_draft(team, "Merged", lock=False)
    assert (unlocked_draft.lock_holder, unlocked_draft.lock_expires_at) == (None, None)


def test_a_draft_that_the_actor_edits_is_not_replaced_without_a_lock(team):
    claim(team, "alice", "Typing")
    with pytest.raises(Conflict):
        replace_draft(team, "Merged", lock=False)
    assert Draft.objects.get().written["prompt"] == "Typing"


def test_submitting_a_draft_ends_it_and_releases_its_lock(team, monkeypatch):
    calls = record_calls(monkeypatch, hooks.draft_ended)
    draft = claim(team, "bob", "Bob's")
    message = chats.build_system_message(team.chat.id, "SUGGESTION_CREATED", actor=team.bob, target=team.robin)
    with pytest.raises(Conflict):
        drafts.end_suggested_draft(**draft_args(team, "bob"), revision=draft.revision + 1, system_message=message)
    submitted = drafts.end_suggested_draft(**draft_args(team, "bob"), revision=draft.revision, system_message=message)
    assert (submitted.written["prompt"], submitted.outcome, submitted.lock_holder) == ("Bob's", "suggested", None)
    assert calls == [(draft, team.bob, None)]
    assert Message.objects.filter(type="SUGGESTION_CREATED").count() == 1
    assert claim(team, "alice").written["prompt"] == "Answer."


# --- rebasing ---------------------------------------------------------------------------------


def create_other_chat(team):
    return chats.create_chat(team.alice, team.workspace.id, title="Other", actor_ids=[team.bob.id, team.robin.id])


def test_a_rebase_merges_the_changes_of_production_and_saves_a_snapshot(team):
    save_version(team, build_content("a\nb\nc\nd"))
    other = create_other_chat(team)
    draft_of_bob = drafts.claim_draft(
        actor=team.bob, chat_id=other.id, agent_id=team.robin.id, content=build_content("a\nb\nc\nmine")
    )
    save_version(team, build_content("today\nb\nc\nd", limits=Limits(max_steps=3)))
    args = {"actor": team.bob, "chat_id": other.id, "agent_id": team.robin.id}
    drafts.apply_draft(**args, revision=draft_of_bob.revision)
    rebased = drafts.rebase_draft(**args, revision=draft_of_bob.revision, merge_production=True)
    assert (rebased.base_version, rebased.revision, rebased.status) == (3, draft_of_bob.revision + 1, "drafting")
    content = SpecContent.model_validate(rebased.written)
    assert (content.prompt, content.limits.max_steps) == ("today\nb\nc\nmine", 3)
    assert list_snapshots() == [("a\nb\nc\nmine", "Bob", "rebase")]
    provenance = get_provenance(rebased)
    assert [(segment.text, len(segment.contributors)) for segment in provenance.segments] == [
        ("today\nb\nc\n", 0),
        ("mine", 1),
    ]
    assert [contributor.name for contributor in provenance.contributors] == ["Bob"]


def test_a_rebase_of_a_merged_draft_keeps_the_contributors_of_every_line(team):
    save_version(team, build_content("a\nb\nc\nd\ne"))
    team.robin.refresh_from_db()
    other = create_other_chat(team)
    merged = replace_draft(team, "a\nb\nc\nd\nbob's")
    Draft.objects.filter(pk=merged.pk).update(
        provenance=Provenance(
            origin="merge",
            contributors=[Contributor(id=BOB, actor_id=team.bob.id, name="Bob")],
            segments=[Segment(text="a\nb\nc\nd\n"), Segment(text="bob's", contributors=[BOB])],
        ).model_dump(mode="json")
    )
    written = drafts.write_draft(
        **draft_args(team), content=build_content("a\nb\nalice's\nd\nbob's"), revision=merged.revision
    )
    other_args = {"actor": team.bob, "chat_id": other.id, "agent_id": team.robin.id}
    newer = drafts.claim_draft(**other_args, content=build_content("today\nb\nc\nd\ne"))
    spec = AgentSpecFactory.create(agent=team.robin, number=3, prompt="today\nb\nc\nd\ne", author=team.alice)
    team.robin.current_spec = spec
    team.robin.save()
    assert newer.base_version == 2
    rebased = drafts.rebase_draft(**draft_args(team), revision=written.revision, merge_production=True)
    assert rebased.written["prompt"] == "today\nb\nalice's\nd\nbob's"
    assert [(segment.text, segment.contributors) for segment in get_provenance(rebased).segments] == [
        ("today\nb\n", []),
        ("alice's\n", [team.alice.id]),
        ("d\n", []),
        ("bob's", [BOB]),
    ]


def test_a_rebase_without_merge_does_not_change_the_text(team):
    draft = claim(team, "alice", "Mine")
    rebased = drafts.rebase_draft(**draft_args(team), revision=draft.revision)
    assert (rebased.written["prompt"], rebased.provenance, list_snapshots()) == ("Mine", None, [])


# --- revise_prompt ---------------------------------------------------------------

REVISE = RevisePrompt()


def revise(team, who="alice", prompt="Shorter.", agent=None, chat=None):
    context = ToolContext(agent or team.robin, team[who] if who else None, (chat or team.chat).id, uuid4(), "call")
    return REVISE.run(context, REVISE.Args(prompt=prompt, reason="Dave wants it shorter"))


def test_revise_prompt_writes_a_draft_and_changes_nothing_else(team):
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
    provenance = get_provenance(draft)
    assert (
        provenance.origin,
        [(contributor.name, contributor.in_run_of) for contributor in provenance.contributors],
    ) == (
        "revise",
        [("Robin", "Alice")],
    )
    assert [(segment.text, segment.contributors) for segment in provenance.segments] == [("Shorter.", [team.robin.id])]
    message = Message.objects.get(type="DRAFT_STARTED").payload
    assert (message["actor_name"], message["via"], message["note"]) == ("Alice", "Robin", "Dave wants it shorter")
    assert claim(team, "bob").written["prompt"] == "Shorter."


def test_revise_prompt_works_only_for_people_who_may_save_the_agent(team):
    with pytest.raises(ToolError) as refusal:
        revise(team, "bob")
    assert refusal.value.is_final
    assert "suggest it" in str(refusal.value)
    with pytest.raises(ToolError):
        revise(team, None)
    assert not Draft.objects.exists()
    workspaces.change_role(team.alice, team.workspace.id, team.bob.id, role="editor")
    assert revise(team, "bob")


def test_revise_prompt_changes_an_unlocked_draft_and_refuses_a_locked_one(team):
    locked_draft = claim(team, "bob", "Bob's\nlines")
    with pytest.raises(ToolError, match="Bob is editing"):
        revise(team)
    drafts.release_draft(**draft_args(team, "bob"), revision=locked_draft.revision)
    revise(team, prompt="Bob's\nand more")
    draft = Draft.objects.get()
    assert (draft.written["prompt"], draft.revision) == ("Bob's\nand more", locked_draft.revision + 1)
    assert list_snapshots() == [("Bob's\nlines", "Bob", "revise")]
    assert [(segment.text, segment.contributors) for segment in get_provenance(draft).segments] == [
        ("Bob's\n", [team.bob.id]),
        ("and more", [team.robin.id]),
    ]
    with pytest.raises(ToolError, match="says this already"):
        revise(team, prompt="Bob's\nand more")


def test_revise_prompt_refuses_public_agents_and_agents_outside_the_chat(team):
    team.robin.is_public, team.robin.normalized_name = True, "robin"
    team.robin.workspace, team.robin.is_shipped, team.robin.published_at = None, True, timezone.now()
    team.robin.save()
    with pytest.raises(ToolError, match="public agent"):
        revise(team)
    wren = make_agent(team.workspace, team.alice, "Wren")
    with pytest.raises(ToolError):
        revise(team, agent=wren)
    assert not Draft.objects.exists()


def test_new_agents_have_revise_prompt(team):
    for fields in ({}, {"template": "scribe"}):
        agent = make_agent(team.workspace, team.alice, "New", **fields)
        assert agent.current_spec is not None
        assert "revise_prompt" in [use.tool for use in agent.current_spec.parse_content().tools]

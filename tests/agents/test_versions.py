"""Reading, comparing and restoring versions (RUN6), and reading the text that answered."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction

from agents import selectors
from agents.models import AgentSpec, Draft
from agents.services import drafts, specs
from agents.specs.content import SpecContent
from chats import services as chats
from chats.models import Chat, Message
from common.clock import now
from common.errors import Code, Conflict, Forbidden, NotFound
from events.models import AuditRecord
from events.rows import SpecOrigin
from runs.models import Run
from tests.api.test_rights import client_for
from tests.factories.runs import RunFactory
from tests.people import Team, make_agent

pytestmark = pytest.mark.django_db(transaction=True)

SECOND = SpecContent(prompt="Answer.\nBriefly.", model="big", limits={"max_steps": 3}, tools=({"tool": "web_fetch"},))


def save_version(team: Team, content: SpecContent, message: str = "") -> AgentSpec:
    draft_args: dict[str, Any] = {"actor": team.alice, "chat_id": team.chat.id, "agent_id": team.robin.id}
    draft = drafts.claim_draft(**draft_args, content=content)
    return drafts.save_draft(**draft_args, revision=draft.revision, base_version=draft.base_version, message=message)


def restore(team: Team, who: str = "alice", **more) -> AgentSpec:
    arguments = {"actor": team[who], "agent_id": team.robin.id, "number": 1, "base_version": 2, **more}
    return specs.restore_version(**arguments)


def create_run(team: Team, chat: Chat, spec: AgentSpec, *texts: str, **more) -> Run:
    """Create a run of Robin with this spec, and its messages."""
    started = now() - timedelta(seconds=3)
    run = RunFactory.create(
        chat=chat, agent=team.robin, spec=spec, ended=True, cost_micro=1200, started_at=started, **more
    )
    for text in texts:
        message = Message(
            chat=chat,
            author=team.robin,
            type="TEXT_MESSAGE",
            payload={"text": text, "mentions": []},
            run_id=run.id,
            created_at=now(),
        )
        with transaction.atomic():
            chats.save_changes(chat.id, [message])
    return run


def create_other_chat(team: Team, owner: str) -> Chat:
    return chats.create_chat(team[owner], team.workspace.id, title="Other", actor_ids=[team.robin.id])


# --- restore ---------------------------------------------------------------------------------------------------


def test_a_restore_creates_the_next_version_with_the_whole_old_spec(team):
    first = team.robin.current_spec.parse_content()
    save_version(team, SECOND)
    spec = restore(team)
    assert (spec.number, spec.origin, spec.base_version, spec.message) == (3, SpecOrigin.RESTORED, 1, "Restore v1")
    assert AgentSpec.objects.get(pk=spec.pk).parse_content() == first
    team.robin.refresh_from_db()
    assert team.robin.current_spec_id == spec.pk
    assert [row.parse_content() for row in team.robin.specs.filter(number__lt=3).order_by("number")] == [first, SECOND]
    assert AuditRecord.objects.filter(action="spec.restored", object_id=team.robin.id).count() == 1


def test_a_restore_posts_a_message_only_in_the_given_chat(team):
    save_version(team, SECOND)
    other = create_other_chat(team, "alice")
    restore(team, chat_id=team.chat.id, message="Back to short answers")
    message = Message.objects.get(chat=team.chat, type="SPEC_SAVED", payload__version=3)
    assert (message.payload["note"], message.payload["actor_name"]) == ("Back to short answers", "Alice")
    assert not Message.objects.filter(chat=other, type="SPEC_SAVED").exists()


def test_a_restore_on_a_version_that_is_no_longer_production_is_refused(team):
    save_version(team, SECOND)
    with pytest.raises(Conflict) as refusal:
        restore(team, base_version=1)
    assert refusal.value.code == Code.STALE_BASE
    assert refusal.value.data["production"]["number"] == 2
    assert team.robin.specs.count() == 2


def test_a_restore_of_the_current_content_is_refused(team):
    save_version(team, SECOND)
    with pytest.raises(Conflict) as refusal:
        restore(team, number=2)
    assert refusal.value.code == Code.NOTHING_CHANGED


def test_a_suggester_cannot_restore_and_an_outsider_cannot_see_the_agent(team):
    save_version(team, SECOND)
    with pytest.raises(Forbidden):
        restore(team, "bob")
    with pytest.raises(NotFound):
        restore(team, "charlie")
    assert team.robin.specs.count() == 2


def test_a_restore_with_a_chat_without_the_actor_or_the_agent_is_refused(team):
    save_version(team, SECOND)
    bare = chats.create_chat(team.alice, team.workspace.id, title="Bare", actor_ids=[])
    for chat in (create_other_chat(team, "bob"), bare):
        with pytest.raises(NotFound):
            restore(team, chat_id=chat.id)
    assert team.robin.specs.count() == 2


def test_a_draft_started_before_a_restore_cannot_be_saved_over_it(team):
    save_version(team, SECOND)
    draft_args = {"actor": team.alice, "chat_id": team.chat.id, "agent_id": team.robin.id}
    draft = drafts.claim_draft(**draft_args, content=SpecContent(prompt="Mine"))
    restore(team)
    with pytest.raises(Conflict) as refusal:
        drafts.save_draft(**draft_args, revision=draft.revision, base_version=2)
    assert refusal.value.code == Code.STALE_BASE
    assert Draft.objects.get(pk=draft.pk).ended_at is None


# --- comparing -------------------------------------------------------------------------------------------------


def test_any_two_versions_can_be_compared_in_either_direction(team):
    save_version(team, SECOND)
    api, address = client_for(team, "bob"), f"agents/{team.robin.id}/diff"
    forward = api.ok("GET", f"{address}?a=1&b=2")
    assert forward["prompt"] == "@@ -1 +1,2 @@\n Answer.\n+Briefly."
    assert (forward["prompt_added"], forward["prompt_removed"]) == (1, 0)
    assert [change["field"] for change in forward["fields"]] == [
        "model",
        "limits.max_steps",
        "tools.current_time",
        "tools.web_fetch",
    ]
    backward = api.ok("GET", f"{address}?a=2&b=1")
    assert (backward["prompt_added"], backward["prompt_removed"]) == (0, 1)
    api.refused(404, "not_found", "GET", f"{address}?a=1&b=9")
    api.refused(400, "invalid", "GET", f"{address}?a=1")


# --- the replies of a version ----------------------------------------------------------------------------------


def list_replies(team: Team, who: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = client_for(team, who).ok("GET", f"agents/{team.robin.id}/versions/1/replies")[
        "results"
    ]
    return rows


def test_the_replies_of_a_version_are_the_last_messages_of_its_runs_newest_first(team):
    spec = team.robin.current_spec
    first = create_run(team, team.chat, spec, "Let me see", "界" * 200)
    run_without_text = create_run(team, team.chat, spec)
    create_run(team, team.chat, save_version(team, SECOND), "by the second")
    rows = list_replies(team, "bob")
    assert [row["run_id"] for row in rows] == [str(run_without_text.id), str(first.id)]
    assert (rows[0]["message_id"], rows[0]["excerpt"]) == (None, "")
    assert (rows[1]["excerpt"], rows[1]["chat_title"], rows[1]["cost_micro"]) == ("界" * 160, "Room", 1200)
    assert rows[1]["seconds"] == pytest.approx(3, abs=0.5)


def test_replies_in_chats_of_others_are_hidden_even_from_editors(team):
    create_run(team, create_other_chat(team, "bob"), team.robin.current_spec, "between us")
    assert list_replies(team, "alice") == []
    assert [row["excerpt"] for row in list_replies(team, "bob")] == ["between us"]


def test_editors_find_replies_and_texts_of_chats_between_agents_and_others_do_not(team):
    quill = make_agent(team.workspace, team.alice, "Quill")
    chat, _ = chats.open_direct_chat(team.robin, team.workspace.id, quill.id)
    draft = drafts.claim_draft(team.alice, chat.id, team.robin.id, content=SpecContent(prompt="First try"))
    spec = drafts.apply_draft(team.alice, chat.id, team.robin.id, revision=draft.revision).applied
    assert spec is not None
    create_run(team, chat, team.robin.current_spec, "between us")
    rows = list_replies(team, "alice")
    assert [(row["excerpt"], row["chat_title"]) for row in rows] == [("between us", "Robin · Quill")]
    assert selectors.get_spec(team.alice, team.robin.id, spec.id).content["prompt"] == "First try"
    assert list_replies(team, "bob") == []
    with pytest.raises(NotFound):
        selectors.get_spec(team.bob, team.robin.id, spec.id)
    client_for(team, "charlie").refused(404, "not_found", "GET", f"agents/{team.robin.id}/versions/1/replies")


def test_replies_in_a_chat_without_a_title_name_the_others(team):
    chat, _ = chats.open_direct_chat(team.bob, team.workspace.id, team.robin.id)
    create_run(team, chat, team.robin.current_spec, "only for you")
    assert [row["chat_title"] for row in list_replies(team, "bob")] == ["Robin"]
    assert list_replies(team, "alice") == []


# --- which text answered ----------------------------------------------------------------------------------------


def test_an_applied_text_can_be_read_only_by_participants_of_its_chat(team):
    draft_args = {"chat_id": team.chat.id, "agent_id": team.robin.id, "actor": team.alice}
    draft = drafts.claim_draft(**draft_args, content=SpecContent(prompt="First try"))
    first = drafts.apply_draft(**draft_args, revision=draft.revision).applied
    draft = drafts.write_draft(**draft_args, content=SpecContent(prompt="Second try"), revision=draft.revision)
    second = drafts.apply_draft(**draft_args, revision=draft.revision).applied
    assert first is not None
    assert second is not None
    create_run(team, team.chat, first, "by the first try")
    assert selectors.get_spec(team.bob, team.robin.id, first.id).content["prompt"] == "First try"
    assert selectors.get_spec(team.bob, team.robin.id, second.id).content["prompt"] == "Second try"
    chats.remove_participant(team.alice, team.chat.id, team.bob.id)
    for spec in (first, second):
        with pytest.raises(NotFound):
            selectors.get_spec(team.bob, team.robin.id, spec.id)


def test_a_version_can_be_read_by_every_member_and_only_with_its_own_agent(team):
    other = make_agent(team.workspace, team.alice, "Wren")
    spec_of_robin, spec_of_wren = (AgentSpec.objects.get(agent=agent) for agent in (team.robin, other))
    assert selectors.get_spec(team.bob, team.robin.id, spec_of_robin.id).number == 1
    with pytest.raises(NotFound):
        selectors.get_spec(team.bob, team.robin.id, spec_of_wren.id)


# --- what an apply changed -----------------------------------------------------------------------------------------


def apply_content(team: Team, who: str, content: SpecContent) -> Message:
    """Apply a draft with this content, and return its message."""
    draft_args: dict[str, Any] = {"actor": team[who], "chat_id": team.chat.id, "agent_id": team.robin.id}
    draft = drafts.claim_draft(**draft_args, content=content)
    drafts.apply_draft(**draft_args, revision=draft.revision)
    return Message.objects.filter(chat=team.chat, type="DRAFT_APPLIED").latest("seq")


def test_the_message_of_an_apply_describes_the_changes_to_the_text_before(team):
    first = apply_content(team, "alice", SECOND)
    assert (first.payload["lines_changed"], first.payload["touches"]) == (1, ["prompt", "model", "limits", "tools"])
    second = apply_content(team, "alice", SECOND.model_copy(update={"prompt": "Answer.\nBriefly.\nIn verse."}))
    assert (second.payload["lines_changed"], second.payload["touches"]) == (1, ["prompt"])
    assert second.payload["before_id"] == first.payload["spec_id"]
    change = client_for(team, "bob").ok("GET", f"chats/{team.chat.id}/messages/{second.id}/diff")
    assert change["prompt"].endswith("+In verse.")
    assert (change["prompt_added"], change["prompt_removed"], change["fields"]) == (1, 0, [])


def test_the_diff_of_an_apply_is_shown_only_in_its_chat(team):
    apply_message = apply_content(team, "alice", SECOND)
    other_chat = create_other_chat(team, "bob")
    other_message = Message.objects.filter(chat=team.chat, type="MEMBER_JOINED").earliest("seq")
    for who, chat, message in (
        ("bob", other_chat, apply_message),
        ("charlie", team.chat, apply_message),
        ("bob", team.chat, other_message),
    ):
        client_for(team, who).refused(404, "not_found", "GET", f"chats/{chat.id}/messages/{message.id}/diff")

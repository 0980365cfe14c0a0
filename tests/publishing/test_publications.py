"""Publishing an agent, and publishing its next version."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from actors.models import Actor
from agents.models import AgentSpec
from agents.permissions import get_production
from agents.services import agents, drafts, specs, stored_specs
from agents.services.shipped import SHIPPED, get_shipped_agent
from agents.specs.content import Limits, Parameters, SpecContent, Team, ToolUse
from chats.models import Chat, ChatActor, Message
from common.errors import Code, Conflict, Forbidden, Invalid, LimitReached, NotFound
from common.ids import new_id
from common.text import normalize_for_comparison
from events.models import AuditRecord
from events.rows import ListingCategory, SpecOrigin
from publishing import selectors
from publishing import services as publishing
from publishing.models import Listing, PendingUpdate
from publishing.selectors import build_publication_check, get_publication
from publishing.services import publications
from suggestions import services as suggestions
from tests.api.client import sign_in
from tests.concurrency import ConcurrentTransaction, count_sessions_that_wait
from tests.factories.actors import PASSWORD
from tests.factories.tools import ToolServerFactory, WorkspaceToolFactory
from tests.people import make_agent
from tests.publishing.publications import LISTING, add_to_chat, finish_updates, publish, update
from tests.workspaces.test_members import rule_of
from tools.registry import build_agent_tool_name
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db


def save_version(team, /, **fields):
    """Save the next version of Robin."""
    content = SpecContent(**{"prompt": "Newer.", **fields})
    robin = Actor.objects.get(pk=team.robin.pk)
    number = AgentSpec.objects.filter(agent=robin, number__isnull=False).count() + 1
    robin.current_spec = stored_specs.write_spec(
        robin, content, author=team.alice, origin=SpecOrigin.DRAFT, number=number
    )
    robin.save()


def count_rows():
    return Actor.objects.count(), AgentSpec.objects.count(), Listing.objects.count(), AuditRecord.objects.count()


def test_a_public_agent_is_an_independent_copy_with_version_1(team):
    WorkspaceToolFactory.create(
        workspace=team.workspace, server=ToolServerFactory.create(workspace=team.workspace), name="mail_room"
    )
    save_version(
        team,
        prompt="Use mail_room.\nThen current_time.",
        model="gpt-4.1",
        parameters=Parameters(temperature=0.3),
        limits=Limits(max_steps=7, max_seconds=70),
        tools=(
            ToolUse(tool="mail_room"),
            ToolUse(tool="revise_prompt"),
            ToolUse(tool="current_time", usage_instructions="When asked."),
        ),
    )
    copy = publish(team)
    assert (copy.workspace_id, copy.is_public, copy.published_by_workspace, copy.published_from_agent_id) == (
        None,
        True,
        team.workspace,
        team.robin.id,
    )
    [spec] = AgentSpec.objects.filter(agent=copy)
    assert (spec.number, spec.origin, spec.message) == (1, SpecOrigin.PUBLISHED, "")
    content = spec.parse_content()
    assert content.prompt == "Use mail_room.\nThen current_time."
    assert (content.model, content.parameters.temperature, content.limits.max_steps) == ("gpt-4.1", 0.3, 7)
    assert content.tools == (ToolUse(tool="current_time", usage_instructions="When asked."),)
    listing = Listing.objects.get(agent=copy)
    assert (listing.category, listing.languages, listing.origin_version) == ("language", ["en", "zh-hant"], 2)

    save_version(team, prompt="Changed.")
    assert AgentSpec.objects.get(agent=copy).content["prompt"] == "Use mail_room.\nThen current_time."


def test_the_check_says_what_goes_along_and_what_does_not(team):
    WorkspaceToolFactory.create(
        workspace=team.workspace, server=ToolServerFactory.create(workspace=team.workspace), name="mail_room"
    )
    save_version(
        team,
        prompt="One.\nUse mail_room, not mail_rooms.\nUse `mail_room`.",
        tools=(
            ToolUse(tool="mail_room"),
            ToolUse(tool="revise_prompt"),
            ToolUse(tool="current_time"),
            ToolUse(tool="read_pages"),
        ),
    )
    check = build_publication_check(team.alice, team.robin.id)
    assert (check.version, check.prompt_lines, check.model_may_be_missing) == (2, 3, False)
    assert [(tool.name, tool.effect) for tool in check.tools] == [("current_time", "read")]
    assert [(tool.name, tool.reason, tool.lines) for tool in check.unpublished_tools] == [
        ("mail_room", "workspace", [2, 3]),
        ("revise_prompt", "editing", []),
        ("read_pages", "pages", []),
    ]
    assert get_production(publish(team)).parse_content().tool_names == {"current_time"}
    assert (check.name.is_free, check.handle.is_free) == (True, True)


def test_the_check_warns_of_keys_and_passwords_in_what_goes_along(team):
    save_version(
        team,
        prompt="Be kind.\nThe password: hunter2!\nKey sk-abcdefgh12345678.",
        tools=(
            ToolUse(tool="current_time", usage_instructions="Use https://robin:secret99@time.example."),
            ToolUse(tool="web_fetch"),
            ToolUse(tool="revise_prompt", usage_instructions="token = abc12345"),
        ),
    )
    before = count_rows()
    found = get_publication(team.alice, team.robin.id).check.secrets
    # `revise_prompt` is not published, so nobody else reads its instructions.
    assert [(one.place, one.name, one.lines) for one in found] == [("prompt", "", [2, 3]), ("tool", "current_time", [])]
    listing: dict[str, Any] = {
        "description": "密碼：abc123",
        "examples": ["Sing.", "api_key=abcd-1234"],
        "message": "New token is x9x9x9x9",
    }
    found = selectors.check_listing(team.alice, team.robin.id, **listing)
    assert [(one.place, one.lines) for one in found] == [("description", []), ("example", [2]), ("message", [])]
    with pytest.raises(Forbidden):
        selectors.check_listing(team.bob, team.robin.id, **listing)
    assert count_rows() == before


def test_the_agents_of_the_workspace_that_it_delegates_to_do_not_go_along(team):
    handles = ["scribe", "browser", "planner", "merger"]
    delegate = ToolUse(tool="delegate", custom_config={"allowed_sub_agents": handles, "max_depth": 2})
    save_version(team, prompt="Ask scribe.\nThen browser.\nThen scribe.", tools=(delegate,))
    check = build_publication_check(team.alice, team.robin.id)
    assert [tool.name for tool in check.tools] == ["delegate"]
    assert [(tool.name, tool.reason, tool.lines) for tool in check.unpublished_tools] == [
        ("scribe", "sub_agent", [1, 3]),
        ("planner", "sub_agent", []),
        ("merger", "sub_agent", []),
    ]
    [use] = get_production(publish(team)).parse_content().tools
    assert use.custom_config == {"allowed_sub_agents": ["browser"], "max_depth": 2}
    assert get_production(Actor.objects.get(pk=team.robin.pk)).parse_content().tools == (delegate,)


def test_a_team_keeps_its_shipped_and_public_members_elsewhere(team):
    """A public agent is named by its id: another publisher may get its handle after a takedown, and so may an own agent."""
    make_agent(team.workspace, team.alice, "Seer")
    agent = make_agent(team.elsewhere, team.charlie, "Seer")
    public = publishing.publish_agent(team.charlie, agent.id, name="Seer", handle="seer", **LISTING)
    name = build_agent_tool_name(public.id)
    own = Team(members=("browser", "seer", name), max_at_once=2, aggregation="The key: sk-abcdefghij0123456789abcd")
    save_version(team, prompt="Plan with seer.", team=own)
    check = build_publication_check(team.alice, team.robin.id)
    assert [(tool.name, tool.reason, tool.lines) for tool in check.unpublished_tools] == [("seer", "member", [1])]
    assert [secret.place for secret in check.secrets] == ["team"]
    published = get_production(publish(team)).parse_content().team
    assert published == own.model_copy(update={"members": ("browser", name)})


def test_delegate_is_published_only_with_agents_of_the_release(team):
    own = ToolUse(tool="delegate", custom_config={"allowed_sub_agents": ["scribe"]})
    save_version(team, prompt="Ask scribe.", tools=(own,))
    check = build_publication_check(team.alice, team.robin.id)
    assert check.tools == []
    assert [(tool.name, tool.reason) for tool in check.unpublished_tools] == [
        ("delegate", "no_sub_agent"),
        ("scribe", "sub_agent"),
    ]
    save_version(team, prompt="Ask.", tools=(ToolUse(tool="delegate"),))
    assert build_publication_check(team.alice, team.robin.id).unpublished_tools == []
    assert get_production(publish(team)).parse_content().tools == (ToolUse(tool="delegate"),)


def test_public_agents_as_tools_are_published(team):
    wren = make_agent(team.elsewhere, team.charlie, "Wren")
    called = publishing.publish_agent(team.charlie, wren.id, name="Wren", handle="wren", **LISTING)
    use = ToolUse(
        tool=build_agent_tool_name(called.id), custom_config={"max_depth": 2}, usage_instructions="For birds."
    )
    save_version(team, prompt="Ask Wren.", tools=(use,))
    check = build_publication_check(team.alice, team.robin.id)
    assert [tool.name for tool in check.tools] == [use.tool]
    assert check.unpublished_tools == []
    assert get_production(publish(team)).parse_content().tools == (use,)


def test_a_version_other_than_production_can_be_published(team):
    save_version(team, prompt="Newer.")
    copy = publish(team, version=1)
    assert AgentSpec.objects.get(agent=copy).content["prompt"] == "Answer."
    assert Listing.objects.get(agent=copy).origin_version == 1


def test_names_and_handles_are_unique_among_public_agents_and_a_taken_one_comes_with_free_ones(team):
    publish(team)
    wren = make_agent(team.workspace, team.alice, "Wren")
    before = count_rows()
    with pytest.raises(Conflict) as refusal:
        publishing.publish_agent(team.alice, wren.id, name="INTERPRETER", handle="wren", **LISTING)
    assert (refusal.value.code, refusal.value.data) == (
        Code.NAME_TAKEN,
        {"suggestions": ["Lighthouse INTERPRETER", "INTERPRETER (Lighthouse)"]},
    )
    with pytest.raises(Conflict) as refusal:
        publishing.publish_agent(team.alice, wren.id, name="Wren", handle="interpreter", **LISTING)
    assert refusal.value.code == Code.HANDLE_TAKEN
    assert count_rows() == before
    check = build_publication_check(team.alice, wren.id, name="interpreter", handle="@Interpreter")
    assert (check.name.is_free, check.name.suggestions[0]) == (False, "Lighthouse interpreter")
    assert (check.handle.is_free, check.handle.suggestions[0]) == (False, "interpreter-lighthouse")


LOOK_ALIKES = [
    "INTERPRETER",
    "Ｉｎｔｅｒｐｒｅｔｅｒ",
    "Interpreter\ufe0f",
    "Inter\u034fpreter",
    "\u3164Interpreter",
    "Interpreter ",
]


@pytest.mark.parametrize("name", LOOK_ALIKES)
def test_a_name_that_looks_like_a_public_one_is_refused_by_service_and_database(team, name):
    publish(team)
    wren = make_agent(team.workspace, team.alice, "Wren")
    before = count_rows()
    with pytest.raises(Conflict) as refusal:
        publishing.publish_agent(team.alice, wren.id, name=name, handle="wren", **LISTING)
    assert refusal.value.code == Code.NAME_TAKEN
    assert not build_publication_check(team.alice, wren.id, name=name).name.is_free
    fields = Actor.objects.filter(is_public=True).values().get()
    fields |= {"id": new_id(), "name": name, "handle": "wren", "published_from_agent_id": wren.id}
    with pytest.raises(IntegrityError) as error, transaction.atomic():
        Actor.objects.create(**fields | {"normalized_name": normalize_for_comparison(name)})
    assert rule_of(error.value) == "public_agent_name_unique"
    for missing in (None, ""):
        with pytest.raises(IntegrityError) as error, transaction.atomic():
            Actor.objects.create(**fields | {"normalized_name": missing})
        assert rule_of(error.value) == "public_agent_has_normalized_name"
    assert count_rows() == before


@pytest.mark.parametrize("name", ["Int\u0435rpreter", "Interpreter.", "lnterpreter", "1nterpreter!"], ids=ascii)
def test_a_name_that_looks_like_a_public_one_by_other_letters_is_refused(team, name):
    publish(team)
    wren = make_agent(team.workspace, team.alice, "Wren")
    copy = publishing.publish_agent(team.alice, wren.id, name="Wren", handle="wren", **LISTING)
    other = make_agent(team.workspace, team.alice, "Other")
    before = count_rows()
    for rename in (
        lambda: publishing.publish_agent(team.alice, other.id, name=name, handle="other", **LISTING),
        lambda: publishing.update_published_agent(team.alice, wren.id, name=name, **LISTING),
    ):
        with pytest.raises(Conflict) as refusal:
            rename()
        assert refusal.value.code == Code.NAME_TAKEN
        assert refusal.value.data["suggestions"]
    check = build_publication_check(team.alice, other.id, name=name)
    assert (check.name.is_free, check.name.suggestions) == (False, refusal.value.data["suggestions"])
    assert count_rows() == before
    copy.refresh_from_db()
    assert copy.name == "Wren"


def test_a_public_agent_keeps_a_name_that_looked_like_another_one_before_such_names_were_refused(team):
    publish(team)
    wren = make_agent(team.workspace, team.alice, "Wren")
    copy = publishing.publish_agent(team.alice, wren.id, name="Wren", handle="wren", **LISTING)
    old = "Int\u0435rpreter"
    Actor.objects.filter(pk=copy.pk).update(name=old, normalized_name=normalize_for_comparison(old))
    assert build_publication_check(team.alice, wren.id, name=old).name.is_free
    publishing.update_published_agent(team.alice, wren.id, name=old, **LISTING | {"description": "Sings."})
    copy.refresh_from_db()
    assert (copy.name, copy.description) == (old, "Sings.")
    with pytest.raises(Conflict):
        publishing.update_published_agent(team.alice, wren.id, name=f"{old}!", **LISTING)


def test_a_name_of_80_letters_that_become_longer_is_stored(team):
    copy = publish(team, name="\ufdfa" * 80)
    copy.refresh_from_db()
    assert copy.normalized_name == normalize_for_comparison("\ufdfa" * 80)
    assert len(copy.normalized_name) == 80 * 18
    with pytest.raises(Conflict):
        publish(team, name="\ufdfa" * 80)


@pytest.mark.parametrize("fields", [{"name": "MERGE  Agent"}, {"handle": "summarizer"}])
def test_names_and_handles_of_agents_of_the_release_are_refused_before_these_exist(team, fields):
    before = count_rows()
    check = build_publication_check(team.alice, team.robin.id, **fields)
    assert (check.name.is_free, check.handle.is_free) == ("name" not in fields, "handle" not in fields)
    with pytest.raises(Conflict) as refusal:
        publish(team, **fields)
    assert refusal.value.code in (Code.NAME_TAKEN, Code.HANDLE_TAKEN)
    assert count_rows() == before
    assert get_shipped_agent("merger").name == "Merge agent"


@pytest.mark.django_db(transaction=True)
def test_of_two_concurrent_publications_with_names_that_look_alike_one_succeeds(team):
    wren = make_agent(team.elsewhere, team.charlie, "Wren")
    with transaction.atomic():
        publish(team, name="Interpreter")

        def publish_wren():
            # It sees no other public agent, and waits for the one that is not committed yet.
            return publishing.publish_agent(team.charlie, wren.id, name="Int\u0435rpreter", handle="wren", **LISTING)

        other = ConcurrentTransaction(publish_wren)
        assert count_sessions_that_wait() == 1
    with pytest.raises(Conflict) as refusal:
        other.result()
    assert refusal.value.code == Code.NAME_TAKEN
    assert list(Actor.objects.filter(is_public=True).values_list("name", flat=True)) == ["Interpreter"]


@pytest.mark.parametrize("name", ["翻譯", "❤️ Interpreter", "\U0001fae8", "Père Noël"], ids=ascii)
def test_chinese_accents_and_emoji_that_python_does_not_know_are_names(team, name):
    assert build_publication_check(team.alice, team.robin.id, name=name).name.is_free
    assert publish(team, name=name).name == name


def test_a_name_or_a_description_can_be_changed_in_its_case_only(team):
    copy = publish(team)
    for fields in ({"name": "INTERPRETER"}, {"name": "INTERPRETER", "description": LISTING["description"].upper()}):
        update(team, **fields)
        with pytest.raises(Conflict) as refusal:
            update(team, **fields)
        assert refusal.value.code == Code.NOTHING_CHANGED
    copy.refresh_from_db()
    assert (copy.name, copy.description) == ("INTERPRETER", LISTING["description"].upper())


@pytest.mark.parametrize(
    ("name", "handle", "renamed"),
    [
        ("ＢＲＯＷＳＥＲ", "browser", ("ＢＲＯＷＳＥＲ 2", "browser-2")),
        ("Browser", "pages", ("Browser 2", "pages")),
        ("Pages", "browser", ("Pages", "browser-2")),
    ],
    ids=ascii,
)
def test_a_public_agent_with_the_name_of_a_new_agent_of_the_release_is_renamed(
    team, monkeypatch, name, handle, renamed
):
    """Otherwise the agent of the release could not be created, and the directory would answer 500 to everybody."""
    with monkeypatch.context() as patch:
        patch.delitem(SHIPPED, "browser")
        copy = publish(team, name=name, handle=handle)
    chat = add_to_chat(team, copy)
    finish_updates()
    browser = get_shipped_agent("browser")
    assert (browser.name, browser.handle) == ("Browser", "browser")
    copy.refresh_from_db()
    assert (copy.name, copy.handle) == renamed
    assert Listing.objects.get(agent=copy).search_text.split("\n")[:2] == [
        normalize_for_comparison(copy.name),
        copy.handle,
    ]
    [record] = AuditRecord.objects.filter(action="agent.renamed")
    assert (record.object_id, record.facts["old_name"], record.facts["handle"]) == (copy.id, name, copy.handle)
    version = ChatActor.objects.get(chat=chat, actor=copy).version
    finish_updates()
    assert ChatActor.objects.get(chat=chat, actor=copy).version > version
    assert not Message.objects.filter(chat=chat, type="AGENT_PUBLISHED").exists()
    assert get_shipped_agent("browser") == browser


def test_an_agent_is_public_once(team):
    copy = publish(team)
    before = count_rows()
    for fields in ({"name": "Again", "handle": "again"}, {}):  # also under its own name and handle
        with pytest.raises(Conflict) as refusal:
            publish(team, **fields)
        assert (refusal.value.code, refusal.value.data["handle"]) == (Code.ALREADY_PUBLIC, "interpreter")
    assert count_rows() == before
    publishing.take_down_agent(team.alice, copy.id)
    assert publish(team).id != copy.id


@pytest.mark.django_db(transaction=True)
def test_of_two_concurrent_publications_one_succeeds(team):
    def try_to_publish(name):
        try:
            return publish(team, name=name, handle=name.lower()).name
        except Conflict as error:
            return error.code
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as threads:
        results = list(threads.map(try_to_publish, ["A", "B", "C", "D"]))
    assert sorted(result == Code.ALREADY_PUBLIC for result in results) == [False, True, True, True]
    assert Actor.objects.filter(is_public=True).count() == 1


@pytest.mark.parametrize(("who", "error"), [("bob", Forbidden), ("charlie", NotFound), ("robin", Forbidden)])
def test_only_editors_publish(team, who, error):
    before = count_rows()
    for attempt in (
        lambda: publishing.publish_agent(team[who], team.robin.id, name="I", handle="i", **LISTING),
        lambda: publishing.update_published_agent(team[who], team.robin.id, name="I", **LISTING),
        lambda: get_publication(team[who], team.robin.id),
    ):
        with pytest.raises(error):
            attempt()
    assert count_rows() == before


@pytest.mark.parametrize(
    "name",
    [
        "Inter\u200bpreter",
        "Interpreter\u2060",
        "Inter\u00adpreter",
        "\ufeffInterpreter",
        "Interpreter\ue000",
        "Interpreter\U000f0000",
        "Interpreter\ufffe",
        "Interpreter\ufdd0",
        "Interpreter\U0001ffff",
    ],
    ids=ascii,
)
def test_a_public_name_has_no_invisible_characters(team, name):
    before = count_rows()
    check = build_publication_check(team.alice, team.robin.id, name=name)
    assert (check.name.is_free, check.name.suggestions[0]) == (False, "Interpreter")
    with pytest.raises(Invalid):
        publish(team, name=name)
    assert count_rows() == before
    publish(team)
    with pytest.raises(Invalid):
        update(team, name=name)
    assert Actor.objects.filter(is_public=True, name="Interpreter").count() == 1


@pytest.mark.django_db(transaction=True)
def test_of_two_concurrent_renames_to_one_name_one_succeeds(team):
    wren = make_agent(team.workspace, team.alice, "Wren")
    publish(team)
    publishing.publish_agent(team.alice, wren.id, name="Wren", handle="wren", **LISTING)
    both = Barrier(2)

    def rename(agent_id):
        try:
            with transaction.atomic():
                both.wait(60)
                publishing.update_published_agent(team.alice, agent_id, name="Same", **LISTING)
                return "renamed"
        except Conflict as error:
            return error.code
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as threads:
        results = list(threads.map(rename, [team.robin.id, wren.id]))
    assert sorted(results) == sorted(["renamed", Code.NAME_TAKEN])
    assert Actor.objects.filter(is_public=True, name="Same").count() == 1


def test_only_the_newest_versions_and_takedowns_are_listed(team, monkeypatch):
    monkeypatch.setattr(selectors, "MAX_LISTED", 2)
    for number in range(3):
        copy = publish(team, name=f"Number {number}", handle=f"number-{number}")
        publishing.take_down_agent(team.alice, copy.id)
    publish(team)
    for number in (2, 3):
        save_version(team, prompt=f"Newer {number}.")
        update(team)
    row = get_publication(team.alice, team.robin.id)
    assert [takedown.name for takedown in row.takedowns] == ["Number 2", "Number 1"]
    assert row.listing is not None
    assert [version.number for version in row.listing.versions] == [3, 2]


def test_a_disabled_tool_is_not_searched(team):
    save_version(team, tools=(ToolUse(tool="current_time", is_enabled=False),))
    publish(team)
    assert "current_time" not in Listing.objects.get().search_text


def test_a_publication_needs_a_name_and_a_description(team):
    before = count_rows()
    for fields in ({"name": " "}, {"description": " "}, {"handle": "all"}, {"handle": "Ä"}):
        with pytest.raises((Invalid, Conflict)):
            publish(team, **fields)
    assert count_rows() == before


def test_an_update_is_the_next_version_and_its_chats_say_so(team):
    copy = publish(team)
    chat = add_to_chat(team, copy)
    save_version(team, prompt="Newer.")
    updated = update(team, name="Interpreter 2", message="Korean, too")
    finish_updates()
    assert updated.id == copy.id
    assert list(
        AgentSpec.objects.filter(agent=copy).order_by("number").values_list("number", "content__prompt", "message")
    ) == [
        (1, "Answer.", ""),
        (2, "Newer.", "Korean, too"),
    ]
    assert Actor.objects.filter(pk=copy.pk, current_spec__number=2).exists()
    [line] = Message.objects.filter(type="AGENT_PUBLISHED")
    assert (line.chat, line.payload["target_name"], line.payload["version"], line.payload["note"]) == (
        chat,
        "Interpreter 2",
        2,
        "Korean, too",
    )
    assert "actor_id" not in line.payload
    assert ChatActor.objects.get(chat=chat, actor=copy).ended_at is None


def test_an_update_of_the_listing_only_makes_no_version_and_no_line(team):
    copy = publish(team)
    chat = add_to_chat(team, copy)
    finish_updates()
    update(team, category=ListingCategory.WRITING)
    assert Listing.objects.get(agent=copy).category == "writing"
    assert AgentSpec.objects.filter(agent=copy).count() == 1
    assert not PendingUpdate.objects.exists()
    assert not Message.objects.filter(chat=chat, type="AGENT_PUBLISHED").exists()
    before = count_rows()
    with pytest.raises(Conflict) as refusal:
        update(team, category=ListingCategory.WRITING)
    assert refusal.value.code == Code.NOTHING_CHANGED
    assert count_rows() == before


def test_a_new_description_reaches_the_chats_without_a_line(team):
    copy = publish(team)
    chat = add_to_chat(team, copy)
    update(team, description="Interprets.")
    finish_updates()
    participant = ChatActor.objects.get(chat=chat, actor=copy)
    assert participant.to_row().actor.description == "Interprets."
    assert participant.version == Chat.objects.get(pk=chat.pk).version > chat.version
    assert not Message.objects.filter(chat=chat, type="AGENT_PUBLISHED").exists()


def test_a_public_agent_gets_a_number_of_versions_in_a_day(team, monkeypatch):
    monkeypatch.setattr(publications, "MAX_VERSIONS_PER_DAY", 3)
    copy = publish(team)
    for number in (2, 3, 4):
        save_version(team, prompt=f"Newer {number}.")
        if number < 4:
            update(team)
    before = count_rows()
    with pytest.raises(LimitReached) as refusal, transaction.atomic():
        update(team)
    assert refusal.value.code == Code.QUOTA_REACHED
    assert count_rows() == before
    update(team, version=3, category=ListingCategory.WRITING)
    AgentSpec.objects.filter(agent=copy, number=1).update(created_at="2026-01-01T00:00Z")
    update(team)
    assert AgentSpec.objects.filter(agent=copy).count() == 4


def test_an_update_waits_for_no_chat_and_a_chat_that_is_newer_than_it_gets_no_line(team):
    copy = publish(team)
    chat = add_to_chat(team, copy)
    save_version(team, prompt="Newer.")
    update(team, message="Korean, too")
    assert Chat.objects.get(pk=chat.pk).version == chat.version
    newer = add_to_chat(team, copy)
    finish_updates()
    [line] = Message.objects.filter(type="AGENT_PUBLISHED")
    assert line.chat == chat
    assert not Message.objects.filter(chat=newer, type="AGENT_PUBLISHED").exists()


def test_SEC21_publishing_and_trying_are_throttled_per_person(team, settings):
    copy = publish(team)
    settings.RATES = settings.RATES | {"publications": (0.01, 1), "public_agents": (0.01, 1)}
    api = sign_in(team.alice.email, PASSWORD)
    path, body = f"agents/{team.robin.id}/publication", {"name": "Interpreter", **LISTING, "category": "writing"}
    for method, refused in (("PUT", path), ("POST", f"agents/{team.robin.id}/publish")):
        # A body that is refused takes nothing.
        assert api(method, refused, {"name": "Interpreter"}).status_code == 400
    assert api("PUT", path, body).status_code == 200
    before = Listing.objects.values().get()
    for method, again, other in (
        ("PUT", path, body | {"category": "data"}),
        ("POST", f"agents/{team.robin.id}/publish", body | {"handle": "again"}),
    ):
        answer = api(method, again, other)
        assert (answer.status_code, answer.json()["error"]["data"]["limit"]) == (429, "publications")
    assert api("GET", path).status_code == 200
    assert Listing.objects.values().get() == before
    mine = f"directory/{copy.handle}/try", {"workspace_id": str(team.workspace.id)}
    assert api("POST", *mine).status_code == 201
    count = Chat.objects.count()
    with_agent = {"title": "", "actor_ids": [str(copy.id)]}
    for path, body in (
        mine,
        (f"workspaces/{team.workspace.id}/chats", with_agent),
        (f"chats/{team.chat.id}/participants", {"actor_id": str(copy.id)}),
    ):
        answer = api("POST", path, body)
        assert (answer.status_code, answer.json()["error"]["data"]["limit"]) == (429, "public_agents")
    assert Chat.objects.count() == count
    assert not team.chat.participants.filter(actor=copy).exists()
    assert api("POST", f"workspaces/{team.workspace.id}/chats", {"title": "", "actor_ids": []}).status_code == 201


def test_what_is_not_public_cannot_be_updated(team):
    with pytest.raises(Conflict) as refusal:
        update(team)
    assert refusal.value.code == Code.NOT_PUBLIC


# --- nobody changes a public agent ----------------------------------------------------------------------------------


def try_changes(actor, agent, chat):
    """Yield each write service as a function of no arguments."""
    content, here = SpecContent(prompt="Mine."), {"chat_id": chat.id, "agent_id": agent.id}
    yield lambda: agents.update_agent_profile(actor, agent.id, revision=1, name="Mine")
    yield lambda: agents.delete_agent(actor, agent.id)
    yield lambda: specs.restore_version(actor, agent.id, 1, base_version=1)
    yield lambda: drafts.claim_draft(actor=actor, **here)
    yield lambda: drafts.write_draft(actor=actor, **here, revision=1, content=content)
    yield lambda: drafts.apply_draft(actor=actor, **here, revision=1)
    yield lambda: drafts.save_draft(actor=actor, **here, revision=1, base_version=1)
    yield lambda: drafts.discard_draft(actor=actor, **here, revision=1)
    yield lambda: suggestions.suggest_spec(actor, chat.id, agent.id, id=new_id(), content=content, base_version=1)
    yield lambda: suggestions.merge_suggestions(
        actor, agent.id, id=new_id(), suggestion_ids=[new_id()], chat_id=chat.id
    )
    yield lambda: publishing.publish_agent(actor, agent.id, name="Mine", handle="mine", **LISTING)
    yield lambda: publishing.update_published_agent(actor, agent.id, name="Mine", **LISTING)


@pytest.mark.parametrize("who", ["alice", "charlie"])
@pytest.mark.parametrize("number", range(12))
def test_every_write_service_refuses_a_public_agent(team, who, number):
    copy = publish(team)
    chat = add_to_chat(team, copy)
    if who == "alice":
        from chats import services as chats

        chat = chats.create_chat(team.alice, team.workspace.id, title="", actor_ids=[copy.id])
    attempts = list(try_changes(team[who], copy, chat))
    before, row = count_rows(), Actor.objects.filter(pk=copy.pk).values().get()
    with pytest.raises((Forbidden, NotFound)) as refusal, transaction.atomic():
        attempts[number]()
    assert refusal.value.code in (Code.AGENT_PUBLIC, Code.NO_DRAFT)
    assert (count_rows(), Actor.objects.filter(pk=copy.pk).values().get()) == (before, row)
    assert len(attempts) == 12


# --- the original stays ---------------------------------------------------------------------------------------------


def test_the_original_stays_while_its_copy_is_public_and_the_error_names_the_copy(team):
    copy = publish(team)
    with pytest.raises(Conflict) as refusal:
        agents.delete_agent(team.alice, team.robin.id)
    assert (refusal.value.code, refusal.value.data) == (
        Code.STILL_PUBLIC,
        {"agent_id": str(copy.id), "name": "Interpreter", "handle": "interpreter"},
    )
    with pytest.raises(IntegrityError) as error, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("UPDATE actors_actor SET status = 'deleted' WHERE id = %s", [team.robin.id])
    assert rule_of(error.value) == "origin_stays_while_public"
    assert Actor.objects.get(pk=team.robin.pk).status == "ready"
    publishing.take_down_agent(team.alice, copy.id)
    agents.delete_agent(team.alice, team.robin.id)
    assert Actor.objects.get(pk=team.robin.pk).status == "deleted"


def test_the_workspace_of_a_publisher_cannot_be_deleted_in_the_database(team):
    copy = publish(team)
    empty = Workspace.objects.create(name="Empty", handle="empty")
    Actor.objects.filter(pk=copy.pk).update(published_by_workspace=empty)
    with pytest.raises(IntegrityError) as error, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"SET CONSTRAINTS ALL IMMEDIATE; DELETE FROM workspaces_workspace WHERE id = '{empty.pk}'")
    assert "published_by_workspa" in rule_of(error.value)
    assert Workspace.objects.filter(pk=empty.pk).exists()

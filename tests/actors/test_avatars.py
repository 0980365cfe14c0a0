"""Avatars of people and agents: who may set them, and where they are shown."""

import json

import pytest

from actors.models import Actor
from agent_files.specs import AgentFile, format_file, read_file
from agents.services.shipped import get_shipped_agent
from chats.models import ChatActor
from tests.api.test_rights import client_for
from tests.people import make_agent

pytestmark = pytest.mark.django_db

FOX = {"kind": "emoji", "emoji": "🦊"}
LETTER = {"kind": "letter", "letter": "R", "color": 3}


def avatar_of(actor):
    actor.refresh_from_db()
    return actor.avatar


def test_an_avatar_set_by_an_editor_is_shown_in_the_chats_of_the_agent(team):
    alice, bob = client_for(team, "alice"), client_for(team, "bob")
    row = alice.ok("PATCH", f"agents/{team.robin.id}", {"avatar": FOX, "revision": team.robin.revision})
    assert row["actor"]["avatar"] == FOX
    participant = ChatActor.objects.get(chat=team.chat, actor=team.robin)
    team.chat.refresh_from_db()
    assert participant.version == team.chat.version, "the participant was not published"
    members = bob.ok("GET", f"chats/{team.chat.id}/participants")["results"]
    assert [one["actor"]["avatar"] for one in members if one["actor"]["id"] == str(team.robin.id)] == [FOX]
    assert bob.ok("GET", f"agents/{team.robin.id}")["actor"]["avatar"] == FOX


def test_an_omitted_avatar_is_kept_and_automatic_removes_it(team):
    alice = client_for(team, "alice")
    revision = alice.ok("PATCH", f"agents/{team.robin.id}", {"avatar": LETTER, "revision": 1})["revision"]
    row = alice.ok("PATCH", f"agents/{team.robin.id}", {"name": "Wren", "revision": revision})
    assert row["actor"]["avatar"] == LETTER
    gone = {"avatar": {"kind": "automatic"}, "revision": row["revision"]}
    assert alice.ok("PATCH", f"agents/{team.robin.id}", gone)["actor"]["avatar"] is None
    assert avatar_of(team.robin) is None


def test_a_suggester_an_outsider_and_a_stale_revision_cannot_set_an_avatar(team):
    before, address = avatar_of(team.robin), f"agents/{team.robin.id}"
    client_for(team, "bob").refused(403, "forbidden", "PATCH", address, {"avatar": FOX, "revision": 1})
    client_for(team, "charlie").refused(404, "not_found", "PATCH", address, {"avatar": FOX, "revision": 1})
    assert client_for(team, "alice")("PATCH", address, {"avatar": FOX, "revision": 9}).status_code == 409
    assert avatar_of(team.robin) == before


def test_people_set_their_own_avatars(team):
    row = client_for(team, "bob").ok("PATCH", "me", {"avatar": FOX})
    assert row["actor"]["avatar"] == FOX
    assert client_for(team, "bob").ok("PATCH", "me", {"name": "Bobby"})["actor"]["avatar"] == FOX
    team.chat.refresh_from_db()
    assert ChatActor.objects.get(chat=team.chat, actor=team.bob).version == team.chat.version
    assert avatar_of(team.alice) is None


@pytest.mark.parametrize("emoji", ["🦊", "❤️", "☺", "👍🏽", "🇹🇼", "1️⃣", "👨‍👩‍👧‍👦", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "🏳️‍🌈", "🧑🏻‍❤️‍💋‍🧑🏿", "✍️"])
def test_every_emoji_of_unicode_is_one_emoji(team, emoji):
    avatar = {"kind": "emoji", "emoji": emoji}
    assert client_for(team, "bob").ok("PATCH", "me", {"avatar": avatar})["actor"]["avatar"] == avatar


@pytest.mark.parametrize(
    "avatar",
    [
        *(
            {"kind": "emoji", "emoji": text}
            for text in (
                "",
                " ",
                "a",
                "1",
                "🦊🦊",
                "🦊a",
                "🦊\u0301\u0301",
                "\u200d",
                "\ufe0f",
                "🇹",
                "🏽",
                "🦊\u202e",
                "<b>",
                "🦊\u200d" * 30,
                "🦊" + "\u200d🦊" * 9,
            )
        ),
        {"kind": "emoji"},
        {"kind": "emoji", "emoji": 5},
        {"kind": "emoji", "emoji": "🦊", "color": 1},
        *(
            {"kind": "letter", "letter": text, "color": 1}
            for text in ("", "ab", "🦊", " ", "-", "\u202e", "a\u0336\u0335")
        ),
        {"kind": "letter", "letter": "a", "color": 0},
        {"kind": "letter", "letter": "a", "color": 6},
        {"kind": "letter", "letter": "a", "color": "url(https://evil.example)"},
        {"kind": "picture", "url": "https://evil.example/x.png"},
        "🦊",
        [],
        {},
    ],
    ids=ascii,
)
def test_an_invalid_avatar_is_refused(team, avatar):
    alice, before = client_for(team, "alice"), Actor.objects.count()
    agents = f"workspaces/{team.workspace.id}/agents"
    seen = avatar_of(team.robin)
    alice.refused(400, "invalid", "PATCH", "me", {"avatar": avatar})
    alice.refused(400, "invalid", "PATCH", f"agents/{team.robin.id}", {"avatar": avatar, "revision": 1})
    alice.refused(400, "invalid", "POST", agents, {"name": "New", "avatar": avatar})
    text = json.dumps({"name": "New", "avatar": avatar})
    alice.refused(400, "file_unreadable", "POST", f"{agents}/import", {"text": text})
    assert (Actor.objects.count(), avatar_of(team.alice), avatar_of(team.robin)) == (before, None, seen)


def test_a_new_agent_has_the_avatar_of_its_template(team):
    alice = client_for(team, "alice")
    templates = alice.ok("GET", "agent-templates")["results"]
    faces = {one["key"]: one["avatar"] for one in templates}
    assert len({json.dumps(face) for face in faces.values()}) == len(templates)
    for key, face in faces.items():
        made = alice.ok("POST", f"workspaces/{team.workspace.id}/agents", {"name": key, "template": key})
        assert made["actor"]["avatar"] == face
    chosen = {"name": "Own", "template": "scribe", "avatar": LETTER}
    assert alice.ok("POST", f"workspaces/{team.workspace.id}/agents", chosen)["actor"]["avatar"] == LETTER


def test_shipped_agents_have_avatars(db):
    assert get_shipped_agent("summarizer").avatar != get_shipped_agent("merger").avatar is not None


@pytest.mark.parametrize("avatar", [FOX, LETTER, None])
@pytest.mark.parametrize("format", ["yaml", "json"])
def test_an_avatar_is_exported_and_imported_with_its_agent(team, avatar, format):
    heron = make_agent(team.workspace, team.alice, "Heron")
    Actor.objects.filter(pk=heron.pk).update(avatar=avatar)
    text = client_for(team, "bob")("GET", f"agents/{heron.id}/file?format={format}").content.decode()
    row = client_for(team, "alice").ok("POST", f"workspaces/{team.workspace.id}/agents/import", {"text": text})
    assert row["agent"]["actor"]["avatar"] == avatar
    assert read_file(format_file(AgentFile(name="X", avatar=avatar), format)).avatar == read_file(text).avatar

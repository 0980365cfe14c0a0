"""Editing and deleting messages: rights, earlier texts, what is published, and every reader of the text but runs."""

import json
from typing import Any

import pytest
from django.db import transaction

from chats import services as chats
from chats.models import Chat, ChatActor, Message, MessageRevision
from chats.selectors import get_listed_chat, search_messages
from chats.services.edits import MAX_REVISIONS
from common.errors import Conflict, Forbidden, Invalid, LimitReached, NotFound
from common.paging import MAX_LARGE_ROWS
from events.models import AuditRecord
from events.rows import ThumbValue
from files import services as files
from files.models import File
from notifications.models import Notification
from runs.models import Run
from tests.api.test_rights import client_for, fingerprint
from tests.concurrency import ConcurrentTransaction
from tests.factories.chats import MessageFactory, make_answer
from tests.factories.files import FileFactory
from tests.people import make_agent
from tests.realtime.recording import Recording
from webhooks import services as webhooks
from webhooks.models import AgentWake, Delivery

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def message(team):
    return chats.post_message(team.bob, team.chat.id, text="The code is 4711.", wake="nobody")[0]


def edit(team, message, text="The code is 4712.", by="bob", **more):
    return chats.edit_message(team[by], message.id, **{"text": text, "edited_at": message.edited_at, **more})


def delete(team, message, by="bob", **more):
    return chats.delete_message(team[by], message.id, **more)


def add_message(team, **fields):
    """Store a message that no service of this test creates."""
    chat = Chat.objects.get(pk=team.chat.pk)
    Chat.objects.filter(pk=chat.pk).update(version=chat.version + 1)
    return MessageFactory.create(chat=chat, seq=chat.version + 1, **{"author": team.robin, **fields})


def get_listed(team, by="alice") -> Any:
    return get_listed_chat(actor=team[by], chat_id=team.chat.id)


def list_found(team, word):
    return list(search_messages(Chat.objects.filter(pk=team.chat.pk), word).values_list("pk", flat=True))


def test_MSG11_an_edit_keeps_the_earlier_text_and_its_place_and_is_sent_to_all(team, message):
    with Recording(f"chat:{team.chat.id}") as recording:
        edited = edit(team, message)
        [frame] = [json.loads(envelope["text"]) for envelope in recording.get_received()]
    [row] = frame["rows"]
    assert (row["payload"]["text"], row["seq"], row["edited_at"] is not None) == (
        "The code is 4712.",
        message.seq,
        True,
    )
    stored = Message.objects.get(pk=message.pk)
    assert (stored.text, stored.seq, stored.tokens) == ("The code is 4712.", message.seq, edited.tokens)
    [revision] = MessageRevision.objects.filter(message=message)
    assert (revision.text, revision.written_at, revision.replaced_at, revision.replaced_by) == (
        "The code is 4711.",
        stored.created_at,
        stored.edited_at,
        team.bob,
    )
    assert (list_found(team, "4712"), list_found(team, "4711")) == ([message.id], [])
    assert AuditRecord.objects.filter(action="message.edited", object_id=message.id, actor=team.bob).count() == 1


@pytest.mark.parametrize("change", [edit, delete])
def test_MSG1_a_message_that_was_changed_since_is_still_posted_once(team, message, change):
    edit(team, message, "The code is 4713.")
    message.refresh_from_db()
    change(team, message)
    before = fingerprint()
    again, is_new = chats.post_message(team.bob, team.chat.id, id=message.id, text="The code is 4711.", wake="nobody")
    assert (again.id, is_new, again.text) == (message.id, False, "" if change is delete else "The code is 4712.")
    for text in ("The code is 4712.", "The code is 4713."):
        with pytest.raises(Conflict):
            chats.post_message(team.bob, team.chat.id, id=message.id, text=text, wake="nobody")
    assert fingerprint() == before


def test_an_edit_to_the_same_text_changes_nothing(team, message):
    before = fingerprint()
    assert edit(team, message, "The code is 4711.").edited_at is None
    assert fingerprint() == before


def test_an_edit_of_a_text_that_was_edited_since_is_refused(team, message):
    edit(team, message)
    before = fingerprint()
    with pytest.raises(Conflict):
        edit(team, message, "The code is 4713.", edited_at=None)
    assert fingerprint() == before


@pytest.mark.parametrize("by", ["alice", "robin", "charlie"])
def test_nobody_edits_the_message_of_another(team, message, by):
    before = fingerprint()
    with pytest.raises((Forbidden, NotFound)):
        edit(team, message, by=by)
    assert fingerprint() == before


@pytest.mark.parametrize("text", ["", "  \n"])
def test_a_message_is_not_edited_to_nothing(team, message, text):
    before = fingerprint()
    with pytest.raises(Invalid):
        edit(team, message, text)
    assert fingerprint() == before


def test_a_message_has_a_limited_number_of_earlier_texts(team, message):
    MessageRevision.objects.bulk_create(
        MessageRevision(message=message, text="x", written_at=message.created_at, replaced_at=message.created_at)
        for _ in range(MAX_REVISIONS)
    )
    before = fingerprint()
    with pytest.raises(LimitReached):
        edit(team, message)
    assert fingerprint() == before


@pytest.mark.parametrize("by", ["bob", "alice"])
def test_MSG11_a_message_is_deleted_by_its_author_or_an_editor_and_keeps_its_row(team, message, by):
    later = chats.post_message(team.alice, team.chat.id, text="Thanks.", wake="nobody", reply_to=message.id)[0]
    chats.pin_message(team.alice, team.chat.id, message.id)
    chats.add_reaction(team.alice, team.chat.id, message.id, "👍")
    delete(team, message, by=by)
    stored = Message.objects.get(pk=message.pk)
    assert (stored.text, stored.payload["is_deleted"], stored.seq) == ("", True, message.seq)
    assert (stored.author, stored.created_at, stored.pinned_at) == (team.bob, message.created_at, None)
    assert stored.deleted_at is not None
    assert stored.payload["deleted_by"] == str(team[by].id)
    assert stored.reactions is None
    assert Chat.objects.get(pk=team.chat.pk).pin_count == 0
    assert Message.objects.get(pk=later.pk).reply_to_id == message.id
    assert list_found(team, "4711") == []
    assert get_listed(team).last_message.id == later.id
    before = fingerprint()
    delete(team, message, by=by)
    assert fingerprint() == before


@pytest.mark.parametrize("by", ["bob", "robin", "charlie"])
def test_others_delete_nothing(team, by):
    message = chats.post_message(team.alice, team.chat.id, text="Stay.", wake="nobody")[0]
    before = fingerprint()
    with pytest.raises((Forbidden, NotFound)):
        delete(team, message, by=by)
    assert fingerprint() == before


@pytest.mark.parametrize(
    "fields",
    [
        {"payload": {"text": "left", "stamp": {"spec_id": "x", "compared": "y"}}},
        {"type": "TOOL_CALL", "payload": {"call_id": "1", "name": "clock", "arguments": "{}", "step": 1}},
        {"type": "MEMBER_JOINED", "author": None, "payload": {"actor_name": "Alice"}},
    ],
    ids=["of a comparison", "tool call", "system message"],
)
def test_only_texts_and_files_of_the_conversation_are_deleted(team, fields):
    stored = add_message(team, **fields)
    before = fingerprint()
    with pytest.raises(Invalid):
        delete(team, stored, by="alice")
    assert fingerprint() == before


def test_an_editor_deletes_what_an_agent_wrote_also_in_a_chat_between_agents(team):
    finch = make_agent(team.workspace, team.alice, "Finch")
    chat, _ = chats.open_direct_chat(team.alice, team.workspace.id, finch.id, agent_id=team.robin.id)
    said, _ = chats.post_message(team.robin, chat.id, text="hello", wake="nobody")
    delete(team, said, by="alice")
    assert Message.objects.get(pk=said.pk).text == ""


def test_everybody_reads_earlier_texts_and_only_editors_those_of_a_deleted_message(team, message):
    edited = edit(team, message)
    path = f"messages/{message.id}/revisions"
    alice, bob, charlie = (client_for(team, name) for name in ("alice", "bob", "charlie"))
    for reader in (alice, bob):
        assert [row["text"] for row in reader.ok("GET", path)["results"]] == ["The code is 4711."]
    charlie.refused(404, "not_found", "GET", path)
    delete(team, edited)
    texts = [row["text"] for row in alice.ok("GET", path)["results"]]
    assert texts == ["The code is 4712.", "The code is 4711."]
    bob.refused(403, "forbidden", "GET", path)
    charlie.refused(404, "not_found", "GET", path)


def test_a_page_of_earlier_texts_is_as_short_as_that_of_other_long_texts(team, message):
    MessageRevision.objects.bulk_create(
        MessageRevision(message=message, text="x", written_at=message.created_at, replaced_at=message.created_at)
        for _ in range(MAX_LARGE_ROWS + 1)
    )
    page = client_for(team, "alice").ok("GET", f"messages/{message.id}/revisions?limit=100")
    assert (len(page["results"]), page["next"] is None) == (MAX_LARGE_ROWS, False)


@pytest.mark.parametrize("delete_either", [chats.delete_message, files.delete_file])
def test_a_file_and_its_message_are_deleted_together(team, delete_either):
    chats.set_response(team.alice, team.chat.id, team.robin.id, response="always")
    file = FileFactory.create(chat=team.chat, uploaded_by=team.bob, posted_at=None)
    files.post_file(team.bob, file.id)
    delete_either(team.alice, file.id)
    stored = Message.objects.get(pk=file.id)
    assert (stored.payload["is_deleted"], stored.deleted_at is not None) == (True, True)
    assert stored.payload["deleted_by"] == str(team.alice.id)
    assert File.objects.get(pk=file.id).deleted_at is not None
    client_for(team, "bob").refused(404, "not_found", "GET", f"files/{file.id}/content")
    assert AuditRecord.objects.filter(action="file.deleted", object_id=file.id).count() == 1
    assert Run.objects.get(trigger_id=file.id).state == "stopped"


def test_MSG11_notifications_follow_the_text(team):
    message = chats.post_message(team.bob, team.chat.id, text="@alice look", wake="nobody")[0]
    [stored] = Notification.objects.filter(type="mention", message_id=message.id)
    edited = edit(team, message, "@alice look here")
    stored.refresh_from_db()
    assert stored.excerpt == "@Alice look here"
    edited = edit(team, edited, "look here")
    assert not Notification.objects.filter(message_id=message.id).exists()
    edited = edit(team, edited, "@alice once more")
    assert Notification.objects.get(type="mention", message_id=message.id).person == team.alice
    delete(team, edited)
    assert not Notification.objects.filter(message_id=message.id).exists()


def test_an_edited_mention_counts_as_unread(team, message):
    before = get_listed(team)
    edit(team, message, "@alice The code is 4712.")
    after = get_listed(team)
    assert (before.mentioned, after.mentioned, after.unread) == (False, True, before.unread)


def test_a_deleted_message_is_not_unread_and_leaves_its_line_in_the_list(team, message):
    before = get_listed(team)
    delete(team, message)
    after = get_listed(team)
    assert (before.unread - after.unread, after.last_message.id) == (1, message.id)
    assert (after.last_message.payload["text"], after.last_message.payload["is_deleted"]) == ("", True)


def test_the_thumb_of_a_deleted_answer_is_still_listed_without_its_text(team):
    answer = make_answer(team.chat, team.robin, "The code is 4711.")
    chats.give_thumb(team.bob, team.chat.id, answer.id, value=ThumbValue.DOWN, text="Wrong code")
    delete(team, answer, by="alice")
    [row] = client_for(team, "alice").ok("GET", f"agents/{team.robin.id}/thumbs")["results"]
    assert (row["text"], row["excerpt"]) == ("Wrong code", "")
    with pytest.raises(Invalid):
        chats.give_thumb(team.alice, team.chat.id, answer.id, value=ThumbValue.UP)


def test_MSG11_outside_programs_learn_of_an_edit_and_a_deletion_and_no_longer_list_the_wake(team):
    bot = make_agent(team.workspace, team.alice, "Bot")
    chats.add_participant(team.alice, team.chat.id, bot.id)
    ChatActor.objects.filter(chat=team.chat).update(response="mentions")
    webhooks.set_access(team.alice, bot.id, runs_outside=True)
    webhooks.create_webhook(team.alice, bot.id, url="https://example.com/hook")
    message = chats.post_message(team.bob, team.chat.id, text=f"@{bot.handle} look")[0]
    assert AgentWake.objects.filter(message_id=message.id).count() == 1
    edited = edit(team, message, f"@{bot.handle} look here")
    delete(team, edited)
    bodies = [json.loads(one.body) for one in Delivery.objects.order_by("pk")]
    assert [body["type"] for body in bodies] == ["agent.woken", "message.edited", "message.deleted"]
    assert bodies[-1]["data"] == {
        "chat_id": str(team.chat.id),
        "message_id": str(message.id),
        "agent_id": str(bot.id),
    }
    assert not AgentWake.objects.filter(message_id=message.id).exists()


@pytest.mark.parametrize("first", ["edit", "delete"])
def test_an_edit_and_a_deletion_at_once_end_with_a_deleted_message(team, message, first):
    works = {"edit": lambda: edit(team, message), "delete": lambda: delete(team, message, by="alice")}
    second = {"edit": "delete", "delete": "edit"}[first]
    with transaction.atomic():
        works[first]()
        other = ConcurrentTransaction(works[second])
    if second == "edit":
        with pytest.raises(Conflict):
            other.result()
    else:
        other.result()
    stored = Message.objects.get(pk=message.pk)
    assert (stored.text, stored.payload["is_deleted"]) == ("", True)
    texts = list(stored.revisions.order_by("replaced_at").values_list("text", flat=True))
    assert texts == (["The code is 4711."] if first == "delete" else ["The code is 4711.", "The code is 4712."])


def test_of_two_edits_at_once_of_the_same_text_one_is_refused(team, message):
    with transaction.atomic():
        edit(team, message, "The code is 4712.")
        other = ConcurrentTransaction(lambda: edit(team, message, "The code is 4713."))
    with pytest.raises(Conflict):
        other.result()
    stored = Message.objects.get(pk=message.pk)
    assert stored.text == "The code is 4712."
    assert [revision.text for revision in stored.revisions.all()] == ["The code is 4711."]

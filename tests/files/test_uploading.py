"""Uploading, showing, reading and deleting files: what happens, and who may."""

import hashlib
import json
import os
from base64 import b64decode
from datetime import timedelta
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import cast
from uuid import uuid4

import pytest
import redis
from asgiref.sync import sync_to_async
from django.conf import settings
from django.core.files.storage import FileSystemStorage

from chats import services as chats
from chats.models import Message
from common.clock import now
from common.errors import AppError, Code, Conflict, Forbidden, Invalid, LimitReached, NotFound, TooLarge
from common.ids import new_id
from events.models import AuditRecord
from files import services as files
from files import tasks
from files.models import File
from files.permissions import FileVerb, files_visible_to, get_file_for
from files.reading.process import read_in_process
from files.services import contents, deletion
from files.services.contents import GIVE_UP_AFTER, RETRY_AFTER
from files.services.deletion import ORPHAN_AGE, UNPOSTED_LIFETIME
from runs.models import Run
from tests.api.test_rights import fingerprint
from tests.files import samples
from worker import tasks as worker_tasks
from workspaces import services as workspaces

pytestmark = pytest.mark.django_db


def test_an_uploaded_file_is_seen_by_its_uploader_only_until_it_is_posted(team, upload):
    file = upload()
    assert get_file_for(team.bob, file.id, FileVerb.SEE) == file
    with pytest.raises(NotFound):
        get_file_for(team.alice, file.id, FileVerb.SEE)
    files.post_file(team.bob, file.id)
    assert get_file_for(team.alice, file.id, FileVerb.SEE) == file
    with pytest.raises(NotFound):
        get_file_for(team.charlie, file.id, FileVerb.SEE)


def test_the_message_of_a_file_has_its_id_and_facts(team, upload):
    file = upload(samples.make_pdf("Invoice"), "發票 🧾.pdf")
    message, is_new = files.post_file(team.bob, file.id)
    assert is_new
    assert (message.id, message.type, message.author) == (file.id, "FILE_MESSAGE", team.bob)
    assert message.payload["name"] == "發票 🧾.pdf"
    assert (message.payload["kind"], message.payload["content_type"]) == ("pdf", "application/pdf")
    assert message.payload["state"] == "waiting"
    files.read_contents(file.id)
    message.refresh_from_db()
    file.refresh_from_db()
    assert (message.payload["state"], message.payload["pages"]) == ("ready", 1)
    assert file.text == "[page 1]\nInvoice"
    assert files.post_file(team.bob, file.id) == (message, False)


def test_a_file_whose_id_a_message_has_is_not_posted(team, upload):
    file = upload()
    chats.post_message(team.bob, team.chat.id, id=file.id, text="I was here first")
    before = fingerprint()
    with pytest.raises(Conflict) as refused:
        files.post_file(team.bob, file.id)
    assert refused.value.code == Code.ID_TAKEN
    assert fingerprint() == before


def test_a_posted_file_wakes_the_agent_unless_asked_not_to(team, upload):
    chats.set_response(team.alice, team.chat.id, team.robin.id, response="always")
    files.post_file(team.bob, upload().id, wake="nobody")
    assert not Run.objects.exists()
    message, _ = files.post_file(team.bob, upload().id)
    assert Run.objects.get().trigger_id == message.id


def test_the_same_upload_again_is_the_same_file(team):
    id = new_id()
    first, is_new = files.upload_file(team.bob, content=BytesIO(b"hello"), name="a.txt", chat_id=team.chat.id, id=id)
    assert is_new
    assert files.upload_file(team.bob, content=BytesIO(b"hello"), name="a.txt", chat_id=team.chat.id, id=id) == (
        first,
        False,
    )
    before = fingerprint()
    for actor, content in ((team.bob, b"other"), (team.alice, b"hello")):
        with pytest.raises(Conflict) as refusal:
            files.upload_file(actor, content=BytesIO(content), name="a.txt", chat_id=team.chat.id, id=id)
        assert refusal.value.code == Code.ID_TAKEN
    assert fingerprint() == before


def test_who_may_not_post_in_the_chat_may_not_upload(team):
    before = fingerprint()
    for actor in (team.charlie,):
        with pytest.raises(NotFound):
            files.upload_file(actor, content=BytesIO(b"x"), name="a.txt", chat_id=team.chat.id)
        with pytest.raises(NotFound):
            files.upload_file(actor, content=BytesIO(b"x"), name="a.txt", workspace_id=team.workspace.id)
    assert fingerprint() == before


def test_a_file_of_the_workspace_is_seen_by_all_members(team, upload):
    file = upload(workspace_id=team.workspace.id)
    assert get_file_for(team.alice, file.id, FileVerb.SEE) == file
    assert list(files_visible_to(team.alice, team.workspace.id)) == [file]
    assert not files_visible_to(team.charlie, team.workspace.id)
    with pytest.raises(Conflict):
        files.post_file(team.bob, file.id)


def test_a_person_who_was_removed_no_longer_sees_a_file(team, upload):
    file = upload()
    files.post_file(team.bob, file.id)
    chats.remove_participant(team.alice, team.chat.id, team.bob.id)
    for verb in FileVerb:
        with pytest.raises(NotFound):
            get_file_for(team.bob, file.id, verb)
    assert not files_visible_to(team.bob, team.workspace.id)
    workspaces.leave_workspace(team.bob, team.workspace.id)
    assert not files_visible_to(team.bob, team.workspace.id)


def test_a_file_is_deleted_by_its_uploader_or_an_editor(team, upload):
    of_alice = upload(actor=team.alice)
    files.post_file(team.alice, of_alice.id)
    before = fingerprint()
    with pytest.raises(Forbidden):
        files.delete_file(team.bob, of_alice.id)
    assert fingerprint() == before
    of_bob = upload()
    files.post_file(team.bob, of_bob.id)
    chats.add_reaction(team.alice, team.chat.id, of_bob.id, "👍")
    files.delete_file(team.alice, of_bob.id)
    message = Message.objects.get(pk=of_bob.id)
    assert (message.payload["is_deleted"], message.payload["deleted_by"]) == (True, str(team.alice.id))
    assert (message.deleted_at is not None, message.reactions) == (True, None)
    assert AuditRecord.objects.filter(action="file.deleted", object_id=of_bob.id).exists()
    with pytest.raises(NotFound):
        get_file_for(team.bob, of_bob.id, FileVerb.SEE)


def test_deleting_a_file_deletes_its_content(team, upload, django_capture_on_commit_callbacks):
    file = upload(samples.make_image(), "picture.png")
    files.read_contents(file.id)
    file.refresh_from_db()
    folder = Path(settings.STORAGES["files"]["OPTIONS"]["location"])
    stored = [folder / file.content.name, folder / file.thumbnail.name]
    assert all(path.exists() for path in stored)
    with django_capture_on_commit_callbacks(execute=True):
        files.delete_file(team.bob, file.id)
    assert not any(path.exists() for path in stored)


def test_files_that_were_never_posted_are_deleted_after_a_day(team, upload):
    old, new, posted = upload(), upload(), upload()
    files.post_file(team.bob, posted.id)
    File.objects.filter(pk__in=[old.pk, posted.pk]).update(created_at=old.created_at - UNPOSTED_LIFETIME)
    of_workspace = upload(workspace_id=team.workspace.id)
    File.objects.filter(pk=of_workspace.pk).update(created_at=old.created_at - UNPOSTED_LIFETIME)
    assert files.delete_unposted_files() == 1
    assert set(File.objects.filter(deleted_at=None)) == {new, posted, of_workspace}


@pytest.fixture
def aged_upload(upload):
    """Upload a file whose content is old. Return the path of its content."""
    folder = Path(settings.STORAGES["files"]["OPTIONS"]["location"])
    long_ago = (now() - 2 * ORPHAN_AGE).timestamp()

    def upload_aged(**target):
        path = folder / upload(**target).content.name
        os.utime(path, (long_ago, long_ago))
        return path

    return upload_aged


def delete_orphaned_content(team):
    """Delete orphaned content of the workspaces of the team, whose ids follow those of other tests."""
    return files.delete_orphaned_content(after=str(team.workspace.id)[:-1])


def test_content_whose_row_is_gone_is_deleted(team, upload, aged_upload):
    folder = Path(settings.STORAGES["files"]["OPTIONS"]["location"])
    kept = aged_upload(workspace_id=team.workspace.id)
    of_chat, of_workspace = aged_upload(), aged_upload(actor=team.charlie, workspace_id=team.elsewhere.id)
    under_way = folder / upload().content.name
    marked = aged_upload(workspace_id=team.workspace.id)
    File.objects.filter(content=str(marked.relative_to(folder))).update(deleted_at=now())
    assert delete_orphaned_content(team) is None
    assert all(path.exists() for path in (kept, of_chat, of_workspace, under_way))
    team.chat.delete()
    team.elsewhere.delete()
    assert delete_orphaned_content(team) is None
    assert kept.exists()
    assert under_way.exists()
    assert not any(path.exists() for path in (of_chat, of_workspace, marked))


def test_a_batch_of_content_is_deleted_at_a_time(team, aged_upload, monkeypatch):
    monkeypatch.setattr(deletion, "BATCH_SIZE", 2)
    paths = [aged_upload() for _ in range(3)]
    team.chat.delete()
    after = delete_orphaned_content(team)
    assert sorted(path.exists() for path in paths) == [False, False, True]
    assert files.delete_orphaned_content(after) is None
    assert not any(path.exists() for path in paths)


def test_every_workspace_is_reached_if_the_first_has_several_batches(team, monkeypatch, tmp_path):
    monkeypatch.setattr(deletion, "BATCH_SIZE", 2)
    monkeypatch.setattr(deletion, "get_file_storage", lambda: FileSystemStorage(tmp_path))
    long_ago = (now() - 2 * ORPHAN_AGE).timestamp()
    for workspace in (team.workspace, team.elsewhere) * 5:
        path = tmp_path / str(workspace.id) / str(new_id()) / "content"
        path.parent.mkdir(parents=True)
        path.touch()
        os.utime(path, (long_ago, long_ago))
    assert files.delete_orphaned_content() == ""  # the first workspace has more: the next call begins with it
    queue = redis.from_url(settings.REDIS_URL)
    queue.delete("work")
    tasks.delete_orphaned_content()
    while sent := queue.rpop("work"):
        message = json.loads(cast(bytes, sent))
        assert message["headers"]["task"] == "files.tasks.delete_orphaned_content"
        tasks.delete_orphaned_content(*json.loads(b64decode(message["body"]))[0])
    assert not list(tmp_path.rglob("content"))


def test_content_of_another_database_is_not_deleted(team, aged_upload, monkeypatch, tmp_path):
    path = aged_upload().rename(tmp_path / "content")
    folder = tmp_path / str(new_id()) / str(new_id())
    folder.mkdir(parents=True)
    path = path.rename(folder / "content")
    monkeypatch.setattr(deletion, "get_file_storage", lambda: FileSystemStorage(tmp_path))
    assert files.delete_orphaned_content() is None
    assert path.exists()
    path.parent.parent.rename(tmp_path / str(team.workspace.id))
    files.delete_orphaned_content()
    assert not list(tmp_path.rglob("content"))


@pytest.mark.parametrize(
    ("content", "name", "kind", "content_type"),
    [
        (samples.SVG, "logo.svg", "text", "text/plain"),
        (samples.SVG, "logo.png", "text", "text/plain"),
        (samples.HTML, "page.html", "text", "text/plain"),
        (b"GIF89a" + bytes(10) + samples.HTML, "page.html", "image", "image/gif"),
        (b"MZ" + bytes(200), "photo.jpg", "other", "application/octet-stream"),
        (b"a,b\n1,2\n", "table.csv", "text", "text/csv"),
        (samples.make_image(format="JPEG"), "x.exe", "image", "image/jpeg"),
        (
            samples.make_sheet(("a",)),
            "a.docx",
            "sheet",
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        ),
        ("汉字".encode() * 3000, "long.txt", "text", "text/plain"),
    ],
)
def test_what_a_file_is_follows_from_its_content(upload, content, name, kind, content_type):
    file = upload(content, name)
    assert (file.kind, file.content_type) == (kind, content_type)


@pytest.mark.parametrize(
    ("name", "stored"),
    [
        ("../../etc/passwd", "passwd"),
        ("..\\..\\boot.ini", "boot.ini"),
        ("/etc/shadow", "shadow"),
        ("a\x00b.txt", "a b.txt"),
        ("evil\u202egpj.exe", "evilgpj.exe"),
        ("CON", "CON"),
        ("发票 🧾.pdf", "发票 🧾.pdf"),
        ("x" * 300 + ".txt", "x" * 196 + ".txt"),
    ],
)
def test_SEC22_a_name_is_never_a_path(upload, name, stored):
    file = upload(b"x", name)
    assert file.name == stored
    folder = Path(settings.STORAGES["files"]["OPTIONS"]["location"]).resolve()
    path = (folder / file.content.name).resolve()
    assert path.parent == folder / str(file.workspace_id) / str(file.id)
    assert os.stat(path).st_mode & 0o777 == 0o600


@pytest.mark.parametrize("name", ["", "..", "\u200b", "/"])
def test_a_name_without_a_visible_character_is_refused(team, upload, name):
    with pytest.raises(Invalid):
        upload(b"x", name)
    assert not File.objects.exists()


def test_empty_and_too_large_files_are_refused(team, upload, settings):
    settings.MAX_FILE_BYTES = 10
    for content, error in ((b"", Invalid), (b"12345678901", TooLarge)):
        with pytest.raises(error):
            upload(content)
    upload(b"1234567890")


def test_a_workspace_has_room_for_a_number_of_bytes(team, upload, settings):
    settings.MAX_WORKSPACE_FILE_BYTES = 15
    first = upload(b"1234567890")
    with pytest.raises(LimitReached) as refusal:
        upload(b"123456")
    assert refusal.value.code == Code.QUOTA_REACHED
    files.delete_file(team.bob, first.id)
    upload(b"123456")


def test_an_upload_that_filled_the_room_can_be_repeated(team, upload, settings):
    settings.MAX_WORKSPACE_FILE_BYTES = 10
    settings.QUOTAS = settings.QUOTAS | {"files": 1}
    first = upload(b"1234567890")
    assert upload(b"1234567890", chat_id=team.chat.id, id=first.id) == first
    with pytest.raises(LimitReached):
        upload(b"1", chat_id=team.chat.id, id=new_id())


def test_a_file_that_cannot_be_read_says_so(team, upload):
    file = upload(samples.make_pdf("x")[:80], "broken.pdf")
    files.post_file(team.bob, file.id)
    files.read_contents(file.id)
    assert Message.objects.get(pk=file.id).payload["state"] == "failed"


def test_the_list_of_files_is_read_again_when_a_posted_file_has_been_read(team, upload, monkeypatch):
    file = upload(samples.make_pdf("x"), "paper.pdf")
    files.post_file(team.bob, file.id)
    changed = []
    monkeypatch.setattr(contents, "publish_workspace_list_changed", lambda *args: changed.append(args))
    files.read_contents(file.id)
    assert changed == [(team.workspace.id, "files")]


def test_a_file_whose_task_was_lost_is_read_later(upload, monkeypatch):
    sent = []
    monkeypatch.setattr(contents, "send_task_now", lambda name, arguments: sent.append((name, arguments)))
    new, late, old = upload(), upload(), upload()
    File.objects.filter(pk=late.pk).update(created_at=late.created_at - RETRY_AFTER)
    File.objects.filter(pk=old.pk).update(created_at=old.created_at - GIVE_UP_AFTER)
    assert files.enqueue_waiting_files() == 2
    assert sent == [("worker.tasks.read_file_contents", [str(file.id)]) for file in (old, late)]
    assert set(File.objects.values_list("pk", "state")) == {(file.pk, "waiting") for file in (new, late, old)}
    files.read_contents(old.id)  # it has waited for its turn so long, and is read all the same
    old.refresh_from_db()
    assert old.state == "ready"


def test_a_file_is_given_up_some_time_after_the_first_attempt_to_read_it(upload, monkeypatch):
    file = upload()
    file.content.storage.delete(file.content.name)
    with pytest.raises(FileNotFoundError):
        files.read_contents(file.id)
    file.refresh_from_db()
    assert file.state == "waiting"
    monkeypatch.setattr(contents, "GIVE_UP_AFTER", timedelta(0))
    files.read_contents(file.id)
    file.refresh_from_db()
    assert (file.state, file.no_text_reason) == ("failed", "unavailable")


@pytest.mark.parametrize(
    ("make", "name", "facts"),
    [
        (lambda: "姓名,部門,金額".encode("big5"), "a.csv", ("text", "ready", "Big5", None)),
        (lambda: samples.make_pdf(""), "a.pdf", ("pdf", "ready", "", "scanned")),
        (samples.make_pdf_with_password, "b.pdf", ("pdf", "failed", "", "password")),
        (lambda: samples.make_ole_file("WordDocument", b"old"), "a.doc", ("other", "ready", "", "format")),
    ],
    ids=["Big5", "scanned", "password", "doc"],
)
def test_the_row_and_the_message_of_a_file_say_its_encoding_or_why_it_has_no_text(team, upload, make, name, facts):
    file = upload(make(), name)
    message, _ = files.post_file(team.bob, file.id, wake="nobody")
    files.read_contents(file.id)
    file.refresh_from_db()
    row = file.to_row()
    assert (row.kind, row.state, row.encoding, row.no_text_reason) == facts
    message.refresh_from_db()
    payload = message.payload
    assert tuple(payload.get(key) for key in ("kind", "state", "encoding", "no_text_reason")) == facts


@pytest.mark.django_db(transaction=True)
async def test_a_file_that_waits_in_the_queue_of_a_process_is_not_queued_again(upload, monkeypatch):
    file = await sync_to_async(upload)()
    queued = []
    monkeypatch.setattr(
        worker_tasks, "get_engine", lambda: SimpleNamespace(run_soon=lambda work, name: queued.append(work))
    )
    for _ in range(2):
        await sync_to_async(worker_tasks.read_file_contents)(str(file.id))
    [work] = queued
    await work()
    await file.arefresh_from_db()
    assert file.state == "ready"
    await sync_to_async(worker_tasks.read_file_contents)(str(file.id))
    assert len(queued) == 2
    worker_tasks._queued_files.clear()


def test_two_tasks_that_read_a_file_at_once_store_one_thumbnail(upload, monkeypatch):
    file = upload(samples.make_image(), "picture.png")

    def read_after_another_task(kind, content):
        monkeypatch.setattr(contents, "read_in_process", read_in_process)
        files.read_contents(file.id)
        return read_in_process(kind, content)

    monkeypatch.setattr(contents, "read_in_process", read_after_another_task)
    files.read_contents(file.id)
    file.refresh_from_db()
    folder = Path(settings.STORAGES["files"]["OPTIONS"]["location"])
    stored = {str(path.relative_to(folder)) for path in (folder / str(file.workspace_id)).rglob("*") if path.is_file()}
    assert stored == {file.content.name, file.thumbnail.name}


def test_reading_twice_changes_nothing(team, upload):
    file = upload()
    files.read_contents(file.id)
    before = fingerprint()
    files.read_contents(file.id)
    files.read_contents(uuid4())
    assert fingerprint() == before


def test_the_hash_of_the_content_is_stored(upload):
    assert upload(b"hello").sha256 == hashlib.sha256(b"hello").hexdigest()


def test_an_answer_to_a_message_of_another_chat_is_refused(team, upload):
    other = chats.create_chat(team.bob, team.workspace.id, title="Other")
    elsewhere, _ = chats.post_message(team.bob, other.id, text="hi")
    file = upload()
    with pytest.raises(AppError):
        files.post_file(team.bob, file.id, reply_to=elsewhere.id)
    assert File.objects.get(pk=file.pk).posted_at is None

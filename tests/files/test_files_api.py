"""Files over HTTP: uploads, downloads and lists, and the headers with which a browser gets what people have uploaded."""

import pytest
from django.db import connection
from django.test import override_settings
from django.test.utils import CaptureQueriesContext

from chats import services as chats
from common.ids import new_id
from files import selectors
from files import services as files
from files.models import File
from tests.api.client import Upload
from tests.api.test_rights import client_for
from tests.factories.files import FileFactory
from tests.files import samples

pytestmark = pytest.mark.django_db


def test_an_integrator_uploads_posts_and_downloads_a_file(team):
    bob, alice = client_for(team, "bob", "token"), client_for(team, "alice")
    id = str(new_id())
    upload = Upload(samples.make_pdf("Invoice"), "發票 🧾.pdf", {"id": id})
    file = bob.ok("POST", f"chats/{team.chat.id}/files", upload)
    assert (file["id"], file["kind"], file["posted"]) == (id, "pdf", False)
    assert bob.ok("POST", f"chats/{team.chat.id}/files", upload) == file
    assert alice("GET", f"files/{id}/content").status_code == 404
    message = bob.ok("POST", f"files/{id}/post", {"wake": "nobody"})
    assert (message["id"], message["type"]) == (id, "FILE_MESSAGE")
    files.read_contents(File.objects.get().id)
    assert alice.ok("GET", f"files/{id}/text")["text"] == "[page 1]\nInvoice"
    response = alice("GET", f"files/{id}/content")
    assert b"".join(response.streaming_content) == upload.content
    assert response["Content-Disposition"] == "attachment; filename*=UTF-8''%E7%99%BC%E7%A5%A8%20%F0%9F%A7%BE.pdf"


@pytest.mark.parametrize(("content", "name"), [(samples.SVG, "logo.svg"), (samples.HTML, "page.html")])
def test_SEC22_uploaded_pages_and_scripts_are_never_executed(team, content, name):
    bob = client_for(team, "bob")
    file = bob.ok("POST", f"chats/{team.chat.id}/files", Upload(content, name))
    response = bob("GET", f"files/{file['id']}/content")
    assert response["Content-Type"] == "text/plain"
    assert response["Content-Disposition"].startswith("attachment;")
    assert response["Content-Security-Policy"] == "sandbox; default-src 'none'"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Cache-Control"] == "private, max-age=31536000, immutable"


def test_a_thumbnail_is_an_image_that_we_have_made(team):
    file = FileFactory.create(chat=team.chat, uploaded_by=team.bob)
    response = client_for(team, "alice")("GET", f"files/{file.id}/thumbnail")
    assert (response["Content-Type"], response["Content-Disposition"]) == ("image/webp", "inline")
    File.objects.update(thumbnail="")
    client_for(team, "alice").refused(404, "not_found", "GET", f"files/{file.id}/thumbnail")


def test_the_proxy_can_send_the_content(team):
    file = FileFactory.create(chat=team.chat, uploaded_by=team.bob)
    with override_settings(FILES_ACCEL_PATH="/stored-files/"):
        response = client_for(team, "alice")("GET", f"files/{file.id}/content")
    assert response["X-Accel-Redirect"] == f"/stored-files/{file.content.name}"
    assert response.content == b""


@pytest.mark.parametrize(
    "body",
    [
        Upload(b"x", "a.txt", {"id": "nonsense"}),
        Upload(b"x", "a.txt", {"unknown": "1"}),
        Upload(b"", "a.txt"),
        Upload(b"x", "\u200b"),
    ],
)
def test_a_wrong_upload_is_refused_and_nothing_is_stored(team, body):
    client_for(team, "bob").refused(400, "invalid", "POST", f"chats/{team.chat.id}/files", body)
    assert not File.objects.exists()


def test_an_upload_that_is_no_form_is_refused(team):
    client_for(team, "bob").refused(415, "unsupported", "POST", f"chats/{team.chat.id}/files", {"file": "x"})


def test_a_file_that_is_too_large_is_refused(team, settings):
    settings.MAX_FILE_BYTES = 10
    client_for(team, "bob").refused(413, "too_large", "POST", f"chats/{team.chat.id}/files", Upload(b"x" * 11, "a.txt"))


def test_the_lists_are_filtered_and_have_a_constant_number_of_queries(team):
    for number in range(20):
        FileFactory.create(chat=team.chat, uploaded_by=team.bob, name=f"{number}.png")
    FileFactory.create(workspace_id=team.workspace.id, uploaded_by=team.alice, name="Plan.pdf", kind="pdf")
    alice = client_for(team, "alice")
    path = f"workspaces/{team.workspace.id}/files"
    alice.ok("GET", path)  # from then on the session and its person are read together
    counts = []
    for limit in (2, 20):
        with CaptureQueriesContext(connection) as queries:
            assert len(alice.ok("GET", f"{path}?limit={limit}")["results"]) == limit
        counts.append(len(queries))
    assert counts[0] == counts[1]
    assert [row["name"] for row in alice.ok("GET", f"{path}?q=PLAN")["results"]] == ["Plan.pdf"]
    assert [row["name"] for row in alice.ok("GET", f"{path}?kind=pdf")["results"]] == ["Plan.pdf"]
    assert [row["name"] for row in alice.ok("GET", f"{path}?q=plan&kind=image")["results"]] == []
    assert len(alice.ok("GET", f"chats/{team.chat.id}/files")["results"]) == 20


def test_the_texts_of_the_files_that_a_person_may_see_are_searched(team, monkeypatch):
    other = chats.create_chat(team.bob, team.workspace.id, title="Other")
    for name, text, chat in (
        ("a.txt", "The PRICE of tea", team.chat),
        ("價格.txt", "", team.chat),
        ("b.txt", "茶葉的價格", team.chat),
        ("bob.txt", "the price 價格", other),
    ):
        FileFactory.create(chat=chat, uploaded_by=team.bob, name=name, text=text)

    def find(person, words):
        page = client_for(team, person).ok("GET", f"workspaces/{team.workspace.id}/files?q={words}")
        return {row["name"] for row in page["results"]}

    assert find("alice", "price of") == {"a.txt"}
    assert find("alice", "價格") == {"價格.txt", "b.txt"}
    assert find("bob", "price") == {"a.txt", "bob.txt"}
    assert find("alice", "100%") == set()
    monkeypatch.setattr(selectors, "MAX_SEARCHED_CHARACTERS", 9)
    assert find("alice", "price of") == set()
    assert find("alice", "the price") == {"a.txt"}
    monkeypatch.setattr(selectors, "MAX_SEARCHED_FILES", 1)
    assert find("alice", "the price") == set()


def test_the_files_of_the_workspace_are_listed_without_those_of_its_chats(team):
    own = FileFactory.create(workspace_id=team.workspace.id, chat=None, name="rules.md", posted_at=None)
    of_chat = FileFactory.create(chat=team.chat, name="minutes.md")
    bob = client_for(team, "bob")
    path = f"workspaces/{team.workspace.id}/files"
    assert {row["id"] for row in bob.ok("GET", path)["results"]} == {str(own.id), str(of_chat.id)}
    assert [row["id"] for row in bob.ok("GET", f"{path}?of_workspace=true&q=md")["results"]] == [str(own.id)]
    bob.refused(400, "invalid", "GET", f"chats/{team.chat.id}/files?of_workspace=true")

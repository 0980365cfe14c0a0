"""Files in a bucket of an S3-compatible server, whose address is in `TEST_S3_ENDPOINT`; without it these tests are left out."""

import os
from io import BytesIO

import boto3
import pytest
from django.conf import settings
from PIL import Image
from storages.backends.s3 import S3Storage

from files import services as files
from files.models import File
from files.services import deletion
from tests.api.test_rights import client_for
from tests.files import samples

ENDPOINT = os.environ.get("TEST_S3_ENDPOINT", "")
pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(not ENDPOINT, reason="TEST_S3_ENDPOINT names no S3-compatible server"),
]
KEY = {
    "access_key": os.environ.get("TEST_S3_ACCESS_KEY", "key"),
    "secret_key": os.environ.get("TEST_S3_SECRET_KEY", "secret"),
}


@pytest.fixture
def bucket(monkeypatch):
    """A new bucket, in which the content of files is kept."""
    resource = boto3.resource(
        "s3",
        endpoint_url=ENDPOINT,
        region_name="us-east-1",
        aws_access_key_id=KEY["access_key"],
        aws_secret_access_key=KEY["secret_key"],
    )
    bucket = resource.create_bucket(Bucket=f"atelier-{os.urandom(6).hex()}")
    options = {"bucket_name": bucket.name, "endpoint_url": ENDPOINT, "region_name": "us-east-1", **KEY}
    storage = S3Storage(**{**settings.FILES_S3_OPTIONS, **options})
    for name in ("content", "thumbnail"):
        monkeypatch.setattr(File._meta.get_field(name), "storage", storage)
    monkeypatch.setattr(deletion, "get_file_storage", lambda: storage)
    yield bucket
    bucket.objects.all().delete()
    bucket.delete()


def list_keys(bucket):
    return {stored.key for stored in bucket.objects.all()}


def test_a_picture_is_stored_read_served_and_deleted(team, upload, bucket, django_capture_on_commit_callbacks):
    content = samples.make_image()
    file = upload(content, "picture.png")
    files.post_file(team.bob, file.id)
    files.read_contents(file.id)
    file.refresh_from_db()
    assert (file.state, file.width, file.height) == ("ready", 900, 600)
    assert list_keys(bucket) == {file.content.name, file.thumbnail.name}
    alice = client_for(team, "alice")
    response = alice("GET", f"files/{file.id}/content")
    assert (b"".join(response.streaming_content), response["Content-Length"]) == (content, str(len(content)))
    thumbnail = Image.open(BytesIO(b"".join(alice("GET", f"files/{file.id}/thumbnail").streaming_content)))
    assert (thumbnail.format, thumbnail.size) == ("WEBP", (900, 600))
    with django_capture_on_commit_callbacks(execute=True):
        files.delete_file(team.bob, file.id)
    assert list_keys(bucket) == set()


def test_a_part_of_the_content_is_read(upload, bucket):
    file = upload(b"0123456789" * 100_000)
    [stored] = bucket.objects.all()
    assert stored.size == 1_000_000
    with file.content.open("rb") as content:
        content.seek(999_995)
        assert content.read() == b"56789"


def test_content_that_is_missing_is_not_found(team, upload, bucket):
    file = upload()
    bucket.objects.all().delete()
    client_for(team, "bob").refused(404, "not_found", "GET", f"files/{file.id}/content")


def test_content_whose_row_is_gone_is_deleted(team, upload, bucket, monkeypatch):
    kept = upload(workspace_id=team.workspace.id)
    upload()
    team.chat.delete()
    assert files.delete_orphaned_content() is None
    assert len(list_keys(bucket)) == 2
    monkeypatch.setattr(deletion, "ORPHAN_AGE", -deletion.ORPHAN_AGE)
    assert files.delete_orphaned_content() is None
    assert list_keys(bucket) == {kept.content.name}

"""Factories of files."""

from django.core.files.base import ContentFile
from factory.declarations import LazyAttribute, LazyFunction
from factory.django import DjangoModelFactory

from common.clock import now
from events.payloads import FileKind, FileState
from files.models import File

CONTENT = b"hello"


class FileFactory(DjangoModelFactory[File]):
    """A picture that was read, without the message that shows it. Its content is a few bytes that are no picture."""

    class Meta:
        model = File

    workspace_id = LazyAttribute(lambda file: file.chat.workspace_id)
    name = "picture.png"
    kind = FileKind.IMAGE
    content_type = "image/png"
    size = len(CONTENT)
    sha256 = "0" * 64
    content = LazyFunction(lambda: ContentFile(CONTENT, "content"))
    thumbnail = LazyFunction(lambda: ContentFile(CONTENT, "thumbnail"))
    width = 900
    height = 600
    state = FileState.READY
    posted_at = LazyFunction(now)

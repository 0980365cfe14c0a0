"""The bodies and queries of requests about files."""

from typing import Literal
from uuid import UUID

from pydantic import Field

from common.paging import PageQuery
from common.rest import Body
from events.payloads import FileKind, FileState
from events.row import Row


class UploadBody(Body):
    """The fields of an upload besides `file`. `id` is made by the client, a UUID: the same upload again changes nothing."""

    id: UUID | None = None


class PostFileBody(Body):
    """`wake`: `nobody` wakes no agent."""

    reply_to: UUID | None = None
    wake: Literal["auto", "nobody"] = "auto"


class FilesQuery(PageQuery):
    """`q`: a part of the name. `kind`: files of this kind only."""

    q: str = Field(default="", max_length=100)
    kind: FileKind | None = None


class FileTextRow(Row):
    """The text that was read from a file. `is_cut`: the file has more."""

    text: str
    is_cut: bool
    state: FileState

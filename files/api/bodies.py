"""The bodies and queries of requests about files."""

from uuid import UUID

from pydantic import Field

from common.paging import PageQuery
from common.rest import Body
from events.payloads import FileKind, FileState, MessageWake
from events.row import Row


class UploadBody(Body):
    """The fields of an upload besides `file`."""

    id: UUID | None = None
    """A UUID that the client makes. The same upload again returns the first file."""


class PostFileBody(Body):
    reply_to: UUID | None = None
    """The id of the message that it replies to."""
    wake: MessageWake = "auto"
    """`nobody` wakes no agent."""


class FilesQuery(PageQuery):
    q: str = Field(default="", max_length=100)
    """A part of the name or of the text."""
    kind: FileKind | None = None
    """Only files of this kind."""


class WorkspaceFilesQuery(FilesQuery):
    """`of_workspace`: only files of the workspace itself, not those of its chats."""

    of_workspace: bool = False


class FileTextRow(Row):
    """The text that was read from a file. `is_cut`: the file has more."""

    text: str
    is_cut: bool
    state: FileState

"""The bodies and queries of requests about files."""

from uuid import UUID

from pydantic import Field

from common.paging import PageQuery
from common.rest import Body
from events.payloads import FileKind, FileState, MessageWake
from events.row import Row


class UploadBody(Body):
    """The fields of an upload besides `file`. `id` is made by the client, a UUID: the same upload again changes nothing."""

    id: UUID | None = None


class PostFileBody(Body):
    """`wake`: `nobody` wakes no agent."""

    reply_to: UUID | None = None
    wake: MessageWake = "auto"


class FilesQuery(PageQuery):
    """`q`: a part of the name or of the text. `kind`: files of this kind only."""

    q: str = Field(default="", max_length=100)
    kind: FileKind | None = None


class WorkspaceFilesQuery(FilesQuery):
    """`of_workspace`: only files of the workspace itself, not those of its chats."""

    of_workspace: bool = False


class FileTextRow(Row):
    """The text that was read from a file. `is_cut`: the file has more."""

    text: str
    is_cut: bool
    state: FileState

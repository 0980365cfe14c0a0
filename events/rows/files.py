"""The row of a file."""

from datetime import datetime
from uuid import UUID

from events.payloads import FileKind, FileState
from events.row import Row
from events.rows.people import ActorRow


class FileRow(Row):
    """A file of a chat, or of the workspace if `chat_id` is null. Its content is at `/api/v1/files/{id}/content`.

    `size` is in bytes. `state` is that of reading its text, its size in pixels and its number of pages.
    """

    id: UUID
    workspace_id: UUID
    chat_id: UUID | None
    uploaded_by: ActorRow | None
    name: str
    kind: FileKind
    content_type: str
    size: int
    width: int | None = None
    height: int | None = None
    pages: int | None = None
    has_thumbnail: bool = False
    state: FileState
    created_at: datetime
    posted: bool

"""The row of a file."""

from datetime import datetime
from uuid import UUID

from events.payloads import FileFacts
from events.rows.people import ActorRow


class FileRow(FileFacts):
    """A file of a chat, or of the workspace if `chat_id` is null. Its content is at `/api/v1/files/{id}/content`.

    `size` is in bytes, `width` and `height` in pixels.
    """

    id: UUID
    workspace_id: UUID
    chat_id: UUID | None
    uploaded_by: ActorRow | None
    created_at: datetime
    posted: bool

"""The bodies of requests about context."""

from pydantic import Field

from common.request_types import Revision
from common.rest import Body
from context.services.corrections import MAX_SENTENCE
from events.payloads import ContextStrategy


class CorrectionBody(Body):
    text: str = Field(min_length=1, max_length=MAX_SENTENCE)


class ContextSettingsBody(Body):
    strategy: ContextStrategy
    """What happens to older messages that do not fit any more."""
    max_tokens: int | None = Field(default=None, ge=1_000, le=2_000_000)
    """The most tokens of a conversation; null: as many as the model allows."""
    revision: Revision
    """The revision of the settings that were read."""

"""The bodies and query strings of requests about public agents."""

from typing import Annotated
from uuid import UUID

from pydantic import Field

from common.paging import PageQuery
from common.request_types import NOT_BLANK, Handle, Name, Version
from common.rest import Body
from events.rows import ListingCategory, ReportReason
from publishing.models import MAX_EXAMPLES, MAX_LANGUAGES
from publishing.selectors import DirectorySort

LanguageTag = Annotated[str, Field(pattern=r"^[a-z]{2,3}(-[a-z0-9]{2,8})?$")]
"""A language in which an agent answers, such as `en` or `zh-hant`."""
Example = Annotated[str, Field(min_length=1, max_length=400, pattern=NOT_BLANK)]


class UpdatePublicationBody(Body):
    """`version`: of the agent; production if it is left out. `message`: what is new, for the users."""

    name: Name
    description: str = Field(min_length=1, max_length=2000, pattern=NOT_BLANK)
    category: ListingCategory
    languages: list[LanguageTag] = Field(default=[], max_length=MAX_LANGUAGES)
    examples: list[Example] = Field(default=[], max_length=MAX_EXAMPLES)
    message: str = Field(default="", max_length=400)
    version: Version | None = None


class PublishBody(UpdatePublicationBody):
    """The handle cannot be changed later."""

    handle: Handle


class ListingCheckBody(Body):
    """Texts of a listing while they are entered, so they may be empty."""

    description: str = Field(default="", max_length=2000)
    examples: list[Annotated[str, Field(max_length=400)]] = Field(default=[], max_length=MAX_EXAMPLES)
    message: str = Field(default="", max_length=400)


class PublicationQuery(Body):
    """A version, a name and a handle to check; those of the agent if they are left out."""

    version: Version | None = None
    name: Name | None = None
    handle: Handle | None = None


class DirectoryQuery(PageQuery):
    """`query`: words that all occur in the name, handle, description, publisher, examples or tools. `used_in`: a workspace of the
    reader, for the agents in the reader's chats there."""

    query: str = Field(default="", max_length=200)
    category: ListingCategory | None = None
    language: LanguageTag | None = None
    sort: DirectorySort = "use"
    yours: bool = False
    used_in: UUID | None = None
    limit: int = Field(default=24, ge=1, le=50)


class TryBody(Body):
    workspace_id: UUID


class TakedownBody(Body):
    """`reason` is read by the users of the agent."""

    reason: str = Field(default="", max_length=600)


class ReportBody(Body):
    reason: ReportReason
    text: str = Field(default="", max_length=2000)

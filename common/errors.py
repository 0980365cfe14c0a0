"""The errors of the API, all in the form `{"error": {"code", "message", "hints"}}`."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Any


class Code(StrEnum):
    """The codes of all errors. The web app has a text for each in three languages."""

    NOT_FOUND = "not_found"
    FORBIDDEN = "forbidden"
    NOT_SIGNED_IN = "not_signed_in"
    INVALID = "invalid"
    TOO_LARGE = "too_large"
    UNSUPPORTED = "unsupported"
    LIMIT_REACHED = "limit_reached"
    QUOTA_REACHED = "quota_reached"
    UNAVAILABLE = "unavailable"
    INTERNAL = "internal"
    # accounts
    WRONG_PASSWORD = "wrong_password"
    VIEWING = "viewing"
    EMAIL_TAKEN = "email_taken"
    EMAIL_UNCONFIRMED = "email_unconfirmed"
    SIGN_UP_CLOSED = "sign_up_closed"
    # messages, chats, roles and handles
    ID_TAKEN = "id_taken"
    LINK_DEAD = "link_dead"
    ALREADY_PARTICIPANT = "already_participant"
    DIRECT_CHAT = "direct_chat"
    TOO_MANY_PINS = "too_many_pins"
    TOO_MANY_REACTIONS = "too_many_reactions"
    LAST_EDITOR = "last_editor"
    HANDLE_TAKEN = "handle_taken"
    # drafts
    DRAFT_LOCKED = "draft_locked"
    DRAFT_NOT_LOCKED = "draft_not_locked"
    NOT_REQUESTED = "not_requested"
    RECIPIENT_BUSY = "recipient_busy"
    DRAFT_YOURS = "draft_yours"
    OTHER_DRAFT_LOCKED = "other_draft_locked"
    STALE_REVISION = "stale_revision"
    STALE_BASE = "stale_base"
    NO_DRAFT = "no_draft"
    NOT_APPLIED = "not_applied"
    NOTHING_CHANGED = "nothing_changed"
    COMPARISON_ENDED = "comparison_ended"
    # suggestions and merges
    SUGGESTION_CLOSED = "suggestion_closed"
    IN_MERGE = "in_merge"
    MERGE_ENDED = "merge_ended"
    SUGGESTIONS_UNUSED = "suggestions_unused"
    # files
    FILE_UNREADABLE = "file_unreadable"
    # models, runs, workspaces and schedules
    HOST_REFUSED = "host_refused"
    MODEL_UNUSABLE = "model_unusable"
    LLM_PROFILE_UNUSABLE = "llm_profile_unusable"
    BUDGET_USED_UP = "budget_used_up"
    PRICE_UNKNOWN = "price_unknown"
    TIME_ZONE_CHANGED = "time_zone_changed"
    WORKSPACE_HAS_PUBLIC_AGENTS = "workspace_has_public_agents"
    RUN_ENDED = "run_ended"
    BOARD_ENDED = "board_ended"
    AGENT_REFUSED = "agent_refused"
    SCHEDULE_INVALID = "schedule_invalid"
    APPROVAL_DECIDED = "approval_decided"
    INVALID_ARGUMENTS = "invalid_arguments"
    # public agents, and who reports to whom
    STILL_PUBLIC = "still_public"
    WOULD_REPORT_TO_ITSELF = "would_report_to_itself"
    AGENT_PUBLIC = "agent_public"
    ALREADY_PUBLIC = "already_public"
    NOT_PUBLIC = "not_public"
    TAKEN_DOWN = "taken_down"
    NAME_TAKEN = "name_taken"
    ALREADY_REPORTED = "already_reported"
    OWN_AGENT = "own_agent"


class AppError(Exception):
    """An error that a client can understand and act on.

    `message` is one English sentence that says what happened; `hints` say what the client can do; `data` has facts for
    programs (ids, names, revisions).
    """

    status = 400
    default_code = Code.INVALID

    def __init__(
        self, message: str, *, code: Code | None = None, hints: Sequence[str] = (), data: dict[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.default_code
        self.hints = list(hints)
        self.data = data or {}

    def body(self) -> dict[str, Any]:
        """Return the body of the response."""
        error: dict[str, Any] = {"code": self.code.value, "message": self.message, "hints": self.hints}
        if self.data:
            error["data"] = self.data
        return {"error": error}


class NotFound(AppError):
    """The object does not exist, or the actor may not see it: clients cannot distinguish the two (SEC1)."""

    status = 404
    default_code = Code.NOT_FOUND


class Forbidden(AppError):
    """The actor may see the object, but not do this."""

    status = 403
    default_code = Code.FORBIDDEN


class Invalid(AppError):
    """The input does not match the schema, or its content is invalid."""


class Conflict(AppError):
    """The state that the request is based on is out of date, or conflicts with another object."""

    status = 409
    default_code = Code.STALE_REVISION


def build_duplicate_id_error(what: str) -> Conflict:
    """Return the error for an id from the client that another object already has (MSG1)."""
    return Conflict(f"Another {what} already has this id.", code=Code.ID_TAKEN, hints=["Make a new id."])


class LimitReached(AppError):
    """A limit of size, rate, number or money is reached."""

    status = 429
    default_code = Code.LIMIT_REACHED


class QuotaReached(LimitReached):
    """There are already as many objects, or as much of something, as a quota allows."""

    default_code = Code.QUOTA_REACHED


class TooLarge(AppError):
    """The input is too large (MSG8)."""

    status = 413
    default_code = Code.TOO_LARGE


class Unavailable(AppError):
    """A service that is needed is unavailable or too busy at the moment (RUN7)."""

    status = 503
    default_code = Code.UNAVAILABLE

"""The draft of an agent in a chat, its edit lock and the waitlist of the lock.

Changes that get a message in the chat (lock acquired or released, draft applied, saved or discarded) lock the chat and go through
`chats.save_changes`. Writing the content is one fenced UPDATE and a transient frame.
"""

from agents.services.drafts.editing import apply_draft, rebase_draft, replace_draft, revise_prompt, write_draft
from agents.services.drafts.finishing import discard_draft, end_suggested_draft, finish_draft, release_draft, save_draft
from agents.services.drafts.locking import (
    LOCK_DURATION,
    build_locked_error,
    build_write_error,
    check_holds_no_other_lock,
    claim_draft,
    lock_chat_with_agent,
    release_lock,
)
from agents.services.drafts.waitlist import (
    hand_over_draft,
    notify_expired_locks,
    remove_lock_waiters,
    request_draft,
    set_wants_notice,
)

__all__ = [
    "LOCK_DURATION",
    "apply_draft",
    "build_locked_error",
    "build_write_error",
    "check_holds_no_other_lock",
    "claim_draft",
    "discard_draft",
    "finish_draft",
    "hand_over_draft",
    "lock_chat_with_agent",
    "notify_expired_locks",
    "rebase_draft",
    "release_draft",
    "release_lock",
    "remove_lock_waiters",
    "replace_draft",
    "request_draft",
    "revise_prompt",
    "save_draft",
    "set_wants_notice",
    "end_suggested_draft",
    "write_draft",
]

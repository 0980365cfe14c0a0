"""The services of actors: people, their passwords, sessions and API tokens, and the status of agents."""

from actors.services.emails import cancel_email_change, confirm_email, send_email_change, start_email_change
from actors.services.passwords import (
    check_password,
    create_reset_link,
    enqueue_reset_link,
    send_reset_link,
    set_password,
)
from actors.services.people import (
    activate_person,
    deactivate_person,
    find_account,
    has_verified_email,
    make_superuser,
    resume_agent,
    set_access_level,
    suspend_agent,
    update_profile,
)
from actors.services.sessions import delete_expired_rows, end_sessions, end_sessions_as_operator
from actors.services.tokens import create_token, record_token_use, revoke_token, revoke_tokens, revoke_tokens_of_maker
from actors.services.viewings import end_expired_viewings, end_viewing, end_viewings_of, start_viewing

__all__ = [
    "activate_person",
    "cancel_email_change",
    "update_profile",
    "check_password",
    "confirm_email",
    "create_reset_link",
    "create_token",
    "deactivate_person",
    "delete_expired_rows",
    "end_expired_viewings",
    "end_sessions",
    "end_sessions_as_operator",
    "end_viewing",
    "end_viewings_of",
    "enqueue_reset_link",
    "find_account",
    "has_verified_email",
    "make_superuser",
    "record_token_use",
    "resume_agent",
    "revoke_token",
    "revoke_tokens",
    "revoke_tokens_of_maker",
    "send_email_change",
    "send_reset_link",
    "set_access_level",
    "set_password",
    "start_email_change",
    "start_viewing",
    "suspend_agent",
]

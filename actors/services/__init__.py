"""The writes of actors that are not about agents' specs: people, their passwords, sessions and API tokens."""

from actors.services.cleanup import delete_expired
from actors.services.emails import cancel_email_change, confirm_email, send_email_change, start_email_change
from actors.services.passwords import ask_for_reset_link, check_password, make_reset_link, send_reset_link, set_password
from actors.services.people import activate, change_profile, deactivate, resume_agent, suspend_agent
from actors.services.sessions import end_sessions
from actors.services.tokens import create_token, note_use, revoke_token

__all__ = [
    "activate", "ask_for_reset_link", "cancel_email_change", "change_profile", "check_password", "confirm_email", "create_token",
    "deactivate", "delete_expired", "end_sessions", "make_reset_link", "note_use", "resume_agent", "revoke_token",
    "send_email_change", "send_reset_link", "set_password", "start_email_change", "suspend_agent",
]  # fmt: skip

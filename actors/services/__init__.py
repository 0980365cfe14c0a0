"""The writes of actors that are not about agents' specs: people, their passwords, sessions and API tokens."""

from actors.services.passwords import ask_for_reset_link, make_reset_link, send_reset_link, set_password
from actors.services.people import activate, change_profile, deactivate, resume_agent, suspend_agent
from actors.services.sessions import end_sessions
from actors.services.tokens import create_token, note_use, revoke_token

__all__ = [
    "activate", "ask_for_reset_link", "change_profile", "create_token", "deactivate", "end_sessions", "make_reset_link", "note_use",
    "resume_agent", "revoke_token", "send_reset_link", "set_password", "suspend_agent",
]  # fmt: skip

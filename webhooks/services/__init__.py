"""The services of outside programs of agents."""

from webhooks.services.access import create_agent_token, revoke_agent_token, set_access
from webhooks.services.deliveries import delete_old_wakes_and_deliveries, deliver, deliver_due, send_again, send_test
from webhooks.services.webhooks import create_webhook, delete_webhook, rotate_secret, set_enabled

__all__ = [
    "create_agent_token",
    "create_webhook",
    "delete_webhook",
    "delete_old_wakes_and_deliveries",
    "deliver",
    "deliver_due",
    "revoke_agent_token",
    "rotate_secret",
    "send_again",
    "send_test",
    "set_access",
    "set_enabled",
]

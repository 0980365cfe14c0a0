"""Hooks of webhooks. `config/hooks.py` lists their listeners."""

from actors.models import Actor
from common.hooks import Hook

# Called when a webhook is switched off because its deliveries have failed for days, with its agent and its host.
webhook_disabled: Hook[[Actor, str]] = Hook("webhook_disabled")

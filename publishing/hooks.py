"""Hooks that publishing calls; the listeners and their order are in `config/hooks.py`."""

from actors.models import Actor
from common.hooks import Hook
from publishing.models import Listing

# Called after an agent was published, or a public agent got a new version. Arguments: the listing, the actor.
agent_published: Hook[[Listing, Actor]] = Hook("agent_published")
# Called after a public agent was taken down. Arguments: the listing, the actor.
agent_taken_down: Hook[[Listing, Actor]] = Hook("agent_taken_down")

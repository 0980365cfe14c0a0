"""Hooks that publishing calls; the listeners and their order are in `config/hooks.py`.

The task that brings the users of a public agent up to date calls them, once for each batch of workspaces, and perhaps again for a
batch whose worker has died.
"""

from collections.abc import Mapping
from uuid import UUID

from agents.models import AgentSpec
from common.hooks import Hook
from publishing.models import Listing

# Called after an agent was published, or a public agent got a new version. Arguments: the listing, the version, the ids of the
# people whom it concerns by workspace.
agent_published: Hook[[Listing, AgentSpec, Mapping[UUID, set[UUID]]]] = Hook("agent_published")
# Called after a public agent was taken down. Arguments: the listing, the ids of the people whom it concerns by workspace.
agent_taken_down: Hook[[Listing, Mapping[UUID, set[UUID]]]] = Hook("agent_taken_down")

"""What a workspace tells the apps above it; who listens, and in which order, is in `config/hooks.py`."""

from typing import TYPE_CHECKING

from common.hooks import Hook
from workspaces.models import Credential, Workspace

if TYPE_CHECKING:
    from actors.models import Actor

# Another provider or host reads what the workspace's agents read, from now on; the second argument is who set it.
model_changed: "Hook[[Credential, Actor]]" = Hook("model_changed")
# A member (the second) may not invite any more, because of the third: the links that they made end.
member_demoted: "Hook[[Workspace, Actor, Actor]]" = Hook("member_demoted")
# Somebody (the second) is no longer a member, by the deed of the third: their places in the chats end, and
# the rights that they were granted on chats and agents.
member_left: "Hook[[Workspace, Actor, Actor]]" = Hook("member_left")

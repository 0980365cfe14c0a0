"""What a workspace tells the apps above it; who listens, and in which order, is in `config/seams.py`."""

from typing import TYPE_CHECKING

from common.seams import Seam
from workspaces.models import Workspace

if TYPE_CHECKING:
    from actors.models import Actor

# Somebody (the second) is no longer a member, by the deed of the third: their places in the chats end, and
# the rights that they were granted on chats and agents.
member_left: "Seam[[Workspace, Actor, Actor], None]" = Seam("member_left")

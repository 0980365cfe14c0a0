"""What agents tell the apps above them; who listens, and in which order, is in `config/seams.py`."""

from uuid import UUID

from actors.models import Actor
from agents.models import AgentSpec, Draft, DraftWish, Run
from chats.models import InChat
from common.seams import Seam

# A draft is about to end: `ended_how` is set; the version it became, when it was saved, and who did it. Listeners return
# rows of its chat that change with it.
draft_ended: Seam[[Draft, Actor, AgentSpec | None], InChat] = Seam("draft_ended")
# Somebody's hold was taken from them: the draft as it was, who held it, who took it.
lock_lost: Seam[[Draft, Actor, Actor], None] = Seam("lock_lost")
# Somebody asks the holder of a draft for it.
draft_asked: Seam[[DraftWish], None] = Seam("draft_asked")
# A hold has ended: the draft, who ended it (nobody: its time ran out), the ids of those who waited and may take it now.
draft_free: Seam[[Draft, Actor | None, list[UUID]], None] = Seam("draft_free")
# A job (a run without a chat) has ended: `state` and `answer` are set, not yet written. Listeners may take chats: nothing
# else is held.
job_ended: Seam[[Run], None] = Seam("job_ended")

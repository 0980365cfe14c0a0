"""What agents tell the apps above them; who listens, and in which order, is in `config/seams.py`."""

from actors.models import Actor
from agents.models import AgentSpec, Draft, Run
from chats.models import InChat
from common.seams import Seam

# A draft is about to end: `ended_how` is set; the version it became, when it was saved, and who did it. Listeners return
# rows of its chat that change with it.
draft_ended: Seam[[Draft, Actor, AgentSpec | None], InChat] = Seam("draft_ended")
# Somebody's hold was taken from them: the draft as it was, who held it, who took it.
lock_lost: Seam[[Draft, Actor, Actor], None] = Seam("lock_lost")
# A job (a run without a chat) has ended: `state` and `answer` are set, not yet written. Listeners may take chats: nothing
# else is held.
job_ended: Seam[[Run], None] = Seam("job_ended")

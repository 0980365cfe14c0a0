"""What a chat tells the apps above it; who listens, and in which order, is in `config/seams.py`."""

from actors.models import Actor
from chats.models import Chat, InChat, Message
from common.seams import Seam

# A message is about to be written: listeners return rows to be written with it (the runs of the agents it wakes).
message_posted: Seam[[Chat, Message], InChat] = Seam("message_posted")
# Somebody has read on in a chat, up to this number of its log.
chat_read: Seam[[Chat, Actor, int], None] = Seam("chat_read")
# Somebody leaves a chat, by whose doing: listeners return rows that change with it (their drafts' holds, an agent's runs).
actor_left: Seam[[Chat, Actor, Actor], InChat] = Seam("actor_left")

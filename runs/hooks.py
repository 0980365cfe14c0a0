"""Hooks of runs. `config/hooks.py` lists their listeners."""

from collections.abc import Sequence

from actors.models import Actor
from chats.models import Chat, Message
from chats.services import RowChange
from common.hooks import CollectingHook, Hook
from runs.models import Run

# Called once when runs of any kind end, before that is written: their `state` is set, and the `answer` of a job. Runs that end
# together are in one call. A listener returns changes of the chat of the runs, which is locked. A job has no chat: nothing is
# returned for it, and its row is not locked, so that listeners may lock chats.
runs_ended: CollectingHook[[Sequence[Run]], RowChange] = CollectingHook("runs_ended")
# Called when a run in a chat has failed, before that is written, with the message that says so. The chat is locked. It is not
# called for sub-agents, whose failure their caller reads, and for comparisons.
run_failed: Hook[[Run, Message]] = Hook("run_failed")
# Called when a message wakes agents for which outside programs answer, before it is written: each agent with why it is woken
# (`WakeCause`). No run is made for them. Also called at the claim of a queued run if a program answers for its agent by now.
agents_woken_outside: Hook[[Chat, Message, Sequence[tuple[Actor, str]]]] = Hook("agents_woken_outside")

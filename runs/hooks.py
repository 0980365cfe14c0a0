"""Hooks of runs. `config/hooks.py` lists their listeners."""

from collections.abc import Sequence

from actors.models import Actor
from chats.models import Chat, Message
from common.hooks import Hook
from runs.models import Run

# Called when a job ends, before that is written: `state` and `answer` are set. The row of the job is not locked, so that
# listeners may lock chats.
job_ended: Hook[[Run]] = Hook("job_ended")
# Called when a run in a chat has failed, before that is written, with the message that says so. The chat is locked. It is not
# called for sub-agents, whose failure their caller reads, and for comparisons.
run_failed: Hook[[Run, Message]] = Hook("run_failed")
# Called when a message wakes agents for which outside programs answer, before it is written: each agent with why it is woken
# (`WakeCause`). No run is made for them. Also called at the claim of a queued run if a program answers for its agent by now.
agents_woken_outside: Hook[[Chat, Message, Sequence[tuple[Actor, str]]]] = Hook("agents_woken_outside")

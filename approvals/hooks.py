"""The hooks of approvals, which call functions of the apps above. `config/hooks.py` lists these functions."""

from collections.abc import Sequence
from typing import Any

from approvals.models import Approval
from chats.models import VersionedRow
from common.hooks import CollectingHook, Hook
from common.writing import RowUpdate

# Called when the calls of one answer of a run wait for people, before their messages are written. The chat is locked.
approvals_asked: Hook[[Sequence[Approval]]] = Hook("approvals_asked")
# Called when a person has decided, the time is over, or the run ends, before the messages are written. All approvals are of one run
# and have one decision; the chat is locked. Listeners return changes to write in the same transaction.
approvals_decided: CollectingHook[[Sequence[Approval]], VersionedRow | RowUpdate[Any]] = CollectingHook(
    "approvals_decided"
)

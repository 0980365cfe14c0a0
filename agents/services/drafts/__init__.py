"""The draft of an agent in a chat and its lock: compare-and-set throughout (S0.7–S0.9, C1–C3, guarantees §2.8).

What changes for the room (acquired, applied, saved, discarded, released) goes through `chats.changed` under the chat's
lock; the words being typed are one fenced UPDATE and a passing frame, and wait for nobody.
"""

from agents.services.drafts.earlier import earlier_texts
from agents.services.drafts.ending import discard_draft, ended, hand_in_draft, save_draft
from agents.services.drafts.holding import HOLD
from agents.services.drafts.placing import place_draft
from agents.services.drafts.revising import revise_prompt
from agents.services.drafts.taking import free_draft, release_draft, take_draft
from agents.services.drafts.wishes import ask_for_draft, forget_wishes, free, read_wish, set_wish, tell_who_waits
from agents.services.drafts.writing import apply_draft, read_draft, rebase_draft, write_draft

__all__ = [
    "HOLD",
    "apply_draft",
    "ask_for_draft",
    "discard_draft",
    "earlier_texts",
    "ended",
    "forget_wishes",
    "free",
    "free_draft",
    "hand_in_draft",
    "place_draft",
    "read_draft",
    "read_wish",
    "rebase_draft",
    "release_draft",
    "revise_prompt",
    "save_draft",
    "set_wish",
    "take_draft",
    "tell_who_waits",
    "write_draft",
]

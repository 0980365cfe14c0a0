"""Hooks that suggestions call; the listeners and their order are in `config/hooks.py`."""

from typing import Literal

from actors.models import Actor
from common.hooks import Hook
from suggestions.models import Merge, Suggestion

SuggestionChange = Literal["created", "accepted", "rejected", "reopened", "unused"]

# Called after a suggestion was created, accepted or rejected, before it is reopened, and when the draft that it was merged into was
# saved as a version that contains nothing of it (`unused`); not for a withdrawal. Arguments: the suggestion, the change, the actor.
suggestion_changed: Hook[[Suggestion, SuggestionChange, Actor]] = Hook("suggestion_changed")
# Called after a merge is done or has failed, and not if it was stopped.
merge_ended: Hook[[Merge]] = Hook("merge_ended")

"""Hooks that suggestions call; the listeners and their order are in `config/hooks.py`."""

from typing import Literal

from actors.models import Actor
from common.hooks import Hook
from suggestions.models import Merge, Suggestion

SuggestionChange = Literal["created", "accepted", "rejected", "reopened", "unused"]

# Called after a suggestion was created, accepted or rejected, or was left out of an accepted merge, and before it is reopened; not
# for a withdrawal. Arguments: the suggestion, the change, the actor who made it.
suggestion_changed: Hook[[Suggestion, SuggestionChange, Actor]] = Hook("suggestion_changed")
# Called after a merge is done or has failed.
merge_ended: Hook[[Merge]] = Hook("merge_ended")

"""What suggestions tell the apps above them; who listens, and in which order, is in `config/hooks.py`."""

from typing import Literal

from actors.models import Actor
from common.hooks import Hook
from suggestions.models import Merge, Suggestion

SuggestionChange = Literal["created", "accepted", "rejected", "reopened", "unused"]

# Something became of a suggestion, and who did it.
suggestion_changed: Hook[[Suggestion, SuggestionChange, Actor]] = Hook("suggestion_changed")
# A merge is done or has failed.
merge_ended: Hook[[Merge]] = Hook("merge_ended")

"""What suggestions tell the apps above them; who listens, and in which order, is in `config/hooks.py`."""

from typing import Literal

from actors.models import Actor
from common.hooks import Seam
from suggestions.models import Merge, Suggestion

SuggestionChange = Literal["created", "accepted", "rejected", "reopened", "unused"]

# Something became of a suggestion, and who did it.
suggestion_changed: Seam[[Suggestion, SuggestionChange, Actor], None] = Seam("suggestion_changed")
# A merge is done or has failed.
merge_ended: Seam[[Merge], None] = Seam("merge_ended")

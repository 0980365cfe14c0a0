"""What suggestions tell the apps above them; who listens, and in which order, is in `config/seams.py`."""

from typing import Literal

from actors.models import Actor
from common.seams import Seam
from suggestions.models import Merge, Suggestion

# Something became of a suggestion, and who did it.
suggestion_changed: Seam[[Suggestion, Literal["created", "accepted", "rejected", "reopened"], Actor], None] = Seam(
    "suggestion_changed"
)
# A merge is done or has failed.
merge_ended: Seam[[Merge], None] = Seam("merge_ended")

"""What asking for a summary or a merge takes from (D21)."""

from actors.rates import Bucket
from common.rest import Request


class Counted:
    """For views whose deeds have a model asked, at the workspace's expense: each is one of its person's jobs.

    What is refused for another reason counts, too: the bucket is asked before anything is looked at.
    """

    def buckets(self, request: Request) -> list[Bucket]:
        return [("jobs", request.user.pk)]

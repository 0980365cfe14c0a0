"""Limit how many objects a person or a workspace may have, against accidents and abuse, far above what a team needs."""

from typing import Any

from django.conf import settings
from django.db.models import QuerySet

from common.errors import QuotaReached


def check_quota(name: str, rows: QuerySet[Any]) -> None:
    """Raise `QuotaReached` when there are as many `rows` as `settings.QUOTAS` allows; 0 allows any number.

    The limit is not exact: two concurrent requests may both pass.
    """
    most = settings.QUOTAS[name]
    if most and rows.order_by()[:most].count() >= most:
        raise QuotaReached(
            f"There are {most} already, which is as many as can be.",
            hints=["Remove some that are no longer needed, or ask whoever runs the installation."],
            data={"quota": name, "most": most},
        )

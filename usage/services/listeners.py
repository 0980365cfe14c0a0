"""Listeners of usage, for hooks of other apps in `config/hooks.py`."""

from common.clock import now
from usage.models import Balance
from workspaces.models import Workspace


def end_periods(workspace: Workspace) -> None:
    """End the present periods of the budgets that editors have set, because days and months begin at another time now.

    The next request creates balances of the new periods, with what has been spent since they began. Without this, a balance of
    the former time zone would be used again after the zone is changed back, without what was spent meanwhile.
    """
    balances = Balance.objects.filter(budget__workspace=workspace, budget__by_operator=False, ends_at__gt=now())
    locked = balances.select_for_update(of=("self",)).order_by("pk").values_list("pk", flat=True)
    Balance.objects.filter(pk__in=list(locked)).update(ends_at=now())

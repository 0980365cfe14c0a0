"""The hooks of usage, which call functions of the apps above it. `config/hooks.py` lists these functions."""

from common.hooks import Hook
from usage.models import Balance

# Called once for each balance of a day or a month, when `WARNING_SHARE` of its budget is spent.
budget_warning: "Hook[[Balance]]" = Hook("budget_warning")

"""The hooks of usage, which call functions of the apps above it. `config/hooks.py` lists these functions."""

from common.hooks import Hook
from usage.models import Balance

# Called when `WARNING_SHARE` of a budget of a day or a month is spent: once in each period, and once more if the limit was raised
# and that share of the new one is spent.
budget_warning: "Hook[[Balance]]" = Hook("budget_warning")

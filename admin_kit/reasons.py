"""The optional reason for an action that takes something away. It is stored in the audit records of the action."""

from django import forms
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminTextareaWidget

MAX_REASON = 500


class ReasonForm(forms.Form):
    """An optional reason."""

    reason = forms.CharField(
        label=_("Reason"),
        help_text=_("Optional. It is stored in the audit trail."),
        max_length=MAX_REASON,
        required=False,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 2}),
    )

"""Factories of approvals."""

from datetime import timedelta

from factory.declarations import LazyFunction, Sequence
from factory.django import DjangoModelFactory

from approvals.models import Approval
from common.clock import now
from common.ids import new_id


class ApprovalFactory(DjangoModelFactory[Approval]):
    """A call that waits for a person, of a run that does not exist, without the message that shows it."""

    class Meta:
        model = Approval

    run_id = LazyFunction(new_id)
    call_id = Sequence(lambda n: f"call_{n:032x}")
    tool = "write_file"
    arguments = '{"name": "notes.md", "text": "Hello"}'
    reason = "others"
    asked_at = LazyFunction(now)
    expires_at = LazyFunction(lambda: now() + timedelta(days=1))

"""Factories of versions and drafts of agents."""

from factory.declarations import LazyAttribute, SelfAttribute
from factory.django import DjangoModelFactory

from agents.models import AgentSpec, Draft, DraftSnapshot, LockWaiter
from events.rows import SnapshotReason, SpecOrigin


class AgentSpecFactory(DjangoModelFactory[AgentSpec]):
    """A saved version."""

    class Meta:
        model = AgentSpec

    origin = SpecOrigin.DRAFT


class DraftFactory(DjangoModelFactory[Draft]):
    """An unlocked draft on version 1. `prompt` is the only field of its text."""

    class Meta:
        model = Draft

    class Params:
        prompt = "New"

    written = LazyAttribute(lambda draft: {"prompt": draft.prompt})
    base_version = 1
    updated_by = SelfAttribute("created_by")


class DraftSnapshotFactory(DjangoModelFactory[DraftSnapshot]):
    """A snapshot of a draft."""

    class Meta:
        model = DraftSnapshot

    revision = SelfAttribute("draft.revision")
    written = LazyAttribute(lambda snapshot: {})
    reason = SnapshotReason.MERGE


class LockWaiterFactory(DjangoModelFactory[LockWaiter]):
    """A person who waits for the lock of a draft."""

    class Meta:
        model = LockWaiter

    wants_notice = True

"""Factories of versions and drafts of agents."""

from typing import Any

from factory.declarations import LazyAttribute, SelfAttribute
from factory.django import DjangoModelFactory

from agents.models import AgentSpec, Draft, DraftSnapshot, LockWaiter
from agents.selectors import get_content
from agents.specs.content import SpecContent, ToolUse
from events.rows import SnapshotReason, SpecOrigin


class AgentSpecFactory(DjangoModelFactory[AgentSpec]):
    """A saved version."""

    class Meta:
        model = AgentSpec

    class Params:
        prompt = ""

    content = LazyAttribute(lambda spec: SpecContent(prompt=spec.prompt).as_json())
    origin = SpecOrigin.DRAFT


def change_spec(spec: AgentSpec | None, **fields: Any) -> None:
    """Change fields of the content of a stored spec. The product never does that, so it caches the content."""
    assert spec is not None
    spec.refresh_from_db(fields=["content"])
    spec.content = SpecContent.model_validate(spec.content | fields).as_json()
    spec.save(update_fields=["content"])
    get_content.cache_clear()


def add_tool_use(spec: AgentSpec | None, tool: str, **fields: Any) -> None:
    """Add a tool to a stored spec. `fields` are those of `ToolUse`."""
    assert spec is not None
    spec.refresh_from_db(fields=["content"])
    change_spec(spec, tools=[*spec.parse_content().tools, ToolUse(tool=tool, **fields)])


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

"""Factories of the memory of agents."""

from typing import Any

from django.utils import timezone
from factory.declarations import LazyFunction, SelfAttribute
from factory.django import DjangoModelFactory

from common.ids import new_id
from memory.models import HistoryEntry, MemoryClearing, MemoryUse, Note, NoteRevision


class NoteFactory(DjangoModelFactory[Note]):
    """A note of an agent, learnt in `chat`."""

    class Meta:
        model = Note

    workspace: Any = SelfAttribute("chat.workspace")
    text = "Group fares need ten travellers."
    author: Any = SelfAttribute("agent")
    run_id = LazyFunction(new_id)


class NoteRevisionFactory(DjangoModelFactory[NoteRevision]):
    """What a note was before."""

    class Meta:
        model = NoteRevision

    revision = 1
    text = "Group fares need nine travellers."
    scope = "chat"


class MemoryClearingFactory(DjangoModelFactory[MemoryClearing]):
    """A clearing of an agent's history."""

    class Meta:
        model = MemoryClearing

    generation = 2
    cleared_at = LazyFunction(timezone.now)


class HistoryEntryFactory(DjangoModelFactory[HistoryEntry]):
    """What a run of an agent did in `chat`."""

    class Meta:
        model = HistoryEntry

    workspace: Any = SelfAttribute("chat.workspace")
    run_id = LazyFunction(new_id)
    first_seq = 1
    last_seq = 10
    outcome = "completed"
    tokens = 20
    generation = 1


class MemoryUseFactory(DjangoModelFactory[MemoryUse]):
    """What a run in `chat` has used of its agent's memory."""

    class Meta:
        model = MemoryUse

    workspace: Any = SelfAttribute("chat.workspace")
    run_id = LazyFunction(new_id)
    generation = 1

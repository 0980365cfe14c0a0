"""Factories of the memory of agents."""

from typing import Any

import factory
from django.utils import timezone

from common.ids import new_id
from memory.models import HistoryEntry, MemoryClearing, MemoryUse, Note, NoteRevision


class NoteFactory(factory.django.DjangoModelFactory[Note]):
    """A note of an agent, learnt in `chat`."""

    class Meta:
        model = Note

    workspace: Any = factory.SelfAttribute("chat.workspace")
    text = "Group fares need ten travellers."
    author: Any = factory.SelfAttribute("agent")
    run_id = factory.LazyFunction(new_id)


class NoteRevisionFactory(factory.django.DjangoModelFactory[NoteRevision]):
    """What a note was before."""

    class Meta:
        model = NoteRevision

    revision = 1
    text = "Group fares need nine travellers."
    scope = "chat"


class MemoryClearingFactory(factory.django.DjangoModelFactory[MemoryClearing]):
    """A clearing of an agent's history."""

    class Meta:
        model = MemoryClearing

    generation = 2
    cleared_at = factory.LazyFunction(timezone.now)


class HistoryEntryFactory(factory.django.DjangoModelFactory[HistoryEntry]):
    """What a run of an agent did in `chat`."""

    class Meta:
        model = HistoryEntry

    workspace: Any = factory.SelfAttribute("chat.workspace")
    run_id = factory.LazyFunction(new_id)
    first_seq = 1
    last_seq = 10
    outcome = "completed"
    tokens = 20
    generation = 1


class MemoryUseFactory(factory.django.DjangoModelFactory[MemoryUse]):
    """What a run in `chat` has used of its agent's memory."""

    class Meta:
        model = MemoryUse

    workspace: Any = factory.SelfAttribute("chat.workspace")
    run_id = factory.LazyFunction(new_id)
    generation = 1

"""Parts of prepared queries of other apps (ADR 0011)."""

from django.db.models import Exists, OuterRef

from memory.models import Note


def build_has_notes(agent_field: str) -> Exists:
    """Return the expression for whether the agent of a row has a note."""
    return Exists(Note.objects.filter(agent=OuterRef(agent_field), forgotten_at=None))

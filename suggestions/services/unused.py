"""Which suggestions that were merged into a draft are not used in it."""

from uuid import UUID

from actors.models import Actor
from agents.models import Draft
from agents.selectors import get_draft
from agents.specs.content import SpecContent
from events.rows import DraftSuggestionsRow, Provenance, SuggestionState
from suggestions.models import Suggestion
from suggestions.rows import build_unused_row
from suggestions.services.outcomes import is_used


def list_unused_suggestions(draft: Draft, content: SpecContent) -> list[Suggestion]:
    """Return the accepted suggestions of a draft of which this content has nothing, the oldest first."""
    provenance = Provenance.model_validate(draft.provenance) if draft.provenance else None
    merged = Suggestion.objects.select_related("author", "base").filter(
        merge__draft=draft, state=SuggestionState.ACCEPTED, saved_as=None
    )
    return [one for one in merged.order_by("created_at", "pk") if not is_used(one, content, provenance)]


def read_draft_suggestions(actor: Actor, chat_id: UUID, agent_id: UUID) -> DraftSuggestionsRow:
    """Return the suggestions that are merged into the current draft. Raises `NotFound`."""
    draft = get_draft(actor, chat_id, agent_id)
    unused = list_unused_suggestions(draft, draft.parse_content())
    merged = Suggestion.objects.filter(merge__draft=draft, state=SuggestionState.ACCEPTED, saved_as=None)
    return DraftSuggestionsRow(merged=merged.count(), unused=[build_unused_row(one) for one in unused])

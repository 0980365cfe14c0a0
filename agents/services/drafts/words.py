"""Whose the words of a draft are, before something is made of them."""

from agents.content import SpecContent
from agents.merging import told_by
from agents.models import Draft
from events.rows import Piece, Provenance, Voice


def whose_words(draft: Draft, base: SpecContent) -> tuple[list[Voice], list[Piece]]:
    """The voices in a draft made on `base`, whoever wrote last the last of them; and its prompt as their pieces.

    What was merged into it stays its authors'; what was typed since is the last writer's.
    """
    made = Provenance.model_validate(draft.provenance) if draft.provenance else None
    writer = Voice(id=draft.updated_by_id, actor_id=draft.updated_by_id, name=draft.updated_by.name)
    earlier = [voice for voice in made.voices if voice.id != writer.id] if made else []
    pieces = made.pieces if made else [Piece(text=base.prompt)]
    return [*earlier, writer], told_by(pieces, [(writer.id, draft.written["prompt"])])

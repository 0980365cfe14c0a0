"""Vote on a comparison of production and a draft. The draft stores the vote counts, one `VoteCount` per apply."""

from collections.abc import Sequence
from typing import cast
from uuid import UUID

from django.db import transaction

from actors.models import Actor
from agents.models import Draft
from chats import services as chats
from chats.models import Message
from chats.permissions import ChatVerb, get_chat_for
from common.errors import Code, Conflict, Forbidden, NotFound
from common.writing import RowUpdate
from events.payloads import ComparisonPayload, Vote, VoteChoice, dump_payload
from events.rows import VoteCount


@transaction.atomic
def cast_vote(actor: Actor, chat_id: UUID, comparison_id: UUID, *, choice: VoteChoice | None) -> Message:
    """Vote for the better side of a comparison. Each person has one vote, which they may change; null withdraws it.

    Raises `NotFound`, `Forbidden` for agents, and `Conflict` (`comparison_ended`) if the draft has ended.
    """
    chat = get_chat_for(actor, chat_id, ChatVerb.POST, lock=True)
    if actor.is_agent:
        raise Forbidden("Only people vote.")
    message = Message.objects.filter(pk=comparison_id, chat=chat, type="COMPARISON").first()
    if message is None:
        raise NotFound("There is no such comparison in this chat.")
    comparison = ComparisonPayload.model_validate(message.payload)
    if comparison.ended:
        raise Conflict("The draft has ended, and the voting with it.", code=Code.COMPARISON_ENDED)
    before = next((vote.choice for vote in comparison.votes if vote.actor_id == actor.id), None)
    if before == choice:
        return message
    votes = [vote for vote in comparison.votes if vote.actor_id != actor.id]
    if choice is not None:
        votes.append(Vote(actor_id=actor.id, choice=choice))
    # Writing a draft does not lock the chat, so the draft's row is locked, too. Otherwise the frame could have old content.
    drafts = Draft.objects.select_for_update(of=("self",), no_key=True).select_related("applied")
    draft = drafts.get(pk=comparison.draft_id)
    counts = [VoteCount.model_validate(count) for count in draft.votes]
    # The side of the draft always has its apply.
    counts = count_vote(counts, cast(int, comparison.draft.draft_apply), before, choice)
    payload = dump_payload("COMPARISON", comparison.model_copy(update={"votes": votes}))
    chats.save_changes(
        chat.id,
        [RowUpdate(message).set(payload=payload), RowUpdate(draft).set(votes=[count.model_dump() for count in counts])],
    )
    return message


def count_vote(
    counts: Sequence[VoteCount], draft_apply: int, before: VoteChoice | None, after: VoteChoice | None
) -> list[VoteCount]:
    """Return the vote counts of a draft, ordered by apply, after a person changed their vote from `before` to `after`."""
    by_apply = {count.draft_apply: count.model_dump() for count in counts}
    changed = by_apply.setdefault(draft_apply, VoteCount(draft_apply=draft_apply).model_dump())
    for choice, step in ((before, -1), (after, 1)):
        if choice is not None:
            changed[choice] += step
    return [VoteCount(**by_apply[number]) for number in sorted(by_apply)]

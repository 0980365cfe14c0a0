"""How often a person adds the same other person to chats."""

import pytest

from chats import services as chats
from chats.models import Chat, ChatActor
from common.errors import LimitReached

pytestmark = pytest.mark.django_db


def test_SEC21_one_member_cannot_put_another_into_any_number_of_chats(team, settings):
    settings.RATES = settings.RATES | {"added_people": (0.001, 3)}

    def create(by, *people):
        return chats.create_chat(by, team.workspace.id, title="", actor_ids=[person.id for person in people])

    for _ in range(3):
        create(team.bob, team.alice)
    own = create(team.bob, team.robin)
    before = Chat.objects.count(), ChatActor.objects.count()
    with pytest.raises(LimitReached) as refusal:
        create(team.bob, team.alice)
    assert refusal.value.data["limit"] == "added_people"
    with pytest.raises(LimitReached):
        chats.add_participant(team.bob, own.id, team.alice.id)
    assert (Chat.objects.count(), ChatActor.objects.count()) == before
    create(team.alice, team.bob)  # another pair
    create(team.bob)

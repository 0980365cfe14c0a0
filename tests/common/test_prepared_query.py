"""A prepared query returns the same rows as the query set that it was built from."""

from datetime import datetime
from uuid import UUID

import pytest
from django.contrib.postgres.fields import ArrayField
from django.db import connection
from django.db.models import TextField, Value
from django.test.utils import CaptureQueriesContext

from actors.models import Actor
from chats import permissions
from chats import services as chats
from chats.models import Chat, ChatActor, Message
from chats.permissions import ChatVerb, chats_with_rights, get_chat_for
from common.clock import now
from common.errors import NotFound
from common.prepared_query import PreparedQuery, is_any_of

pytestmark = pytest.mark.django_db


def get_fields(row):
    return {name: value for name, value in vars(row).items() if not name.startswith("_")}


@pytest.mark.parametrize("lock", [False, True])
@pytest.mark.parametrize("who", [["alice"], ["bob"], ["robin"], ["robin", "alice"], ["robin", "bob"]])
def test_a_prepared_fetch_returns_the_same_row_as_a_query_set(team, who, lock):
    principals = [team[name] for name in who]
    slow = chats_with_rights(principals).select_related("workspace").get(pk=team.chat.pk)
    behalf = principals[1] if len(principals) > 1 else None
    for _ in range(2):
        quick = get_chat_for(principals[0], team.chat.pk, ChatVerb.POST, on_behalf_of=behalf, lock=lock)
        assert (quick, quick.workspace, get_fields(quick)) == (slow, slow.workspace, get_fields(slow))
        assert get_fields(quick.workspace) == get_fields(slow.workspace)


def test_a_query_compiled_for_one_actor_checks_the_rights_of_another(team):
    get_chat_for(team.alice, team.chat.pk, ChatVerb.SEE)
    with pytest.raises(NotFound):
        get_chat_for(team.charlie, team.chat.pk, ChatVerb.SEE)
    with pytest.raises(NotFound):
        get_chat_for(team.robin, team.chat.pk, ChatVerb.SEE, on_behalf_of=team.charlie)


def test_a_fetch_is_one_query_and_locks_only_on_request(team):
    permissions._fetch._get_prepared_query.cache_clear()
    for lock in (False, True):
        with CaptureQueriesContext(connection) as queries:
            get_chat_for(team.alice, team.chat.pk, ChatVerb.SEE, lock=lock)
        assert len(queries) == 1
        assert ("FOR NO KEY UPDATE" in queries[0]["sql"]) is lock


def test_a_query_without_a_parameter_for_a_value_is_refused(team):
    with pytest.raises(ValueError, match="no parameter"):
        PreparedQuery(lambda chat_id, other: Chat.objects.filter(pk=chat_id), UUID, UUID).first(
            team.chat.pk, team.chat.pk
        )


def test_a_query_with_a_value_inside_another_parameter_is_refused(team):
    packed = PreparedQuery(
        lambda actor_id: Message.objects.filter(author_id=actor_id, payload__mentions__contains=[str(actor_id)]), UUID
    )
    with pytest.raises(ValueError, match="no parameter"):
        packed.all(team.alice.pk)


def test_values_of_all_kinds_can_select_objects_and_plain_rows(team):
    participants = PreparedQuery(
        lambda chat_id, kind, since: ChatActor.objects.filter(
            chat_id=chat_id, actor__kind=kind, joined_at__lt=since
        ).select_related("actor"),
        UUID,
        str,
        datetime,
    )
    people = participants.all(team.chat.pk, "human", now())
    assert {person.actor.name for person in people} == {team.alice.name, team.bob.name}
    assert participants.all(team.chat.pk, "human", team.chat.created_at) == []
    message = chats.post_message(team.alice, team.chat.id, text="好")[0]
    rows = PreparedQuery(
        lambda chat_id, seq: Message.objects.filter(chat_id=chat_id, seq=seq).values_list("id", "payload"), UUID, int
    ).rows(team.chat.pk, message.seq)
    assert [tuple(row) for row in rows] == [(message.id, message.payload)]


def test_constants_are_written_into_the_statement_whatever_they_contain(team):
    hostile = '100 %s of it\'s \\ 好 %% "all" $1'
    message = chats.post_message(team.alice, team.chat.id, text=hostile)[0]
    at, tags = message.created_at, [hostile, "b"]
    query = PreparedQuery(
        lambda chat_id: Message.objects.filter(
            chat_id=chat_id,
            payload__text=hostile,
            payload__contains={"text": hostile},
            created_at=at,
            author=team.alice,
        ).annotate(
            text_before=Value(hostile), number=Value(7), is_new=Value(True), tags=Value(tags, ArrayField(TextField()))
        ),
        UUID,
    )
    [found] = query.all(team.chat.pk)
    assert (found, found.text_before, found.number, found.is_new, found.tags) == (message, hostile, 7, True, tags)
    assert len(query._plan.positions) == 1


def test_prefetched_objects_are_loaded(team):
    agents = PreparedQuery(lambda id: Actor.objects.filter(pk=id, kind="agent").prefetch_related("specs"), UUID)
    for found in (agents.all(team.robin.pk)[0], agents.first(team.robin.pk)):
        assert found is not None
        with CaptureQueriesContext(connection) as queries:
            assert [spec.number for spec in found.specs.all()] == [1]
        assert len(queries) == 0
    assert (agents.all(team.alice.pk), agents.first(team.alice.pk)) == ([], None)


def test_a_list_of_any_length_is_one_parameter(team):
    participants = PreparedQuery(
        lambda ids: ChatActor.objects.filter(is_any_of("actor_id", ids)).order_by("pk"), list[UUID]
    )
    wanted = [team.alice.pk, team.bob.pk, team.charlie.pk]
    for ids in (wanted, wanted[:1], []):
        with CaptureQueriesContext(connection) as queries:
            found = participants.all(ids)
        assert found == list(ChatActor.objects.filter(actor_id__in=ids).order_by("pk"))
        assert len(queries) == 1
    names = PreparedQuery(lambda texts: Chat.objects.filter(is_any_of("title", texts, of=TextField)), list[str])
    assert names.all([team.chat.title, "no title"]) == [team.chat]
    assert names.all([]) == []

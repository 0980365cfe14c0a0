"""Who may follow what, and who is still signed in: asked for all sockets at once (SEC5), and cheap enough for a thousand
that come back together. A test holds it to the answers of `get_chat_for` and its like, which REST and tools ask (EDIT6)."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from uuid import UUID

from django.contrib.sessions.models import Session
from django.db.models import Exists, OuterRef, Q, QuerySet, TextField

from actors.models import Actor, ApiToken
from chats.models import ChatActor
from common.clock import now
from common.prepared_query import PreparedQuery, is_any_of
from realtime.topics import Kind, Topic
from workspaces.models import Membership


@dataclass(frozen=True, slots=True)
class Ticket:
    """By what somebody is signed in: the session, and the stamp of the password it was opened under; or an API token, which
    may be read-only."""

    session_key: str
    actor_id: UUID
    stamp: str
    token_id: UUID | None = None
    is_read_only: bool = False


def still_allowed(pairs: Collection[tuple[UUID, Topic]]) -> set[tuple[UUID, Topic]]:
    """Those of the (person, topic) pairs that hold now. Three queries, however many pairs."""
    asked: dict[Kind, dict[UUID, set[UUID]]] = {"chat": defaultdict(set), "workspace": defaultdict(set), "actor": {}}
    for actor_id, topic in pairs:
        asked[topic.kind].setdefault(topic.id, set()).add(actor_id)
    found = _in_chats(asked["chat"]) | _in_workspaces(asked["workspace"]) | _themselves(asked["actor"])
    return found & set(pairs)


def _list_participants(chats: list[UUID], actors: list[UUID]) -> QuerySet[ChatActor, tuple[UUID, UUID]]:
    members = Membership.objects.filter(workspace=OuterRef("chat__workspace"), actor=OuterRef("actor"))
    participants = ChatActor.objects.filter(is_any_of("chat_id", chats), is_any_of("actor_id", actors), Exists(members))
    return participants.filter(actor__is_active=True, ended_at=None).values_list("actor_id", "chat_id")


def _members(workspaces: list[UUID], actors: list[UUID]) -> QuerySet[Membership, tuple[UUID, UUID]]:
    found = Membership.objects.filter(is_any_of("workspace_id", workspaces), is_any_of("actor_id", actors))
    return found.filter(actor__is_active=True).values_list("actor_id", "workspace_id")


def _people(ids: list[UUID]) -> QuerySet[Actor, tuple[UUID, str, int]]:
    return Actor.people.filter(is_any_of("pk", ids), is_active=True).values_list("pk", "password", "session_epoch")


def _sessions(keys: list[str], at: datetime) -> QuerySet[Session, tuple[str]]:
    found = Session.objects.filter(is_any_of("session_key", keys, of=TextField), expire_date__gt=at)
    return found.values_list("session_key")


_PARTICIPANTS = PreparedQuery(_list_participants, list[UUID], list[UUID])
_MEMBERS = PreparedQuery(_members, list[UUID], list[UUID])
_PEOPLE = PreparedQuery(_people, list[UUID])
_SESSIONS = PreparedQuery(_sessions, list[str], datetime)


def _in_chats(asked: Mapping[UUID, set[UUID]]) -> set[tuple[UUID, Topic]]:
    participants = _PARTICIPANTS.rows(list(asked), _all(asked)) if asked else []
    return {(actor_id, Topic("chat", chat_id)) for actor_id, chat_id in participants}


def _in_workspaces(asked: Mapping[UUID, set[UUID]]) -> set[tuple[UUID, Topic]]:
    members = _MEMBERS.rows(list(asked), _all(asked)) if asked else []
    return {(actor_id, Topic("workspace", id_)) for actor_id, id_ in members}


def _themselves(asked: Mapping[UUID, set[UUID]]) -> set[tuple[UUID, Topic]]:
    people = _PEOPLE.rows(list(asked)) if asked else []
    return {(pk, Topic("actor", pk)) for pk, _, _ in people}


def _all(asked: Mapping[UUID, set[UUID]]) -> list[UUID]:
    return list(set().union(*asked.values()))


def still_signed_in(tickets: Collection[Ticket]) -> set[Ticket]:
    """Those whose session or API token is alive, whose holder may still sign in, and whose password has not changed.
    Two queries, and one when there are tokens."""
    by_token = {ticket for ticket in tickets if ticket.token_id}
    return _alive_sessions(set(tickets) - by_token) | (_alive_tokens(by_token) if by_token else set())


def _alive_sessions(tickets: Collection[Ticket]) -> set[Ticket]:
    if not tickets:
        return set()
    sessions = {key for (key,) in _SESSIONS.rows([ticket.session_key for ticket in tickets], now())}
    people = _PEOPLE.rows(list({ticket.actor_id for ticket in tickets}))
    stamps = {pk: _stamp(password, epoch) for pk, password, epoch in people}
    return {
        ticket for ticket in tickets if ticket.session_key in sessions and stamps.get(ticket.actor_id) == ticket.stamp
    }


@lru_cache(maxsize=10_000)
def _stamp(password: str, session_epoch: int) -> str:
    """Return what `Actor.get_session_auth_hash` makes of these, which is all that it depends on."""
    return Actor(password=password, session_epoch=session_epoch).get_session_auth_hash()


def _alive_tokens(tickets: Collection[Ticket]) -> set[Ticket]:
    alive = set(
        ApiToken.live.filter(
            Q(expires_at=None) | Q(expires_at__gt=now()), pk__in={ticket.token_id for ticket in tickets}
        )
        .filter(person__is_active=True)
        .values_list("pk", flat=True)
    )
    return {ticket for ticket in tickets if ticket.token_id in alive}

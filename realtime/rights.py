"""Who may follow what, and who is still signed in: asked for all sockets at once (D5), and cheap enough for a thousand
that come back together. A test holds it to the answers of `get_chat_for` and its like, which REST and tools ask (C6)."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from uuid import UUID

from django.contrib.sessions.models import Session
from django.db.models import Exists, OuterRef, Q

from actors.models import Actor, ApiToken
from chats.models import ChatActor
from common.clock import now
from realtime.topics import Kind, Topic
from workspaces.models import Membership


@dataclass(frozen=True, slots=True)
class Ticket:
    """By what somebody is signed in: the session, and the stamp of the password it was opened under; or an API token."""

    session_key: str
    actor_id: UUID
    stamp: str
    token_id: UUID | None = None


def still_allowed(pairs: Collection[tuple[UUID, Topic]]) -> set[tuple[UUID, Topic]]:
    """Those of the (person, topic) pairs that hold now. Three queries, however many pairs."""
    asked: dict[Kind, dict[UUID, set[UUID]]] = {"chat": defaultdict(set), "workspace": defaultdict(set), "actor": {}}
    for actor_id, topic in pairs:
        asked[topic.kind].setdefault(topic.id, set()).add(actor_id)
    found = _in_chats(asked["chat"]) | _in_workspaces(asked["workspace"]) | _themselves(asked["actor"])
    return found & set(pairs)


def _in_chats(asked: Mapping[UUID, set[UUID]]) -> set[tuple[UUID, Topic]]:
    members = Membership.objects.filter(workspace=OuterRef("chat__workspace"), actor=OuterRef("actor"))
    places = ChatActor.objects.filter(
        Exists(members), chat__in=asked, actor__in=_all(asked), actor__is_active=True, ended_at=None
    ).values_list("actor_id", "chat_id")
    return {(actor_id, Topic("chat", chat_id)) for actor_id, chat_id in places}


def _in_workspaces(asked: Mapping[UUID, set[UUID]]) -> set[tuple[UUID, Topic]]:
    members = Membership.objects.filter(workspace__in=asked, actor__in=_all(asked), actor__is_active=True)
    return {(actor_id, Topic("workspace", id_)) for actor_id, id_ in members.values_list("actor_id", "workspace_id")}


def _themselves(asked: Mapping[UUID, set[UUID]]) -> set[tuple[UUID, Topic]]:
    people = Actor.people.filter(pk__in=asked, is_active=True).values_list("pk", flat=True)
    return {(actor_id, Topic("actor", actor_id)) for actor_id in people}


def _all(asked: Mapping[UUID, set[UUID]]) -> set[UUID]:
    return set().union(*asked.values())


def still_signed_in(tickets: Collection[Ticket]) -> set[Ticket]:
    """Those whose session or API token is alive, whose holder may still sign in, and whose password has not changed.
    Two queries, and one when there are tokens."""
    by_token = {ticket for ticket in tickets if ticket.token_id}
    return _alive_sessions(set(tickets) - by_token) | (_alive_tokens(by_token) if by_token else set())


def _alive_sessions(tickets: Collection[Ticket]) -> set[Ticket]:
    keys = {ticket.session_key for ticket in tickets}
    sessions = set(
        Session.objects.filter(session_key__in=keys, expire_date__gt=now()).values_list("session_key", flat=True)
    )
    people = Actor.people.filter(pk__in={ticket.actor_id for ticket in tickets}, is_active=True)
    stamps = {person.pk: person.get_session_auth_hash() for person in people.only("password", "session_epoch")}
    return {
        ticket for ticket in tickets if ticket.session_key in sessions and stamps.get(ticket.actor_id) == ticket.stamp
    }


def _alive_tokens(tickets: Collection[Ticket]) -> set[Ticket]:
    alive = set(
        ApiToken.live.filter(
            Q(expires_at=None) | Q(expires_at__gt=now()), pk__in={ticket.token_id for ticket in tickets}
        )
        .filter(person__is_active=True)
        .values_list("pk", flat=True)
    )
    return {ticket for ticket in tickets if ticket.token_id in alive}

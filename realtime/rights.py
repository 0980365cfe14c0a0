"""Checking the sign-ins of sockets and their rights to topics, for all sockets in a constant number of queries (SEC5).

A test compares the results with those of `get_chat_for` and similar functions, which REST and tools use (EDIT6).
"""

from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from uuid import UUID

from django.contrib.sessions.models import Session
from django.db.models import Q, TextField

from actors.auth import list_viewings
from actors.models import CAN_USE_TOKENS, Actor, AgentStatus, ApiToken, Kind
from chats.models import Chat
from common.clock import now
from common.prepared_query import is_any_of
from events.rows import Role
from realtime.prepared_queries import PARTICIPANTS
from realtime.topics import Topic
from workspaces.models import Membership


@dataclass(frozen=True, slots=True)
class SocketSignIn:
    """The sign-in of a socket: a session with its hash (`Actor.get_session_auth_hash`), or an API token, which may be read-only.

    `viewing_id`: the session is that of an operator (`operator_id`) who views as the actor (SEC45).
    """

    session_key: str
    actor_id: UUID
    session_hash: str
    token_id: UUID | None = None
    is_read_only: bool = False
    viewing_id: UUID | None = None
    operator_id: UUID | None = None

    @property
    def owner_id(self) -> UUID:
        """The id of the person or agent that uses the socket, whose limits apply."""
        return self.operator_id or self.actor_id


def filter_allowed(pairs: Collection[tuple[UUID, Topic]]) -> set[tuple[UUID, Topic]]:
    """Return those pairs of an actor and a topic that are allowed.

    At most three queries, and one more if somebody is not in one of the chats.
    """
    people = list({actor_id for actor_id, _ in pairs})
    chats, workspaces, actors = (
        list({topic.id for _, topic in pairs if topic.kind == kind}) for kind in ("chat", "workspace", "actor")
    )

    allowed: set[tuple[UUID, Topic]] = set()
    if chats:
        participants = PARTICIPANTS.rows(chats, people)
        allowed |= {(actor_id, Topic("chat", chat_id)) for actor_id, chat_id in participants}
        if others := {pair for pair in pairs if pair[1].kind == "chat"} - allowed:
            # Editors of a workspace may read its chats between agents.
            editors = Membership.objects.filter(
                role=Role.EDITOR,
                actor__in={actor_id for actor_id, _ in others},
                actor__is_active=True,
                workspace__chats__in=Chat.objects.filter(
                    pk__in={topic.id for _, topic in others}, is_between_agents=True
                ),
            )
            found = editors.values_list("actor_id", "workspace__chats")
            allowed |= {(actor_id, Topic("chat", chat_id)) for actor_id, chat_id in found}
    if workspaces:
        members = Membership.objects.filter(
            is_any_of("workspace_id", workspaces), is_any_of("actor_id", people), actor__is_active=True
        )
        allowed |= {(pk, Topic("workspace", id)) for pk, id in members.values_list("actor_id", "workspace_id")}
    if actors:
        ready_agents = Q(kind=Kind.AGENT, status=AgentStatus.READY, is_public=False)
        active = Actor.objects.filter(Q(is_active=True) | ready_agents, is_any_of("pk", actors))
        allowed |= {(pk, Topic("actor", pk)) for pk in active.values_list("pk", flat=True)}
    return allowed & set(pairs)


def filter_signed_in(sign_ins: Collection[SocketSignIn]) -> set[SocketSignIn]:
    """Return the valid sign-ins: the session or API token is valid, and the person may sign in and has the same password.

    Two queries, and more if there are API tokens or operators who view as other people.
    """
    by_token = {sign_in for sign_in in sign_ins if sign_in.token_id}
    return _filter_by_session(set(sign_ins) - by_token) | (_filter_by_token(by_token) if by_token else set())


def _filter_by_session(sign_ins: Collection[SocketSignIn]) -> set[SocketSignIn]:
    if not sign_ins:
        return set()
    sessions = set(
        Session.objects.filter(
            is_any_of("session_key", [sign_in.session_key for sign_in in sign_ins], of=TextField), expire_date__gt=now()
        ).values_list("session_key", flat=True)
    )
    active = Actor.people.filter(is_any_of("pk", list({sign_in.owner_id for sign_in in sign_ins})), is_active=True)
    people = active.values_list("pk", "password", "session_epoch")
    hashes = {pk: _compute_session_hash(password, epoch) for pk, password, epoch in people}
    viewing_ids = {sign_in.viewing_id for sign_in in sign_ins if sign_in.viewing_id}
    active_ids: set[UUID | None] = {viewing.id for viewing in list_viewings(viewing_ids)} if viewing_ids else set()
    return {
        sign_in
        for sign_in in sign_ins
        if sign_in.session_key in sessions
        and hashes.get(sign_in.owner_id) == sign_in.session_hash
        and (sign_in.viewing_id is None or sign_in.viewing_id in active_ids)
    }


@lru_cache(maxsize=10_000)
def _compute_session_hash(password: str, session_epoch: int) -> str:
    """Return `Actor.get_session_auth_hash` of an actor with these values; it depends on nothing else."""
    return Actor(password=password, session_epoch=session_epoch).get_session_auth_hash()


def _filter_by_token(sign_ins: Collection[SocketSignIn]) -> set[SocketSignIn]:
    valid_ids = set(
        ApiToken.unrevoked.filter(
            Q(expires_at=None) | Q(expires_at__gt=now()), pk__in={sign_in.token_id for sign_in in sign_ins}
        )
        .filter(CAN_USE_TOKENS)
        .values_list("pk", flat=True)
    )
    return {sign_in for sign_in in sign_ins if sign_in.token_id in valid_ids}

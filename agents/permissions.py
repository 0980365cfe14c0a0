"""Who may do what with an agent (architecture §4): its workspace's members by role, everybody with a public one."""

from enum import StrEnum
from typing import Any
from uuid import UUID

from django.db.models import Case, CharField, Exists, F, OuterRef, QuerySet, Value, When
from django.db.models.expressions import Combinable

from actors.models import Actor, AgentStatus, Kind
from agents.errors import CannotGoOn
from agents.models import AgentGrant, Run
from agents.models.specs import with_tools
from chats.models import Chat
from chats.permissions import ChatVerb, get_chat_for
from common.access import Fetch, seen_through, verbs_on, with_rights
from common.compiled import Compiled
from common.errors import Forbidden, NotFound
from workspaces.models import Membership, Role
from workspaces.permissions import AGENT, role_in

ANYONE = "anyone"


class AgentVerb(StrEnum):
    SEE = "see"
    CHAT = "chat"
    EDIT_DRAFT = "edit_draft"
    SUGGEST = "suggest"
    DISCARD_ANY = "discard_any"
    REVIEW = "review_agent"
    SAVE = "save_agent"
    RENAME = "rename_agent"
    DELETE = "delete_agent"


READERS = frozenset({AgentVerb.SEE, AgentVerb.CHAT})
ROLE_VERBS = {
    Role.EDITOR.value: frozenset(AgentVerb),
    Role.SUGGESTER.value: READERS | {AgentVerb.EDIT_DRAFT, AgentVerb.SUGGEST},
    AGENT: READERS,
    ANYONE: READERS,
}


def _role(actor: Actor) -> Combinable:
    """The role in the agent's workspace; of a public agent everybody is a reader and nobody more (ADR-003)."""
    living = When(is_public=True, taken_down_at=None, then=Value(ANYONE, CharField()))
    return Case(living, When(workspace__isnull=False, then=role_in(actor, "workspace_id")), default=None)


def _with_rights(principals: list[Actor]) -> QuerySet[Actor]:
    agents = Actor.objects.filter(kind=Kind.AGENT).exclude(status=AgentStatus.DELETED)
    rows: QuerySet[Actor] = with_rights(agents, principals, role=_role, grants=AgentGrant)
    return rows.select_related("current_spec")


def agents_visible_to(actor: Actor) -> QuerySet[Actor]:
    """The agents that `actor` may see, each with `role_0` and `granted_0`, its production spec and the spec's tools."""
    rows: Any = _with_rights([actor])
    visible: QuerySet[Actor] = rows.filter(role_0__isnull=False)
    return visible.prefetch_related(with_tools("current_spec__")).order_by(F("name"), "pk")


def agent_verbs(agent: Actor) -> frozenset[AgentVerb]:
    """What the reader may do with an agent that came from here."""
    return verbs_on(agent, 1, ROLE_VERBS, AgentVerb)


def people_who_may(agent: Actor, verb: AgentVerb) -> QuerySet[Actor]:
    """The members of the agent's workspace who may do this with it, by their role or by a grant."""
    membership = Membership.objects.filter(workspace=agent.workspace_id, actor=OuterRef("pk"))
    granted = AgentGrant.objects.filter(
        content_object=agent, user=OuterRef("pk"), permission__codename=f"{verb}_{agent._meta.model_name}"
    )
    roles = [role for role, verbs in ROLE_VERBS.items() if verb in verbs]
    people = Actor.objects.filter(Exists(membership), kind=Kind.HUMAN, is_active=True)
    return people.filter(Exists(membership.filter(role__in=roles)) | Exists(granted))


_fetch = Fetch("agent", _with_rights, role_verbs=ROLE_VERBS, verbs=AgentVerb)

_HELD = Compiled(lambda agent_id: Actor.objects.select_for_update(no_key=True).filter(pk=agent_id), UUID)


def get_agent_for(
    actor: Actor, agent_id: UUID, verb: AgentVerb, *, on_behalf_of: Actor | None = None, lock: bool = False
) -> Actor:
    """The agent, when this may be done with it. Raises `NotFound`, `Forbidden`.

    `lock` holds its row against other changes of the agent, not against rows that point at it.
    """
    if lock:
        # Alone, before it is read: a row that was waited for comes without what it was joined with, when that has changed.
        _HELD.first(agent_id)
    return _fetch(actor, agent_id, verb, on_behalf_of=on_behalf_of)


def get_run_for(actor: Actor, run_id: UUID, verb: ChatVerb, *, own: ChatVerb | None = None, lock: bool = False) -> Run:
    """The run, through the chat it works in: whoever may do this there. Raises `NotFound`, `Forbidden`.

    `own` is what is needed instead for a run that works for the actor. `lock` holds its chat.
    """
    with seen_through("run"):
        run = Run.objects.select_related("chat", "agent").filter(pk=run_id, chat__isnull=False).first()
        if run is None or run.chat_id is None:
            raise NotFound("There is no such run.")
        needed = own if own and run.on_behalf_of_id == actor.id else verb
        get_chat_for(actor, run.chat_id, needed, lock=lock)
    return run


def hold_chat_of(run: Run) -> Chat:
    """The chat that a run works in, held until the transaction ends. Rights are asked with it, whenever a run begins and at
    each of its steps, never frozen at the time it was asked for. Raises `CannotGoOn`."""
    try:
        return get_chat_for(run.agent, run.room_id, ChatVerb.POST, on_behalf_of=run.on_behalf_of, lock=True)
    except (NotFound, Forbidden) as error:
        text = "The agent, or the person it worked for, has no place in this chat any more."
        raise CannotGoOn("place_lost", text) from error

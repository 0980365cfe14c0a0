"""Rights on agents: members of the agent's workspace have them by role. Every actor may see a public agent and chat with it, but
nobody can change it. The editors of the workspace that published it may also read its prompt and take it down."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Any
from uuid import UUID

from django.db.models import Case, CharField, Exists, F, OuterRef, Q, QuerySet, Value, When
from django.db.models.expressions import Combinable

from actors.models import Actor, AgentStatus, Kind
from agents.models import AgentGrant, AgentSpec
from common.access import Fetch, annotate_rights, compute_verbs
from common.errors import Code, Forbidden
from events.rows import Role
from workspaces.models import Membership
from workspaces.permissions import AGENT, build_role_expression

ANYONE = "anyone"
"""The role of every actor on a public agent."""
PUBLISHER = "publisher"
"""The role on a public agent of the editors of the workspace that published it."""


class AgentVerb(StrEnum):
    SEE = "see"
    SEE_SPEC = "see_spec"
    CHAT = "chat"
    SEE_MEMORY = "see_memory"
    EDIT_MEMORY = "edit_memory"
    EDIT_DRAFT = "edit_draft"
    SUGGEST = "suggest"
    DISCARD_ANY = "discard_any"
    REVIEW = "review_agent"
    SAVE = "save_agent"
    UPDATE_PROFILE = "update_agent_profile"
    DELETE = "delete_agent"
    PUBLISH = "publish_agent"
    SET_ACCESS = "set_access"
    TAKE_DOWN = "take_down_agent"
    VIEW_AS_AGENT = "view_as_agent"


READER_VERBS = frozenset({AgentVerb.SEE, AgentVerb.CHAT})
ROLE_VERBS = {
    Role.EDITOR.value: frozenset(AgentVerb) - {AgentVerb.TAKE_DOWN},
    Role.SUGGESTER.value: READER_VERBS
    | {AgentVerb.SEE_SPEC, AgentVerb.SEE_MEMORY, AgentVerb.EDIT_DRAFT, AgentVerb.SUGGEST},
    AGENT: READER_VERBS | {AgentVerb.SEE_SPEC},
    ANYONE: READER_VERBS,
    PUBLISHER: READER_VERBS | {AgentVerb.SEE_SPEC, AgentVerb.TAKE_DOWN},
}
VERBS_REFUSED_ON_PUBLIC_AGENTS = ROLE_VERBS[Role.EDITOR.value] - ROLE_VERBS[PUBLISHER]
"""What nobody can do with a public agent."""


def _build_role(actor: Actor) -> Combinable:
    """Return the expression of the actor's role in the agent's workspace, or on a public agent `PUBLISHER` or `ANYONE`."""
    is_public = Q(is_public=True, taken_down_at=None)
    editors = Membership.objects.filter(
        workspace=OuterRef("published_by_workspace_id"), actor=actor, actor__is_active=True, role=Role.EDITOR
    )
    return Case(
        When(is_public & Exists(editors), then=Value(PUBLISHER, CharField())),
        When(is_public, then=Value(ANYONE, CharField())),
        When(workspace__isnull=False, then=build_role_expression(actor, "workspace_id")),
        default=None,
    )


def _list_with_rights(principals: list[Actor]) -> QuerySet[Actor]:
    agents = Actor.objects.filter(kind=Kind.AGENT).exclude(status=AgentStatus.DELETED)
    rows: QuerySet[Actor] = annotate_rights(agents, principals, role=_build_role, grant_class=AgentGrant)
    return rows.select_related("current_spec")


def agents_visible_to(actor: Actor) -> QuerySet[Actor]:
    """Return the agents that the actor may see, annotated for `compute_agent_verbs`, without their production specs."""
    rows: Any = _list_with_rights([actor]).select_related(None)
    visible: QuerySet[Actor] = rows.filter(role_0__isnull=False)
    return visible.order_by(F("name"), "pk")


def compute_agent_verbs(agent: Actor) -> frozenset[AgentVerb]:
    """Return the rights on an agent of the actor for whom it was fetched (`get_agent_for`, `agents_visible_to`)."""
    return compute_verbs(agent, 1, ROLE_VERBS, AgentVerb)


def list_people_who_may(agent: Actor, verb: AgentVerb) -> QuerySet[Actor]:
    """Return the members of the agent's workspace who have this right on the agent, by their role or by a grant."""
    membership = Membership.objects.filter(workspace=agent.workspace_id, actor=OuterRef("pk"))
    granted = AgentGrant.objects.filter(
        content_object=agent, user=OuterRef("pk"), permission__codename=f"{verb}_{agent._meta.model_name}"
    )
    roles = [role for role, verbs in ROLE_VERBS.items() if verb in verbs]
    people = Actor.objects.filter(Exists(membership), kind=Kind.HUMAN, is_active=True)
    return people.filter(Exists(membership.filter(role__in=roles)) | Exists(granted))


def list_members_who_may(agents: QuerySet[Actor], verb: AgentVerb) -> set[tuple[UUID, UUID]]:
    """Return who has this right on one of these agents, by their role or by a grant, as pairs of the agent's workspace and the
    person. Makes two queries."""
    roles = [role for role, verbs in ROLE_VERBS.items() if verb in verbs]
    members = Membership.objects.filter(workspace__in=agents.values("workspace"), role__in=roles)
    granted = AgentGrant.objects.filter(
        content_object__in=agents.values("pk"), permission__codename=f"{verb}_{Actor._meta.model_name}"
    )
    return {
        *members.values_list("workspace_id", "actor_id"),
        *granted.values_list("content_object__workspace_id", "user_id"),
    }


def check_all_may(people: Iterable[Actor], agent: Actor, verb: AgentVerb) -> None:
    """Raise `Forbidden` if one of these people does not have this right on the agent. The error names all who do not."""
    allowed = set(list_people_who_may(agent, verb).values_list("pk", flat=True))
    names = sorted({person.name for person in people if person.pk not in allowed})
    if names:
        raise Forbidden(
            f"{', '.join(names[:3])} may not do this with {agent.name}.", data={"names": names[:20], "verb": verb.value}
        )


_fetch = Fetch("agent", _list_with_rights, role_verbs=ROLE_VERBS, verbs=AgentVerb)


def get_agent_for(
    actor: Actor, agent_id: UUID, verb: AgentVerb, *, on_behalf_of: Actor | None = None, lock: bool = False
) -> Actor:
    """Return the agent if the actor has this right on it. Raises `NotFound`, `Forbidden`.

    `lock` locks the row of the agent against other changes. Rows that refer to it can still be inserted. A change of a public
    agent is refused with `agent_public`.
    """
    try:
        return _fetch(actor, agent_id, verb, on_behalf_of=on_behalf_of, lock=lock)
    except Forbidden as error:
        if verb in VERBS_REFUSED_ON_PUBLIC_AGENTS and Actor.objects.filter(pk=agent_id, is_public=True).exists():
            raise Forbidden(
                "This is a public agent: nobody can change it.",
                code=Code.AGENT_PUBLIC,
                hints=["Its publisher can change the agent that it was published from, and publish that again."],
            ) from error
        raise


def get_production(agent: Actor) -> AgentSpec:
    """Return the version of the agent that answers where no draft is applied. Every agent has one."""
    if agent.current_spec is None:
        raise AgentSpec.DoesNotExist(f"The agent {agent.pk} has no version.")
    return agent.current_spec

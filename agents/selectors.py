"""Reads of agents, their versions and their drafts."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any
from uuid import UUID

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery
from django.db.models.fields.json import KT
from django.db.models.functions import Left

from actors.models import Actor, AgentStatus
from agents.models import AgentSpec, Draft, DraftSnapshot, LockWaiter
from agents.permissions import AgentVerb, agents_visible_to, get_agent_for
from agents.prepared_queries import APPLIED_DRAFT
from agents.rows import build_agent_row, build_listed_agent_row
from agents.specs.content import SpecContent
from agents.specs.differences import diff
from chats.models import Message, Thumb
from chats.permissions import ChatVerb, get_chat_for, list_readable_chats
from chats.selectors import load_titles
from common.clock import now
from common.errors import Code, NotFound
from common.sql_constant import SqlConstant
from events.payloads import SystemPayload
from events.rows import (
    AgentRow,
    AgentState,
    AgentThumbRow,
    DiffRow,
    DraftTrialRow,
    ListedAgentRow,
    LockedDraftRow,
    Stamp,
    ThumbCountsRow,
    ThumbValue,
)
from tools.permissions import get_workspace_tool_for
from tools.registry import AGENT_TOOL_NAME, build_agent_tool_name
from workspaces.permissions import WorkspaceVerb, get_workspace_for, workspaces_visible_to

# --- agents -------------------------------------------------------------------------------------------------------


def list_agents(actor: Actor, workspace_id: UUID) -> QuerySet[Actor]:
    """Return the agents of a workspace, without their production specs. Raises `NotFound`."""
    workspace = get_workspace_for(actor, workspace_id, WorkspaceVerb.SEE)
    return agents_visible_to(actor).filter(workspace=workspace)


def list_agents_with_tool(actor: Actor, tool_id: UUID) -> QuerySet[Actor]:
    """Return the agents that have a workspace tool in their production or in the draft of any chat, also if they have switched it
    off. Raises `NotFound`, `Forbidden`."""
    tool = get_workspace_tool_for(actor, tool_id)
    uses = [{"tool": tool.name}]
    in_draft = Q(written__tools__contains=uses) | Q(applied__content__tools__contains=uses)
    drafts = Draft.objects.filter(in_draft, agent=OuterRef("pk"), ended_at=None)
    has_tool = Q(current_spec__content__tools__contains=uses) | Exists(drafts)
    return agents_visible_to(actor).filter(has_tool, workspace=tool.workspace_id)


def build_listed_agent_rows(agents: Sequence[Actor]) -> Iterator[ListedAgentRow]:
    """Build the rows of agents in a list, for the actor for whom they were fetched. Makes one query."""
    states = _find_states([agent.pk for agent in agents], {agent.workspace_id for agent in agents})
    return (build_listed_agent_row(agent, state=states.get(agent.pk, "idle")) for agent in agents)


def get_agent_row(actor: Actor, agent_id: UUID) -> AgentRow:
    """Return the row of one agent. Raises `NotFound`."""
    agent = get_agent_for(actor, agent_id, AgentVerb.SEE)
    states = _find_states([agent.pk], workspaces_visible_to(actor).values("pk"))
    return build_agent_row(agent, state=states.get(agent.pk, "idle"))


def _find_states(
    agent_ids: list[UUID], workspaces: Collection[UUID | None] | QuerySet[Any, Any]
) -> dict[UUID, AgentState]:
    """Return the states of those of these agents that work or wait for people, in any chat of these workspaces: what a public
    agent does in other workspaces is their secret."""
    states_of_runs = [SqlConstant(state) for state in ("running", "waiting_child", "waiting_board", "waiting_approval")]
    in_state = {"runs__state__in": states_of_runs}
    busy = Actor.objects.filter(pk__in=agent_ids, runs__workspace__in=workspaces, **in_state)
    found = set(busy.values_list("pk", "runs__state"))
    states: dict[UUID, AgentState] = {pk: "waiting" for pk, _ in found}
    # An agent works if any of its runs does, although others wait for people.
    return states | {pk: "working" for pk, state in found if state != "waiting_approval"}


def list_agent_tools_in_use(workspace_id: UUID) -> list[str]:
    """Return the names of the public agents that an agent of the workspace has as a tool or in its team in production, or in the
    current draft of any chat, also if it has switched them off. A listener of `list_names_in_use`."""
    agents = Actor.objects.filter(workspace=workspace_id).exclude(status=AgentStatus.DELETED)
    drafts = Draft.objects.filter(agent__in=agents, ended_at=None)
    specs = AgentSpec.objects.filter(Q(pk__in=agents.values("current_spec")) | Q(pk__in=drafts.values("applied")))
    of_specs = specs.values_list("content__tools", "content__team__members")
    rows = [*of_specs, *drafts.values_list("written__tools", "written__team__members")]
    names = {use["tool"] for tools, _ in rows for use in tools or ()}
    names |= {member for _, members in rows for member in members or ()}
    return [name for name in names if AGENT_TOOL_NAME.fullmatch(name)]


def list_agents_that_call(agent_id: UUID) -> QuerySet[Actor]:
    """Return the agents whose production version has this public agent as a tool that is on, or in its team."""
    name = build_agent_tool_name(agent_id)
    is_tool = Q(current_spec__content__tools__contains=[{"tool": name, "is_enabled": True}])
    agents = Actor.objects.filter(is_tool | Q(current_spec__content__team__contains={"members": [name]}))
    return agents.exclude(status=AgentStatus.DELETED).filter(taken_down_at=None)


# --- versions -----------------------------------------------------------------------------------------------------


def list_versions(actor: Actor, agent_id: UUID) -> QuerySet[AgentSpec]:
    """Return the saved versions of an agent. Raises `NotFound`, `Forbidden`."""
    agent = get_agent_for(actor, agent_id, AgentVerb.SEE_SPEC)
    return AgentSpec.objects.filter(agent=agent, number__isnull=False)


def get_version(actor: Actor, agent_id: UUID, number: int) -> AgentSpec:
    """Return a version of an agent. Raises `NotFound`, `Forbidden`."""
    return find_version(get_agent_for(actor, agent_id, AgentVerb.SEE_SPEC), number)


def find_version(agent: Actor, number: int) -> AgentSpec:
    """Return a version of an agent. Rights are not checked. Raises `NotFound`."""
    spec = agent.specs.filter(number=number).first()
    if spec is None:
        raise NotFound(f"{agent.name} has no version {number}.")
    return spec


def get_spec(actor: Actor, agent_id: UUID, spec_id: UUID) -> AgentSpec:
    """Return a version of an agent, or a spec that is applied or has answered in a chat that the actor may read.

    Raises `NotFound`, also for a spec that is applied in another chat, and `Forbidden`.
    """
    agent = get_agent_for(actor, agent_id, AgentVerb.SEE_SPEC)
    chat_ids = list_readable_chats(actor).values("pk")
    in_chats = Q(pk__in=AgentSpec.objects.filter(pk=spec_id, runs__chat__in=chat_ids).values("pk"))
    in_chats |= Q(pk__in=Draft.objects.filter(applied=spec_id, chat__in=chat_ids).values("applied"))
    specs = agent.specs.filter(in_chats | Q(number__isnull=False), pk=spec_id)
    if (spec := specs.first()) is None:
        raise NotFound("There is no such spec of this agent.")
    return spec


def diff_versions(actor: Actor, agent_id: UUID, a: int, b: int) -> DiffRow:
    """Compare version `a` of an agent with version `b`. Raises `NotFound`, `Forbidden`."""
    agent = get_agent_for(actor, agent_id, AgentVerb.SEE_SPEC)
    return diff(find_version(agent, a).parse_content(), find_version(agent, b).parse_content())


def diff_applied_spec(actor: Actor, chat_id: UUID, message_id: UUID) -> DiffRow:
    """Compare the spec that a `DRAFT_APPLIED` message is about with the one that answered before. Raises `NotFound`."""
    chat = get_chat_for(actor, chat_id, ChatVerb.SEE)
    message = Message.objects.filter(pk=message_id, chat=chat, type="DRAFT_APPLIED").first()
    payload = SystemPayload.model_validate(message.payload) if message else SystemPayload()
    specs = AgentSpec.objects.filter(agent=payload.target_id)
    specs_by_id = specs.in_bulk([id for id in (payload.before_id, payload.spec_id) if id])
    before, after = specs_by_id.get(payload.before_id), specs_by_id.get(payload.spec_id)
    if before is None or after is None:
        raise NotFound("This is not a message about an applied draft.")
    return diff(before.parse_content(), after.parse_content())


# --- drafts -------------------------------------------------------------------------------------------------------


def find_draft(chat_id: UUID, agent_id: UUID, *, lock: bool = False) -> Draft | None:
    """Return the current draft of an agent in a chat, or null.

    `lock` locks its row, which `write_draft` updates without locking the chat.
    """
    drafts = Draft.objects.filter(chat_id=chat_id, agent_id=agent_id, ended_at=None)
    if lock:
        # The row is locked by a separate query. After a wait, PostgreSQL checks the row again, and would leave it out if a joined
        # row had changed meanwhile.
        list(drafts.select_for_update().values_list("pk"))
    return drafts.select_related("applied", "lock_holder", "agent", "updated_by").first()


def get_draft(actor: Actor, chat_id: UUID, agent_id: UUID) -> Draft:
    """Return the current draft. Whoever may read the chat may see it. Raises `NotFound` (`no_draft`)."""
    chat = get_chat_for(actor, chat_id, ChatVerb.SEE)
    draft = find_draft(chat.id, agent_id)
    if draft is None:
        raise build_no_draft_error()
    return draft


def build_no_draft_error() -> NotFound:
    """Build the error for a chat without a current draft of the agent."""
    return NotFound("There is no draft of this agent in this chat.", code=Code.NO_DRAFT)


def get_draft_trial(actor: Actor, chat_id: UUID, agent_id: UUID) -> DraftTrialRow:
    """Return whether the content of the current draft is applied, and whether it has answered in the chat.

    Raises `NotFound` (`no_draft`).
    """
    draft = get_draft(actor, chat_id, agent_id)
    is_applied = draft.applied is not None and draft.applied.parse_content() == draft.parse_content()
    # The runs are found by way of the agent, because the app `runs` imports this one.
    answered = Actor.objects.filter(
        pk=agent_id, runs__spec=draft.applied_id, runs__chat=chat_id, runs__state="completed"
    )
    return DraftTrialRow(is_applied=is_applied, is_tried=is_applied and answered.exists())


def list_draft_snapshots(actor: Actor, chat_id: UUID, agent_id: UUID) -> QuerySet[DraftSnapshot]:
    """Return the snapshots of the current draft. Raises `NotFound` (`no_draft`)."""
    return get_draft(actor, chat_id, agent_id).snapshots.select_related("author")


def get_lock_waiter(actor: Actor, chat_id: UUID, agent_id: UUID) -> LockWaiter:
    """Return the actor's row in the waitlist of the current draft, or an unsaved one if they are not in it.

    Raises `NotFound` (`no_draft`).
    """
    draft = get_draft(actor, chat_id, agent_id)
    return draft.lock_waiters.filter(person=actor).first() or LockWaiter()


def list_locked_drafts(actor: Actor, workspace_id: UUID) -> QuerySet[Draft]:
    """Return the locked drafts of a workspace, annotated with `may_see_chat`: whether the actor may read the chat of the draft.

    Raises `NotFound`.
    """
    workspace = get_workspace_for(actor, workspace_id, WorkspaceVerb.SEE)
    chats = list_readable_chats(actor).filter(pk=OuterRef("chat"))
    locked = Draft.objects.filter(chat__workspace=workspace, ended_at=None, lock_expires_at__gt=now())
    return locked.select_related("lock_holder", "chat").annotate(may_see_chat=Exists(chats))


def build_locked_draft_rows(reader: Actor, drafts: Iterable[Any]) -> list[LockedDraftRow]:
    """Build the rows of drafts from `list_locked_drafts`. Two queries for titles."""
    found = list(drafts)
    load_titles(reader, [draft.chat for draft in found if draft.may_see_chat])
    return [
        LockedDraftRow(
            draft_id=draft.id,
            agent_id=draft.agent_id,
            lock_holder=draft.lock_holder.to_row(),
            lock_expires_at=draft.lock_expires_at,
            chat_id=draft.chat_id if draft.may_see_chat else None,
            chat_title=draft.chat.shown_title if draft.may_see_chat else None,
        )
        for draft in found
    ]


# --- thumbs on answers ----------------------------------------------------------------------------------------------

MAX_EXCERPT = 300
"""Characters of an answer in the list of thumbs."""


def list_agent_thumbs(actor: Actor, agent_id: UUID, *, value: ThumbValue | None = None) -> QuerySet[Thumb]:
    """Return the thumbs on the answers of an agent in the chats that the actor may read, for `build_agent_thumb_rows`.
    Order them by `-created_at`: there is an index. Raises `NotFound`, `Forbidden`.
    """
    agent = get_agent_for(actor, agent_id, AgentVerb.REVIEW)
    readable = list_readable_chats(actor).filter(pk=OuterRef("chat"))
    found = Thumb.objects.filter(Exists(readable), agent=agent, **({"value": value} if value else {}))
    answer = Message.objects.filter(pk=OuterRef("message")).annotate(excerpt=Left(KT("payload__text"), MAX_EXCERPT))
    return found.select_related("person", "chat").annotate(excerpt=Subquery(answer.values("excerpt")))


def build_agent_thumb_rows(reader: Actor, thumbs: Iterable[Any]) -> list[AgentThumbRow]:
    """Build the rows of thumbs from `list_agent_thumbs`. Two queries for titles."""
    found = list(thumbs)
    load_titles(reader, [thumb.chat for thumb in found])
    return [
        AgentThumbRow(
            id=thumb.id,
            person=thumb.person.to_row(),
            value=thumb.value,
            reason=thumb.reason or None,
            text=thumb.text,
            agent_version=thumb.agent_version,
            draft_apply=thumb.draft_apply,
            message_id=thumb.message_id,
            excerpt=thumb.excerpt or "",
            chat_id=thumb.chat_id,
            chat_title=thumb.chat.shown_title,
            created_at=thumb.created_at,
        )
        for thumb in found
    ]


def count_agent_thumbs(actor: Actor, agent_id: UUID) -> ThumbCountsRow:
    """Return the number of thumbs on the answers of an agent, also in chats that the actor may not read. Raises `NotFound`,
    `Forbidden`."""
    agent = get_agent_for(actor, agent_id, AgentVerb.REVIEW)
    readable = Exists(list_readable_chats(actor).filter(pk=OuterRef("chat")))
    counts = (
        Thumb.objects.filter(agent=agent)
        .annotate(is_readable=readable)
        .aggregate(
            up=Count("pk", filter=Q(value=ThumbValue.UP)),
            down=Count("pk", filter=Q(value=ThumbValue.DOWN)),
            unreadable=Count("pk", filter=Q(is_readable=False)),
        )
    )
    return ThumbCountsRow(**counts)


# --- what answers in a chat -----------------------------------------------------------------------------------------


@lru_cache(maxsize=200)
def get_content(spec: AgentSpec) -> SpecContent:
    """Return the content of a spec. It is cached, because it never changes."""
    return spec.parse_content()


def find_answering_spec(agent: Actor, chat_id: UUID, *, may_have_draft: bool = True) -> tuple[AgentSpec, Stamp] | None:
    """Return the spec that answers in this chat, and its stamp: the applied draft if there is one, otherwise production.
    `may_have_draft`: false if it is known that no draft is applied."""
    draft = APPLIED_DRAFT.first(chat_id, agent.id) if may_have_draft else None
    if draft is not None and draft.applied is not None:
        spec = draft.applied
        return spec, Stamp(spec_id=spec.id, draft_apply=draft.apply_count, draft_by=spec.author.name)
    if agent.current_spec is not None:
        spec = agent.current_spec
        return spec, Stamp(spec_id=spec.id, version=spec.number)
    return None


def find_answering_specs(agents: Iterable[Actor], chat_id: UUID) -> dict[UUID, AgentSpec]:
    """Return the specs that answer in this chat, by agent. Makes two queries, however many agents they are."""
    return {spec.agent_id: spec for spec in _filter_answering_specs(agents, chat_id)}


def find_team_sizes(agents: Iterable[Actor], chat_id: UUID) -> dict[UUID, int]:
    """Return how many members the teams of agents have by the specs that answer in this chat. An agent without a team is left out.
    Makes two queries, and does not read the prompts."""
    specs = _filter_answering_specs(agents, chat_id).filter(content__team__members__0__isnull=False)
    return {agent_id: len(members) for agent_id, members in specs.values_list("agent", "content__team__members")}


def _filter_answering_specs(agents: Iterable[Actor], chat_id: UUID) -> QuerySet[AgentSpec]:
    spec_ids = {agent.id: agent.current_spec_id for agent in agents}
    drafts = Draft.objects.filter(chat=chat_id, agent__in=spec_ids, ended_at=None, applied__isnull=False)
    spec_ids |= dict(drafts.values_list("agent", "applied"))
    return AgentSpec.objects.filter(pk__in=[id for id in spec_ids.values() if id])

"""Reads of the directory, of publications, of what a takedown affects and of whom a change concerns."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from statistics import median, quantiles
from typing import Any, Literal
from uuid import UUID

from django.db.models import Count, Exists, F, Max, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce, TruncDate

from actors.models import Actor, AgentStatus, Kind
from agents.models import AgentSpec
from agents.permissions import (
    AgentVerb,
    compute_agent_verbs,
    get_agent_for,
    get_production,
    list_members_who_may,
)
from agents.selectors import find_version, list_agents_that_call
from agents.services.shipped import SHIPPED
from agents.sub_agents import AgentTool
from chats.models import Chat, ChatActor
from chats.permissions import chats_visible_to
from common.clock import now
from common.handles import HANDLE_PATTERN, RESERVED, normalize_handle
from common.look_alikes import build_look_alike_forms
from common.text import normalize_name, remove_undisplayed_characters
from events.rows import (
    DirectoryDetailRow,
    DirectoryRow,
    DirectoryToolRow,
    DirectoryVersionRow,
    ListingCategory,
    NameCheckRow,
    PublicationCheckRow,
    PublicationRow,
    PublicUseRow,
    Role,
    SecretWarningRow,
    TakedownPreviewRow,
    TakedownRow,
    TypicalReplyRow,
)
from publishing.content import (
    build_tool_rows,
    build_tool_rows_of_specs,
    find_secrets,
    find_secrets_of_listing,
    list_unpublished_tools,
)
from publishing.models import AgentUse, Listing
from publishing.permissions import (
    PUBLIC,
    find_public_copy,
    get_original_for,
    get_public_agent,
    public_agents_visible_to,
)
from publishing.search import build_search_condition
from runs.models import NOT_ENDED, Run, RunState
from tools.models import WorkspaceTool
from tools.registry import build_agent_tool_name
from usage.models import LLMCall
from workspaces.models import Credential, Membership, Workspace
from workspaces.permissions import WorkspaceVerb, get_workspace_for

DirectorySort = Literal["use", "new", "name"]
SORT_COLUMNS: dict[DirectorySort, str] = {"use": "-use_count", "new": "-published_at", "name": "name"}
COUNTED_DAYS = 30
"""The number of days whose runs are counted."""
MIN_TYPICAL_WORKSPACES = 5
"""Workspaces whose replies are needed before typical costs are shown: fewer would tell what one workspace has paid."""
MIN_COUNT = 5
"""The smallest count of the use of a public agent that is shown."""
MAX_TYPICAL_REPLIES = 500
"""The newest replies of which typical costs are computed."""
MAX_LISTED = 20
"""The newest versions of a public agent, and takedowns, that are shown."""


# --- the directory --------------------------------------------------------------------------------------------------


def list_directory(
    actor: Actor,
    *,
    query: str = "",
    category: ListingCategory | None = None,
    language: str | None = None,
    is_yours: bool = False,
    used_in: UUID | None = None,
) -> Any:
    """Return the public agents that match, annotated for `SORT_COLUMNS` and `build_directory_rows`.

    `used_in`: only those that are in the actor's chats of this workspace. Raises `NotFound` for that workspace.
    """
    in_chats = ChatActor.objects.filter(actor=OuterRef("pk"), ended_at=None).order_by()
    chat_count = in_chats.values("actor").annotate(count=Count("pk")).values("count")
    agents = public_agents_visible_to(actor).select_related("listing", "published_by_workspace", "public_use")
    agents = agents.annotate(
        chat_count=Coalesce(Subquery(chat_count), 0),
        # The number of workspaces and not of chats, because one person can begin thousands of chats. A count that is not shown
        # is sorted as 0: otherwise the order and the cursors of pages would tell it.
        use_count=Coalesce("public_use__workspace_count", 0),
        version=Subquery(Actor.objects.filter(pk=OuterRef("pk")).values("current_spec__number")[:1]),
    )
    if query:
        agents = agents.filter(build_search_condition(query))
    # Agents that come with the release have no listing. They are of the category `other`, and answer in every language.
    if category is not None:
        in_category = Q(listing__category=category)
        if category == ListingCategory.OTHER:
            in_category |= Q(listing=None)
        agents = agents.filter(in_category)
    if language is not None:
        agents = agents.filter(Q(listing__languages__contains=[language]) | Q(listing=None))
    if is_yours:
        agents = agents.filter(is_yours=True)
    if used_in is not None:
        workspace = get_workspace_for(actor, used_in, WorkspaceVerb.SEE)
        own_chats = chats_visible_to(actor).filter(workspace=workspace)
        agents = agents.filter(Exists(in_chats.filter(chat__in=own_chats.values("pk"))))
    return agents


def build_directory_rows(agents: Sequence[Any]) -> list[DirectoryRow]:
    """Return the rows of public agents from `list_directory`. Makes two queries at most."""
    specs = AgentSpec.objects.in_bulk([agent.current_spec_id for agent in agents])
    tool_rows = build_tool_rows_of_specs([specs[agent.current_spec_id].parse_content().tools for agent in agents])
    return [DirectoryRow(**_build_row_fields(agent, rows)) for agent, rows in zip(agents, tool_rows, strict=True)]


def get_directory_detail(actor: Actor, handle: str) -> DirectoryDetailRow:
    """Return the public agent with this handle or id. Raises `NotFound` (`taken_down`)."""
    agent = get_public_agent(actor, handle)
    original = get_original_for(actor, agent)
    agent.chat_count = ChatActor.objects.filter(actor=agent, ended_at=None).count()
    spec = get_production(agent)
    agent.version = spec.number
    content = spec.parse_content()
    tools = build_tool_rows(content)
    versions = agent.specs.filter(number__isnull=False).order_by("-number").only("number", "message", "created_at")
    listing = getattr(agent, "listing", None)
    fields = _build_row_fields(agent, tools)
    if getattr(agent, "public_use", None) is None:
        # `count_use` counts its first replies within the hour, but the use by day shows them already.
        replies = list_counted_replies().filter(agent=agent)
        counted = replies.aggregate(run_count=Count("pk"), workspace_count=Count("workspace", distinct=True))
        fields |= {name: hide_small_count(count) for name, count in counted.items()}
    return DirectoryDetailRow(
        **fields,
        examples=listing.examples if listing else [],
        model=content.model,
        max_steps=content.limits.max_steps,
        max_seconds=content.limits.max_seconds,
        tool_schema=AgentTool(agent).build_schema(),
        tools=tools,
        typical=_compute_typical_reply(agent),
        versions=[
            DirectoryVersionRow(number=one.version, message=one.message, created_at=one.created_at)
            for one in versions[:MAX_LISTED]
        ],
        verbs=sorted(compute_agent_verbs(agent)),
        is_suspended=agent.status == AgentStatus.SUSPENDED,
        origin_id=original.id if original else None,
        origin_workspace_id=original.workspace_id if original else None,
    )


def list_counted_replies() -> QuerySet[Run]:
    """Return the replies of public agents that are counted as their use, including replies as a sub-agent."""
    since = now() - timedelta(days=COUNTED_DAYS)
    is_public = Q(agent__is_public=True, agent__taken_down_at=None)
    return Run.objects.filter(is_public, chat__isnull=False, state=RunState.COMPLETED, created_at__gte=since).order_by()


def _build_row_fields(agent: Any, tools: Sequence[DirectoryToolRow]) -> dict[str, Any]:
    listing: Listing | None = getattr(agent, "listing", None)
    publisher: Workspace | None = agent.published_by_workspace
    use: AgentUse | None = getattr(agent, "public_use", None)
    return {
        "actor": agent.to_row(),
        "tool_name": build_agent_tool_name(agent.pk),
        "category": ListingCategory(listing.category) if listing else ListingCategory.OTHER,
        "languages": listing.languages if listing else [],
        "publisher_name": publisher.name if publisher else None,
        "is_shipped": agent.is_shipped,
        "is_yours": agent.is_yours,
        "version": agent.version,
        "published_at": agent.published_at,
        "tool_count": len(tools),
        "chat_count": hide_small_count(agent.chat_count),
        "run_count": use.run_count if use else 0,
        "workspace_count": use.workspace_count if use else 0,
    }


def hide_small_count(count: int) -> int | None:
    """Return the count, or null if it is so small that it would tell what single workspaces do."""
    return count if count == 0 or count >= MIN_COUNT else None


def _compute_typical_reply(agent: Actor) -> TypicalReplyRow | None:
    """Return what the newest replies of an agent have cost, from the ledger, including the cost of its sub-agents. Return null if
    the replies whose price is known come from fewer than `MIN_TYPICAL_WORKSPACES` workspaces.

    Only replies that begin a tree count, and not what the agent does for another one. The seconds are those of the agent itself.
    """
    since = now() - timedelta(days=COUNTED_DAYS)
    calls = LLMCall.objects.filter(agent=agent, run_id=F("tree_id"), created_at__gte=since).exclude(paid_by="demo")
    roots = calls.values("tree_id").annotate(unpriced=Count("pk", filter=Q(cost_micro=None)), last=Max("created_at"))
    # Replies with a request of their own without a price are left out here, before the newest are chosen.
    root_ids = list(roots.filter(unpriced=0).order_by("-last").values_list("tree_id", flat=True)[:MAX_TYPICAL_REPLIES])
    # The requests are found by their runs, because the ledger is indexed by run and not by tree.
    runs = Run.objects.filter(Q(pk__in=root_ids) | Q(root__in=root_ids)).order_by()
    trees = (
        LLMCall.objects.filter(run_id__in=runs.values("pk"))
        .values("tree_id", "workspace")
        .annotate(
            cost=Sum("cost_micro"),
            unpriced=Count("pk", filter=Q(cost_micro=None)),
            root_ms=Sum("total_ms", filter=Q(run_id=F("tree_id"))),
        )
    )
    # Replies with a request of a sub-agent without a price are left out here.
    found = list(trees.filter(unpriced=0).values_list("cost", "root_ms", "workspace"))
    if len({workspace for _, _, workspace in found} - {None}) < MIN_TYPICAL_WORKSPACES:
        return None
    costs = [cost for cost, _, _ in found]
    deciles = quantiles(costs, n=10, method="inclusive")
    seconds = [ms / 1000 for _, ms, _ in found if ms is not None]
    return TypicalReplyRow(
        runs=len(found),
        median_micro=round(median(costs)),
        low_micro=round(deciles[0]),
        high_micro=round(deciles[-1]),
        median_seconds=round(median(seconds), 1) if seconds else None,
    )


# --- publications ---------------------------------------------------------------------------------------------------


def build_publication_check(
    actor: Actor, agent_id: UUID, *, version: int | None = None, name: str | None = None, handle: str | None = None
) -> PublicationCheckRow:
    """Return what would be published if the agent were published under this name and handle, or under its own. Raises
    `NotFound`, `Forbidden`."""
    agent = get_agent_for(actor, agent_id, AgentVerb.PUBLISH)
    spec = get_production(agent) if version is None else find_version(agent, version)
    content = spec.parse_content()
    own_tools = WorkspaceTool.objects.filter(workspace=agent.workspace_id, name__in=content.tool_names)
    copy = find_public_copy(agent)
    workspace = Workspace.objects.get(agents=agent)
    # A workspace without a model of its own uses that of the installation, which all other workspaces have, too.
    has_own_model = Credential.objects.filter(workspace=workspace).exists()
    return PublicationCheckRow(
        version=spec.version,
        prompt_lines=content.prompt.count("\n") + 1 if content.prompt else 0,
        model=content.model,
        model_may_be_missing=bool(content.model) and has_own_model,
        max_steps=content.limits.max_steps,
        max_seconds=content.limits.max_seconds,
        tools=build_tool_rows(content),
        unpublished_tools=list_unpublished_tools(
            content, frozenset(own_tools.values_list("name", flat=True)), workspace_id=agent.workspace_id
        ),
        secrets=find_secrets(content),
        memory=content.memory,
        name=build_name_check(normalize_name(name or agent.name)[:80], workspace, copy),
        handle=_check_public_handle(normalize_handle(handle or (copy or agent).handle), workspace, copy),
    )


def build_name_check(name: str, workspace: Workspace, copy: Actor | None) -> NameCheckRow:
    """Return whether a public agent of this workspace may have the name. `copy` is the one that would be renamed, or null.

    It is not free if it looks like another one (`build_look_alike_forms`), or if it has characters that are not displayed, such as
    the format character that joins emoji. Reads the names of all public agents; their forms are cached, so this takes about 1 ms
    for a thousand.
    """
    visible, publisher = remove_undisplayed_characters(name), remove_undisplayed_characters(workspace.name)
    candidates = [
        visible,
        f"{publisher} {visible}",
        f"{visible} ({publisher})",
        *(f"{visible} {number}" for number in range(2, 5)),
    ]
    names = [*(definition.name for definition in SHIPPED.values()), *_list_others(copy).values_list("name", flat=True)]
    taken = {"", *(form for other in names for form in build_look_alike_forms(other))}
    free = [one for one in candidates if len(one) <= 80 and taken.isdisjoint(build_look_alike_forms(one))]
    # A copy keeps its name, even if another one looked like it before such names were refused.
    is_free = name in free or (copy is not None and name == copy.name)
    return NameCheckRow(value=name, is_free=is_free, suggestions=free[:2] if visible and not is_free else [])


def _check_public_handle(handle: str, workspace: Workspace, copy: Actor | None) -> NameCheckRow:
    others = _list_others(copy)
    candidates = [f"{handle}-{workspace.handle}", *(f"{handle}-{n}" for n in range(2, 5))]
    taken = {*others.filter(handle__in=[handle, *candidates]).values_list("handle", flat=True), *RESERVED, *SHIPPED}
    is_free = HANDLE_PATTERN.fullmatch(handle) is not None and handle not in taken
    free = [one for one in candidates if HANDLE_PATTERN.fullmatch(one) and one not in taken] if not is_free else []
    return NameCheckRow(value=handle, is_free=is_free, suggestions=free[:2])


def _list_others(copy: Actor | None) -> QuerySet[Actor]:
    others = Actor.objects.filter(**PUBLIC)
    return others.exclude(pk=copy.pk) if copy is not None else others


def get_publication(
    actor: Actor, agent_id: UUID, *, version: int | None = None, name: str | None = None, handle: str | None = None
) -> PublicationRow:
    """Return the publication of an agent, its takedowns, and what would be published next. Raises `NotFound`, `Forbidden`."""
    check = build_publication_check(actor, agent_id, version=version, name=name, handle=handle)
    original = get_agent_for(actor, agent_id, AgentVerb.PUBLISH)
    copy = find_public_copy(original)
    taken_down = Listing.objects.filter(agent__published_from_agent=original, agent__taken_down_at__isnull=False)
    return PublicationRow(
        check=check,
        listing=get_directory_detail(actor, str(copy.pk)) if copy is not None else None,
        origin_version=copy.listing.origin_version if copy is not None else None,
        takedowns=[
            TakedownRow(
                agent_id=listing.agent_id,
                name=listing.agent.name,
                handle=listing.agent.handle,
                published_at=listing.agent.published_at,
                taken_down_at=listing.agent.taken_down_at,
                by_operator=listing.taken_down_by_operator,
                reason=listing.takedown_reason,
                description=listing.agent.description or "",
                category=ListingCategory(listing.category),
                languages=listing.languages,
                examples=listing.examples,
            )
            for listing in taken_down.select_related("agent").order_by("-agent__taken_down_at")[:MAX_LISTED]
        ],
    )


def check_listing(
    actor: Actor, agent_id: UUID, *, description: str, examples: Sequence[str], message: str
) -> list[SecretWarningRow]:
    """Return where these texts have what looks like a key or a password, before they are published. Raises `NotFound`,
    `Forbidden`."""
    get_agent_for(actor, agent_id, AgentVerb.PUBLISH)
    return find_secrets_of_listing(description, examples, message)


def list_public_use(actor: Actor, agent_id: UUID) -> list[PublicUseRow]:
    """Return the use of the public copy of an agent by day, the newest first; none if it has no copy. Raises `NotFound`,
    `Forbidden`."""
    copy = find_public_copy(get_agent_for(actor, agent_id, AgentVerb.PUBLISH))
    if copy is None:
        return []
    days = list_counted_replies().filter(agent=copy).annotate(day=TruncDate("created_at")).values("day")
    counted = days.annotate(
        runs=Count("pk"), chats=Count("chat", distinct=True), workspaces=Count("workspace", distinct=True)
    )
    return [
        PublicUseRow(
            day=use["day"],
            runs=hide_small_count(use["runs"]),
            chats=hide_small_count(use["chats"]),
            workspaces=hide_small_count(use["workspaces"]),
        )
        for use in counted.order_by("-day")
    ]


# --- takedowns ------------------------------------------------------------------------------------------------------


def count_affected(agent: Actor) -> dict[str, int]:
    """Return the exact numbers of `TakedownPreviewRow` for this public agent. It checks no rights: only operators may read them."""
    chats = Chat.objects.filter(participants__actor=agent, participants__ended_at=None)
    counted = chats.aggregate(chats=Count("pk"), workspaces=Count("workspace", distinct=True))
    return {
        **counted,
        "agents": list_agents_that_call(agent.pk).count(),
        "runs": Run.objects.filter(agent=agent, state__in=NOT_ENDED).count(),
    }


def preview_takedown(actor: Actor, agent_id: UUID) -> TakedownPreviewRow:
    """Return how many a takedown affects, for an editor of the publisher. Raises `NotFound`, `Forbidden`."""
    affected = count_affected(get_agent_for(actor, agent_id, AgentVerb.TAKE_DOWN))
    return TakedownPreviewRow(**{name: hide_small_count(count) for name, count in affected.items()})


def list_affected_workspaces(agent: Actor) -> QuerySet[Any]:
    """Return the workspaces that a public agent is in, annotated with `chat_count`. It checks no rights: only operators may read
    them."""
    is_in = Q(chats__participants__actor=agent, chats__participants__ended_at=None)
    return Workspace.objects.annotate(chat_count=Count("chats", filter=is_in, distinct=True)).filter(chat_count__gt=0)


def list_affected_agents(agent: Actor) -> QuerySet[Actor]:
    """Return the agents that have a public agent as a tool or in their team. It checks no rights: only operators may read them."""
    return list_agents_that_call(agent.pk).select_related("workspace").order_by("name")


# --- whom a change concerns -----------------------------------------------------------------------------------------


def list_concerned_workspaces(agent: Actor, *, before: datetime) -> QuerySet[Any, Any]:
    """Return the ids of the workspaces, other than the publisher's, whose people are notified of a version or the takedown of a
    public agent: it was in chats there before that time, or an agent that they own or have published calls it."""
    in_chats = ChatActor.objects.filter(actor=agent, ended_at=None, joined_at__lt=before)
    callers = list_agents_that_call(agent.pk).annotate(owner=Coalesce("workspace", "published_by_workspace"))
    is_concerned = Q(pk__in=in_chats.values("chat__workspace")) | Q(pk__in=callers.values("owner"))
    workspaces = Workspace.objects.filter(is_concerned).exclude(published_agents=agent)
    return workspaces.order_by("pk").values_list("pk", flat=True)


def list_concerned_people(agent: Actor, workspace_ids: Sequence[UUID], *, before: datetime) -> dict[UUID, set[UUID]]:
    """Return the ids of the people of these workspaces who are notified of a version or the takedown of a public agent.

    They are the people who were in chats with it before that time, those who may save an agent that has it as a tool or in its
    team, and the editors of its publisher and of the publishers of public agents that have it so. Makes four queries.
    """
    in_chats = ChatActor.objects.filter(ended_at=None, joined_at__lt=before, chat__workspace__in=workspace_ids)
    users = in_chats.filter(chat__in=in_chats.filter(actor=agent).values("chat"), actor__kind=Kind.HUMAN)
    callers = list_agents_that_call(agent.pk)
    publishers = callers.filter(published_by_workspace__in=workspace_ids).values("published_by_workspace")
    is_publisher = Q(workspace__in=publishers) | Q(workspace=agent.published_by_workspace_id)
    editors = Membership.objects.filter(is_publisher, workspace__in=workspace_ids, role=Role.EDITOR)
    people: dict[UUID, set[UUID]] = {id: set() for id in workspace_ids}
    for workspace_id, person_id in [
        *users.values_list("chat__workspace_id", "actor_id").distinct(),
        *list_members_who_may(callers.filter(workspace__in=workspace_ids), AgentVerb.SAVE),
        *editors.values_list("workspace_id", "actor_id"),
    ]:
        people[workspace_id].add(person_id)
    return people

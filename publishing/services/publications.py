"""Publish an agent as an independent copy, and publish its next version."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import IntegrityError, connection, transaction
from django.db.models import F

from actors.models import Actor, Kind
from agents.models import AgentSpec
from agents.permissions import AgentVerb, get_agent_for, get_production
from agents.selectors import find_version
from agents.services.agents import check_agent_name
from agents.services.shipped import SHIPPED
from agents.services.stored_specs import write_spec
from chats import services as chats
from chats.models import Chat
from common.clock import now
from common.database import get_violated_constraint
from common.errors import Code, Conflict, Invalid, QuotaReached
from common.handles import RESERVED, check_handle
from common.text import normalize_for_comparison, remove_undisplayed_characters
from events import audit
from events.publish import publish_workspace_list_changed
from events.rows import ListingCategory, SpecOrigin
from publishing.content import build_public_content, build_tool_rows
from publishing.models import Listing
from publishing.permissions import PUBLIC, build_not_public_error, find_public_copy, get_public_copy
from publishing.search import build_search_text, replace_name
from publishing.selectors import build_name_check
from publishing.services.updates import start_update
from workspaces.models import Workspace

MAX_VERSIONS_PER_DAY = 10
"""Versions of a public agent in 24 hours."""


@transaction.atomic
def publish_agent(
    actor: Actor,
    agent_id: UUID,
    *,
    name: str,
    handle: str,
    description: str,
    category: ListingCategory,
    languages: Sequence[str] = (),
    examples: Sequence[str] = (),
    message: str = "",
    version: int | None = None,
) -> Actor:
    """Publish a version of an agent, by default production, as version 1 of a new public agent, and return the public agent.

    Its prompt, model, limits, and the tools that work in every workspace are copied; see `build_public_content`. Raises `NotFound`,
    `Forbidden`, `Invalid`, and `Conflict`: `already_public`, `name_taken`, `handle_taken`.
    """
    agent = get_agent_for(actor, agent_id, AgentVerb.PUBLISH)
    # Before the handle, which the copy has, and again below, when the agent is locked.
    _check_not_public(agent)
    handle = check_handle(handle, Actor.objects.filter(**PUBLIC), reserved=RESERVED | SHIPPED.keys())
    # The workspace and the agent are locked, so that neither can be deleted meanwhile.
    workspace = Workspace.objects.select_for_update(of=("self",), no_key=True).get(agents=agent)
    agent = get_agent_for(actor, agent_id, AgentVerb.PUBLISH, lock=True)
    _check_not_public(agent)
    name = _check_name(name, workspace)
    spec = get_production(agent) if version is None else find_version(agent, version)
    with _refuse_taken_name(name):
        copy = Actor.objects.create(
            kind=Kind.AGENT,
            is_public=True,
            name=name,
            normalized_name=normalize_for_comparison(name),
            handle=handle,
            description=_check_description(description),
            avatar=agent.avatar,
            published_at=now(),
            published_by_workspace=workspace,
            published_from_agent=agent,
        )
    content = build_public_content(spec.parse_content(), workspace_id=workspace.id)
    copy.current_spec = write_spec(copy, content, author=actor, origin=SpecOrigin.PUBLISHED, number=1, message=message)
    copy.save(update_fields=["current_spec"])
    listing = Listing(agent=copy, published_by=actor)
    _write_listing(listing, spec, workspace, category=category, languages=languages, examples=examples)
    _record_publication(actor, "agent.published", agent, spec, copy)
    start_update(copy, copy.current_spec)
    return copy


@transaction.atomic
def update_published_agent(
    actor: Actor,
    agent_id: UUID,
    *,
    name: str,
    description: str,
    category: ListingCategory,
    languages: Sequence[str] = (),
    examples: Sequence[str] = (),
    message: str = "",
    version: int | None = None,
) -> Actor:
    """Publish a version of an agent, by default production, as the next version of its public copy, and return the copy.

    If the copy has this content already, only its name, description and listing are changed. The copy stays in its chats, to which
    a task posts a system message about the new version (ADR 0015, `publishing/services/updates.py`). Runs that have begun answer
    with the version that they began with. Raises `NotFound`, `Forbidden`, `Invalid`, `QuotaReached`, and `Conflict`: `not_public`,
    `name_taken`, `nothing_changed`.
    """
    agent = get_agent_for(actor, agent_id, AgentVerb.PUBLISH)
    workspace = Workspace.objects.get(agents=agent)
    copy = get_public_copy(agent)
    chats.lock_chat_sets([copy.pk])
    copy = lock_public_agent(copy.pk)
    # Checked again, because the actor may have lost the right while this waited.
    agent = get_agent_for(actor, agent_id, AgentVerb.PUBLISH)
    listing = Listing.objects.get(agent=copy)
    spec = get_production(agent) if version is None else find_version(agent, version)
    production = get_production(copy)
    name = _check_name(name, workspace, copy)
    before = (copy.name, copy.description)
    content = build_public_content(spec.parse_content(), workspace_id=workspace.id)
    is_new_version = content != production.parse_content()

    copy.name, copy.description = name, _check_description(description)
    if is_new_version:
        _check_daily_versions(copy)
        copy.current_spec = write_spec(
            copy, content, author=actor, origin=SpecOrigin.PUBLISHED, number=production.version + 1, message=message
        )
    listing.agent = copy  # the changed copy, whose name and description become part of the search text
    is_changed = _write_listing(listing, spec, workspace, category=category, languages=languages, examples=examples)
    # The name and the description are compared, too: the search text of the listing shows no change of case.
    if not is_new_version and not is_changed and (copy.name, copy.description) == before:
        raise Conflict(f"{copy.name} is published like this already.", code=Code.NOTHING_CHANGED)
    with _refuse_taken_name(copy.name):
        Actor.objects.filter(pk=copy.pk).update(
            name=copy.name,
            normalized_name=normalize_for_comparison(copy.name),
            description=copy.description,
            current_spec=copy.current_spec,
            revision=F("revision") + 1,
        )
    if is_new_version or (copy.name, copy.description) != before:
        start_update(copy, copy.current_spec if is_new_version else None)
    _record_publication(actor, "agent.republished", agent, spec, copy, version=get_production(copy).number)
    return copy


def update_renamed_agent(agent: Actor) -> None:
    """Bring the listing, the chats and the publisher's list of agents up to date with the new name of a public agent. An agent that
    comes with the release has no listing. A listener of `public_agent_renamed`."""
    listing = Listing.objects.filter(agent=agent).first()
    if listing is not None:
        listing.search_text = replace_name(listing.search_text, agent.name, agent.handle)
        listing.save(update_fields=["search_text"])
    start_update(agent)
    if agent.published_by_workspace_id:
        publish_workspace_list_changed(agent.published_by_workspace_id, "agents")


def _check_daily_versions(copy: Actor) -> None:
    """Raise `QuotaReached` if a public agent has had `MAX_VERSIONS_PER_DAY` versions: each is a message in all its chats."""
    since = now() - timedelta(days=1)
    if copy.specs.filter(number__isnull=False, created_at__gte=since).count() >= MAX_VERSIONS_PER_DAY:
        raise QuotaReached(
            f"A public agent gets at most {MAX_VERSIONS_PER_DAY} versions in a day.",
            hints=["Publish the next one tomorrow."],
            data={"quota": "public_versions", "most": MAX_VERSIONS_PER_DAY},
        )


def lock_public_agent(agent_id: UUID) -> Actor:
    """Lock a public agent and return it. Raises `Conflict` (`not_public`) if it was taken down meanwhile.

    The caller has called `lock_chat_sets` for the agent before, so that it is added to no chat meanwhile.
    """
    agent = Actor.objects.select_for_update(no_key=True).get(pk=agent_id)
    if not agent.is_public or agent.taken_down_at is not None:
        raise build_not_public_error(agent.name)
    return agent


@transaction.atomic
def try_agent(actor: Actor, agent_id: UUID, workspace_id: UUID) -> Chat:
    """Create a chat of the actor and a public agent in a workspace of the actor.

    Raises `NotFound`, `Forbidden`, `LimitReached`, `QuotaReached`.
    """
    agent = get_agent_for(actor, agent_id, AgentVerb.CHAT)
    return chats.create_chat(actor, workspace_id, title=agent.name, actor_ids=[agent.id])


def _write_listing(
    listing: Listing,
    spec: AgentSpec,
    workspace: Workspace,
    *,
    category: ListingCategory,
    languages: Sequence[str],
    examples: Sequence[str],
) -> bool:
    """Store the listing. Return whether anything that people see or search has changed in it."""
    agent: Any = listing.agent
    before = (listing.category, listing.languages, listing.examples, listing.search_text)
    listing.category, listing.origin_version = category, spec.version
    listing.languages = list(dict.fromkeys(languages))
    listing.examples = [example.strip() for example in examples if example.strip()]
    tools = [tool.name for tool in build_tool_rows(spec.parse_content())]
    listing.search_text = build_search_text(
        agent.name, agent.handle, [agent.description or "", workspace.name, *listing.examples, *tools]
    )
    listing.save()
    return before != (listing.category, listing.languages, listing.examples, listing.search_text)


def _record_publication(actor: Actor, action: str, agent: Any, spec: AgentSpec, copy: Actor, **facts: Any) -> None:
    """Record that a version of an agent was published, and tell the members of its workspace that the list has changed."""
    audit.record(
        actor,
        action,
        workspace_id=agent.workspace_id,
        object_id=copy.id,
        origin=str(agent.id),
        origin_version=spec.number,
        **facts,
    )
    publish_workspace_list_changed(agent.workspace_id, "agents")


def _check_description(description: str) -> str:
    description = description.strip()
    if not description:
        raise Invalid("A public agent needs a description.")
    return description[:2000]


def _check_name(name: str, workspace: Workspace, copy: Actor | None = None) -> str:
    """Return the name as it is stored. Raises `Invalid`, also for invisible characters, and `Conflict` (`name_taken`) with free
    names (ADR 0023), also if the name only looks like another one."""
    name = check_agent_name(name)
    # Until the transaction ends, nobody else takes a name that looks like this one. It is the last lock of a publication.
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended('public names', 0))")
    checked = build_name_check(name, workspace, copy)
    if checked.is_free:
        return name
    if name != remove_undisplayed_characters(name):
        raise Invalid("The name of a public agent has no invisible characters.")
    raise _build_name_taken_error(name, checked.suggestions)


@contextmanager
def _refuse_taken_name(name: str) -> Iterator[None]:
    """Raise `Conflict` (`name_taken`) if another transaction has taken the name that is written."""
    try:
        with transaction.atomic():
            yield
    except IntegrityError as error:
        if get_violated_constraint(error) != "public_agent_name_unique":
            raise
        raise _build_name_taken_error(name, []) from error


def _build_name_taken_error(name: str, suggestions: Sequence[str]) -> Conflict:
    return Conflict(
        f"Another public agent is called {name}.",
        code=Code.NAME_TAKEN,
        hints=["Choose another name.", *(f"{one} is free." for one in suggestions)],
        data={"suggestions": list(suggestions)},
    )


def _check_not_public(agent: Actor) -> None:
    """Raise `Conflict` (`already_public`) if the agent has a public copy."""
    copy = find_public_copy(agent)
    if copy is None:
        return
    raise Conflict(
        f"This agent is public as {copy.name} (@{copy.handle}).",
        code=Code.ALREADY_PUBLIC,
        hints=["Publish its next version, or take it down first."],
        data={"agent_id": str(copy.id), "name": copy.name, "handle": copy.handle},
    )

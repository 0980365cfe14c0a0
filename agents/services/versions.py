"""The versions of an agent: reading one, comparing two, bringing an old one back (mission row B6)."""

from uuid import UUID

from django.db import transaction
from django.db.models import Q

from actors.models import Actor
from agents.content import SpecContent
from agents.differences import diff
from agents.models import AgentSpec, Draft, Origin, Run
from agents.models.specs import with_tools
from agents.permissions import AgentVerb, get_agent_for
from agents.services.specs import check_content, write_spec
from chats import services as chats
from chats.models import Chat, ChatActor
from chats.permissions import ChatVerb, chats_visible_to, get_chat_for
from common.errors import Code, Conflict, NotFound
from events import audit
from events.bells import ring_workspace
from events.rows import DiffRow


def get_version(agent: Actor, number: int) -> AgentSpec:
    """A version of an agent that the reader may see. Raises `NotFound`."""
    spec = agent.specs.filter(number=number).prefetch_related(with_tools()).first()
    if spec is None:
        raise NotFound(f"{agent.name} has no version {number}.")
    return spec


def get_spec(agent: Actor, spec_id: UUID, reader: Actor) -> AgentSpec:
    """The text behind a stamp: a version, or a text that was applied, or answered, in a chat of the reader's.

    Raises `NotFound`, also for what was applied elsewhere.
    """
    rooms = chats_visible_to(reader).values("pk")
    here = Q(pk__in=Run.objects.filter(spec=spec_id, chat__in=rooms).values("spec"))
    here |= Q(pk__in=Draft.objects.filter(applied=spec_id, chat__in=rooms).values("applied"))
    specs = agent.specs.filter(here | Q(number__isnull=False), pk=spec_id).prefetch_related(with_tools())
    if (spec := specs.first()) is None:
        raise NotFound("There is no such text of this agent.")
    return spec


def diff_versions(agent: Actor, a: int, b: int) -> DiffRow:
    """How to come from version `a` to version `b`. Raises `NotFound`."""
    return diff(get_version(agent, a).content(), get_version(agent, b).content())


@transaction.atomic
def restore_version(
    *, actor: Actor, agent_id: UUID, number: int, base_version: int, message: str = "", chat_id: UUID | None = None
) -> AgentSpec:
    """Make an old version the next one; drafts that were begun on today's are on an older base from then on.

    It is told in `chat_id`, when that is given. Raises `NotFound`, `Forbidden`, `Invalid` for tools that are no more, and
    `Conflict`: `stale_base` with today's production when it is not `base_version`, `nothing_changed`.
    """
    chat = _room(actor, chat_id, agent_id) if chat_id else None
    agent = get_agent_for(actor, agent_id, AgentVerb.SAVE, lock=True)
    content = _restorable(agent, number, base_version)
    spec = write_spec(
        agent, content, author=actor, origin=Origin.RESTORED, number=base_version + 1,
        message=message.strip() or f"Restore v{number}", base_number=number,
    )  # fmt: skip
    agent.current_spec = spec
    agent.save(update_fields=["current_spec"])
    if chat is not None:
        line = chats.system_line(
            chat.id, "SPEC_SAVED", actor=actor, target=agent, version=spec.number, note=spec.message
        )
        chats.changed(chat.id, rows=[line])
    audit.record(actor, "spec.restored", workspace_id=agent.workspace_id, object_id=agent.id, version=spec.number)
    if agent.workspace_id:
        ring_workspace(agent.workspace_id, "agents")
    return spec


def _room(actor: Actor, chat_id: UUID, agent_id: UUID) -> Chat:
    """Held first: whoever changes a chat and an agent takes the chat before the agent."""
    chat = get_chat_for(actor, chat_id, ChatVerb.SEE, lock=True)
    if not ChatActor.objects.filter(chat=chat, actor=agent_id, ended_at=None).exists():
        raise NotFound("This agent is not in this chat.")
    return chat


def _restorable(agent: Actor, number: int, base_version: int) -> SpecContent:
    production = agent.current_spec
    assert production is not None
    if production.number != base_version:
        raise Conflict(
            f"{agent.name} is at v{production.number} by now.", code=Code.STALE_BASE,
            hints=["Look at what is new in it, then restore on top of it."],
            data={"production": production.row().model_dump(mode="json")},
        )  # fmt: skip
    content = get_version(agent, number).content()
    if content == production.content():
        raise Conflict(f"v{number} is what answers today already.", code=Code.NOTHING_CHANGED)
    check_content(content)
    return content

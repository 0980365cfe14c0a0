"""Create, change and delete schedules, and run one now. Editors in the chat do so."""

from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction

from actors.models import Actor
from chats import services as chats
from chats.models import Message
from chats.permissions import ChatVerb, get_chat_for
from common.clock import now
from common.errors import Code, Conflict, Forbidden, Invalid, build_duplicate_id_error
from common.ids import new_id
from common.quotas import check_quota
from common.text import normalize_name, remove_invisible, to_storable
from events import audit
from events.publish import publish_workspace_list_changed
from schedules.expressions import list_next_times, normalize_expression
from schedules.models import Schedule
from schedules.permissions import get_schedule_for
from waking.services.by_hand import get_wakeable_participant, prepare_wake

MAX_INSTRUCTIONS = 8_000


@transaction.atomic
def create_schedule(
    actor: Actor,
    chat_id: UUID,
    agent_id: UUID,
    *,
    id: UUID | None = None,
    name: str,
    instructions: str,
    expression: str,
    time_zone: str,
    grace_seconds: int = 3600,
) -> tuple[Schedule, bool]:
    """Create a schedule of an agent in a chat; the actor owns it. Return it, and whether it is new: the same `id` again returns
    the first one.

    Raises `NotFound`, `Forbidden`, `Conflict`, `QuotaReached`, and `Invalid` for an expression that is not allowed.
    """
    chat = get_chat_for(actor, chat_id, ChatVerb.CHANGE_SCHEDULES, lock=True)
    if actor.is_agent:
        raise Forbidden("A schedule belongs to a person.")
    if id and (stored := Schedule.objects.select_related("chat", "owner").filter(pk=id).first()):
        if (stored.chat_id, stored.agent_id, stored.owner_id) != (chat.id, agent_id, actor.id):
            raise build_duplicate_id_error("schedule")
        return stored, False
    agent = get_wakeable_participant(chat, agent_id).actor
    check_quota("schedules", Schedule.objects.filter(workspace=chat.workspace_id))
    schedule = Schedule(id=id or new_id(), workspace_id=chat.workspace_id, chat=chat, agent=agent, owner=actor)
    fields = {"name": name, "instructions": instructions, "expression": expression, "time_zone": time_zone}
    _set_fields(schedule, {**fields, "grace_seconds": grace_seconds})
    schedule.save(force_insert=True)
    _publish(actor, "schedule.created", schedule)
    return schedule, True


@transaction.atomic
def change_schedule(actor: Actor, schedule_id: UUID, *, revision: int, **changes: Any) -> Schedule:
    """Change fields of a schedule, or switch it on or off (`is_enabled`). A call with only `is_enabled=False` switches it off.
    Any other call, also one without changes, ends a pause and makes the actor the owner, because the schedule works with the rights
    and budgets of its owner.

    Raises `NotFound`, `Forbidden`, `Invalid`, and `Conflict` for a stale revision or an agent that cannot be woken.
    """
    schedule = get_schedule_for(actor, schedule_id, ChatVerb.CHANGE_SCHEDULES)
    if schedule.revision != revision:
        raise Conflict("Somebody else has changed it meanwhile.", code=Code.STALE_REVISION)
    changes = {name: value for name, value in changes.items() if value is not None}
    if changes != {"is_enabled": False}:
        if actor.is_agent:
            raise Forbidden("A schedule belongs to a person.")
        schedule.owner = actor
        get_wakeable_participant(schedule.chat, schedule.agent_id)  # raises `Conflict` if it cannot be woken
        schedule.paused_reason = ""
    _set_fields(schedule, changes)
    schedule.revision += 1
    schedule.save()
    _publish(actor, "schedule.changed", schedule)
    return Schedule.objects.select_related("chat", "owner").get(pk=schedule.pk)


@transaction.atomic
def delete_schedule(actor: Actor, schedule_id: UUID) -> None:
    """Delete a schedule. A run that it has started goes on. Raises `NotFound`, `Forbidden`."""
    schedule = get_schedule_for(actor, schedule_id, ChatVerb.CHANGE_SCHEDULES)
    _publish(actor, "schedule.deleted", schedule)
    schedule.delete()


@transaction.atomic
def run_schedule_now(actor: Actor, schedule_id: UUID, *, id: UUID | None = None) -> tuple[Message, bool]:
    """Wake the agent now, to do what the schedule asks, for the actor. Its times stay the same. Return the system message, and
    whether it was created: the same `id` again returns the first one. Raises `NotFound`, `Forbidden`, `Conflict`."""
    schedule = get_schedule_for(actor, schedule_id, ChatVerb.CHANGE_SCHEDULES)
    if actor.is_agent:
        raise Forbidden("Only a person runs a schedule.")
    if id and (stored := Message.objects.filter(pk=id).first()):
        is_same = stored.chat_id == schedule.chat_id and stored.payload.get("schedule_id") == str(schedule.pk)
        if not is_same or stored.payload.get("actor_id") != str(actor.id):
            raise build_duplicate_id_error("message")
        return stored, False
    participant = get_wakeable_participant(schedule.chat, schedule.agent_id)
    id = id or new_id()
    rows = prepare_wake(
        schedule.chat,
        participant,
        actor,
        id=id,
        reason="schedule",
        name=schedule.name,
        instructions=schedule.instructions,
        schedule_id=schedule.pk,
    )
    try:
        with transaction.atomic():
            chats.save_changes(schedule.chat_id, rows)
    except IntegrityError:
        raise build_duplicate_id_error("message") from None
    audit.record(actor, "schedule.run", workspace_id=schedule.workspace_id, object_id=schedule.pk)
    return Message.objects.get(pk=id), True


def _set_fields(schedule: Schedule, fields: dict[str, Any]) -> None:
    """Set the fields and the next time. Raises `Invalid`."""
    for name, value in fields.items():
        setattr(schedule, name, value)
    schedule.name = normalize_name(schedule.name)
    schedule.instructions = remove_invisible(to_storable(schedule.instructions)).strip()
    if not schedule.name or not schedule.instructions:
        raise Invalid("A schedule has a name, and says what the agent is to do.")
    schedule.expression = normalize_expression(schedule.expression, schedule.time_zone, after=now())
    is_active = schedule.is_enabled and not schedule.paused_reason
    times = list_next_times(schedule.expression, schedule.time_zone, after=now(), count=1) if is_active else []
    schedule.next_at, schedule.retry_at = times[0] if times else None, None


def _publish(actor: Actor, action: str, schedule: Schedule) -> None:
    audit.record(actor, action, workspace_id=schedule.workspace_id, object_id=schedule.pk, name=schedule.name)
    publish_workspace_list_changed(schedule.workspace_id, "schedules")

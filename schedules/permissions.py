"""Rights to schedules, which are those to their chat: its readers see them, editors in it change them."""

from uuid import UUID

from actors.models import Actor
from chats.permissions import ChatVerb, get_chat_for
from common.access import replace_not_found
from common.errors import NotFound
from schedules.models import Schedule


def get_schedule_for(actor: Actor, schedule_id: UUID, verb: ChatVerb) -> Schedule:
    """Lock the chat of a schedule and then the schedule, and return it, if the actor may do this in the chat. Raises `NotFound`,
    `Forbidden`."""
    with replace_not_found("schedule"):
        chat_id = Schedule.objects.filter(pk=schedule_id).values_list("chat", flat=True).first()
        if chat_id is None:
            raise NotFound("There is no such schedule.")
        chat = get_chat_for(actor, chat_id, verb, lock=True)
        schedule = Schedule.objects.select_for_update(of=("self",)).filter(pk=schedule_id).first()
        if schedule is None:
            raise NotFound("There is no such schedule.")
    schedule.chat = chat
    return schedule

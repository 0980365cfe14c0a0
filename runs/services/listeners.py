"""Listeners of the hooks of other apps; `config/hooks.py` lists them."""

from actors.models import Actor
from chats.models import Chat
from chats.services import RowChange
from runs.models import ACTIVE, Run
from runs.services.runs import build_stop_changes


def stop_runs_of_leaver(chat: Chat, actor: Actor, remover: Actor) -> list[RowChange]:
    """Ask the runs of an agent that leaves the chat to stop. Return the changes to be written."""
    runs = Run.objects.filter(chat=chat, agent=actor, state__in=ACTIVE).select_related("agent").order_by("pk")
    return [change for run in runs for change in build_stop_changes(run)]

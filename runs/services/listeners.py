"""Listeners of the hooks of other apps; `config/hooks.py` lists them."""

from actors.models import Actor
from chats.models import Chat, InChat
from runs.models import ACTIVE, Run
from runs.services.runs import build_stop_rows


def stop_runs_of_leaver(chat: Chat, actor: Actor, remover: Actor) -> list[InChat]:
    """Ask the runs of an agent that leaves the chat to stop. Return the rows to be written."""
    runs = Run.objects.filter(chat=chat, agent=actor, state__in=ACTIVE).select_related("agent").order_by("pk")
    return [row for run in runs for row in build_stop_rows(run)]

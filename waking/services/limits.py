"""The limits that end a loop of agents that wake each other, and the line in the chat that says so (RUN18)."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db.models import Q

from actors.models import Actor, Kind
from chats import services as chats
from chats.models import SPOKEN_TYPES, Chat, Message
from common.clock import now
from events.payloads import WakeLimit
from runs.models import Run

MAX_AGENT_HOPS = 4
"""How many messages of agents in a row may wake an agent, counted from the message of a person (RUN18)."""
MAX_WAKES_OF_PAIR = 10
"""How often two agents may wake each other in a chat within `PAIR_WINDOW`. A message of a person starts the count anew. Unlike
hops, it also ends a loop with an outside program that posts as an agent, and of two such programs: their
messages belong to no run."""
PAIR_WINDOW = timedelta(minutes=10)


def is_pair_limit_reached(chat: Chat, author: Actor, agent: Actor) -> bool:
    """Return whether these two agents have woken each other too often in this chat."""
    since = _get_beginning_of_count(chat)
    is_of_pair = Q(agent=agent, woken_by=author) | Q(agent=author, woken_by=agent)
    wakes = Run.objects.filter(is_of_pair, chat=chat, created_at__gt=since)
    count = wakes.order_by().values("pk")[:MAX_WAKES_OF_PAIR].count()
    for woken, other in ((agent, author), (author, agent)):
        if woken.runs_outside:
            # It has no runs: each message that addresses it has woken its program.
            written = Message.objects.filter(chat=chat, type__in=SPOKEN_TYPES, author=other, created_at__gt=since)
            if not chat.is_between_agents:
                written = written.filter(payload__mentions__contains=[str(woken.id)])
            count += written.order_by().values("pk")[:MAX_WAKES_OF_PAIR].count()
    return count >= MAX_WAKES_OF_PAIR


def build_limit_message(chat: Chat, author: Actor, addressed: Sequence[tuple[Actor, str, str | None]]) -> list[Message]:
    """Return the system message that says which agents a limit has kept from being woken: none if there is none, or if the chat
    has such a message since a person wrote."""
    reached: list[tuple[Actor, WakeLimit]] = []
    for agent, _, refusal in addressed:
        if refusal == "too_many_hops":
            reached.append((agent, "hops"))
        elif refusal == "too_many_wakes":
            reached.append((agent, "pair_rate"))
    if not reached:
        return []
    since = _get_beginning_of_count(chat)
    if Message.objects.filter(chat=chat, type="WAKE_LIMIT_REACHED", created_at__gt=since).exists():
        return []
    agent, limit = reached[0]
    most = MAX_AGENT_HOPS if limit == "hops" else MAX_WAKES_OF_PAIR
    names = [other.name for other, _ in reached]
    return [
        chats.build_system_message(
            chat.id, "WAKE_LIMIT_REACHED", actor=author, target=agent, limit=limit, most=most, agent_names=names
        )
    ]


def _get_beginning_of_count(chat: Chat) -> datetime:
    """Return the time of the last message of a person, if it is within `PAIR_WINDOW`, else the beginning of the window."""
    window = now() - PAIR_WINDOW
    written = Message.objects.filter(chat=chat, type__in=SPOKEN_TYPES, author__kind=Kind.HUMAN, created_at__gt=window)
    return written.order_by("-seq").values_list("created_at", flat=True).first() or window

"""The limits that end a loop of agents that wake each other, and the system message about it (RUN18)."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Literal
from uuid import UUID

from django.db.models import Count, Q, QuerySet

from actors.models import Actor, Kind
from chats import services as chats
from chats.models import SPOKEN_TYPES, Chat, Message
from common.clock import now
from events.payloads import WakeLimit
from runs.models import Run

MAX_AGENT_HOPS = 4
"""How many messages of agents in a row may wake an agent, counted from the message of a person (RUN18)."""
MAX_WAKES_OF_PAIR = 10
"""How often two agents may wake each other in a chat within `PAIR_WINDOW`. A message of a person starts the count anew. Unlike the
limit of hops, this one also ends a loop with an outside program that posts as an agent, or of two such programs: their
messages belong to no run, so their hops are not counted."""
PAIR_WINDOW = timedelta(minutes=10)
MAX_WAKES_OF_PAIR_IN_DAY = 50
"""The same within `PAIR_DAY`, for a slower loop, if an outside program posts as one of the two. Two agents without such a program
have no limit for a day, so that schedules may have them work together all day."""
PAIR_DAY = timedelta(days=1)
PairRefusal = Literal["too_many_wakes", "too_many_wakes_in_day"]
_LIMITS: dict[str | None, tuple[WakeLimit, int]] = {
    "too_many_hops": ("hops", MAX_AGENT_HOPS),
    "too_many_wakes": ("pair_rate", MAX_WAKES_OF_PAIR),
    "too_many_wakes_in_day": ("pair_day", MAX_WAKES_OF_PAIR_IN_DAY),
}
MAX_CHANGES_READ = 2_000
"""The newest changes of a chat in which messages are counted, and the last message of a person is looked for."""


def find_agents_woken_too_often(
    chat: Chat, author: Actor, agents: Sequence[Actor], *, is_from_run: bool
) -> dict[UUID, PairRefusal]:
    """Return the agents that have woken the author, or were woken by the author, too often in this chat, each with the limit
    reached. The author is an agent, too. `is_from_run`: a run of the author posts the message, not an outside program. The number
    of queries does not depend on the number of agents."""
    with_program = [agent for agent in agents if agent.runs_outside or not is_from_run]
    found: dict[UUID, PairRefusal] = {}
    found |= dict.fromkeys(
        _find_reached(chat, author, with_program, PAIR_DAY, MAX_WAKES_OF_PAIR_IN_DAY), "too_many_wakes_in_day"
    )
    found |= dict.fromkeys(_find_reached(chat, author, agents, PAIR_WINDOW, MAX_WAKES_OF_PAIR), "too_many_wakes")
    return found


def _find_reached(chat: Chat, author: Actor, agents: Sequence[Actor], window: timedelta, most: int) -> set[UUID]:
    """Return the agents that have reached `most` wakes with the author within the window, counted since a person last wrote."""
    if not agents:
        return set()
    since = now() - window
    counts = _count_wakes(chat, author, agents, since)
    if max(counts.values(), default=0) >= most and (written_at := _find_last_message_of_person(chat, since)):
        counts = _count_wakes(chat, author, agents, written_at)
    return {agent_id for agent_id, count in counts.items() if count >= most}


def _count_wakes(chat: Chat, author: Actor, agents: Sequence[Actor], since: datetime) -> Counter[UUID]:
    """Return for each of these agents how often the author has woken it or been woken by it since then."""
    ids = {agent.id for agent in agents}
    counts: Counter[UUID] = Counter()
    is_of_pair = Q(woken_by=author, agent__in=ids) | Q(agent=author, woken_by__in=ids)
    runs = Run.objects.filter(is_of_pair, chat=chat, created_at__gt=since).order_by()
    for agent_id, woken_by_id, count in runs.values_list("agent", "woken_by").annotate(Count("pk")):
        counts[woken_by_id if agent_id == author.id else agent_id] += count
    # An agent whose program runs outside has no runs: each message that addresses it has woken its program.
    outside = {agent.id for agent in agents if agent.runs_outside}
    writers = ({author.id} if outside else set()) | (ids if author.runs_outside else set())
    written = _list_newest_messages(chat, since).filter(author__in=writers) if writers else Message.objects.none()
    for writer_id, mentions in written.values_list("author", "payload__mentions"):
        woken = outside if writer_id == author.id else {author.id}
        if not chat.is_between_agents:
            woken = woken & {UUID(id) for id in mentions or []}
        for agent_id in woken:
            counts[writer_id if agent_id == author.id else agent_id] += 1
    return counts


def _find_last_message_of_person(chat: Chat, since: datetime) -> datetime | None:
    """Return when a person wrote the last time in this chat since then, as far as the newest messages show it."""
    if chat.is_between_agents:
        return None
    written = _list_newest_messages(chat, since).filter(author__kind=Kind.HUMAN)
    return written.order_by("-seq").values_list("created_at", flat=True).first()


def _list_newest_messages(chat: Chat, since: datetime) -> QuerySet[Message]:
    """Return the messages of people and agents since then, as far as they are among the newest changes of the chat: however
    long a chat is, no more rows are read."""
    newest = Message.objects.filter(chat=chat, seq__gt=chat.version - MAX_CHANGES_READ)
    return newest.filter(type__in=SPOKEN_TYPES, created_at__gt=since)


def build_limit_message(chat: Chat, author: Actor, addressed: Sequence[tuple[Actor, str, str | None]]) -> list[Message]:
    """Return, as a list, the system message that says which agents a limit has kept from being woken. The list is empty if no limit
    was reached, or if the chat has such a message from the last day that no message of a person follows. Lock the chat if a limit
    was reached. `addressed`: each agent with the scope of its memory, and the reason why it cannot be woken, or null."""
    reached = [(agent, _LIMITS[refusal]) for agent, _, refusal in addressed if refusal in _LIMITS]
    if not reached:
        return []
    chats.lock_chat(chat.id)  # of two posts at the same time, the second finds the message of the first
    day = now() - PAIR_DAY
    since = _find_last_message_of_person(chat, day) or day
    newest = Message.objects.filter(chat=chat, seq__gt=chat.version - MAX_CHANGES_READ)
    if newest.filter(type="WAKE_LIMIT_REACHED", created_at__gt=since).exists():
        return []
    agent, (limit, most) = reached[0]
    names = [other.name for other, _ in reached]
    return [
        chats.build_system_message(
            chat.id, "WAKE_LIMIT_REACHED", actor=author, target=agent, limit=limit, most=most, agent_names=names
        )
    ]

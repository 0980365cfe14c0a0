"""Whose texts are in a chat, and the URLs in them. They are checked before a tool acts for an agent (FAIR8, SEC9).

A model may follow an instruction of any author, and repeat it in its answers. The check therefore does not interpret text: it
counts every present and former participant, because the model reads their messages, their names and the title of the chat.

A URL may be fetched if a person named its host in the chat, if the host is in the agent's prompt, or if the result of a tool
contains exactly this URL. The prompt of a public agent comes from outside and allows no host. A result that contains texts of
agents, such as a file that an agent has written, does not count.

The attack: text from outside the workspace makes a model fetch a URL that contains text of the chat. The model makes up such a
URL, so it occurs in no text. It could write it into a file and read it again, which is why texts of agents do not count.
"""

import re
from collections import deque
from collections.abc import Iterable
from threading import Lock
from typing import Any, Literal
from uuid import UUID

from django.db.models import Q, QuerySet
from yarl import URL

from actors.models import Kind
from chats.hooks import find_answers_from_outside
from chats.models import ChatActor, Message
from common.sql_constant import SqlConstant
from events.payloads import TEXT_KINDS
from tools.interface import NO_SUCH_TOOL
from tools.registry import FIND_TOOLS, PLAN_TASKS, registry

MAX_ROWS_READ = 2_000
"""The number of newest messages that are searched."""
MAX_CHARACTERS = 1_000_000
"""The most characters that one call reads of the newest messages of people, and of the newest results of tools; of each, at most
twice as many are kept."""
TEXTS_PER_QUERY = 20
"""Messages that are read in one query. A message may be long."""


def classify_texts_of_others(
    chat_id: UUID, *, agent_id: UUID, workspace_id: UUID, person_id: UUID | None
) -> Literal["others", "outside"] | None:
    """Return the kind of texts that an agent may have read in a chat of this workspace and that are not of this person.

    `outside`: some come from outside the workspace, such as a page, a file or a message of a public agent. `others`: some are of
    other people or agents, and none from outside. Null: there are none. What a public agent reads is always from outside, because
    another workspace has written its prompt.
    """
    # A public agent is not left out. It belongs to no workspace, so what it reads is from outside.
    is_own_agent = Q(actor_id=agent_id, actor__workspace_id=workspace_id)
    others = ChatActor.objects.filter(~is_own_agent, chat_id=chat_id)
    if person_id is not None:
        others = others.exclude(actor_id=person_id)
    found = list(others.values_list("actor__kind", "actor__workspace_id"))
    is_public = any(kind == Kind.AGENT and own_workspace_id != workspace_id for kind, own_workspace_id in found)
    if is_public or _has_text_from_outside(chat_id):
        return "outside"
    return "others" if found else None


def has_run_texts_from_outside(chat_id: UUID, run_id: UUID) -> bool:
    """Return whether a run in this chat has a result of a tool that is not trusted. Results of sub-agents are not."""
    return _list_outside_results(chat_id).filter(run_id=run_id).exists()


def _has_text_from_outside(chat_id: UUID) -> bool:
    """Return whether the chat has a file with a text, a result of a tool that is not trusted, or an answer from such texts.

    Agents read the text of a short file without a call of a tool, and may repeat it in their answers, also when it is deleted."""
    results = _list_outside_results(chat_id)
    # A run wrote its file after a click, if it had read texts from outside. The conditions are those of `important_messages`.
    files = Message.objects.filter(
        chat_id=chat_id, type=SqlConstant("FILE_MESSAGE"), metadata__isnull=True, run_id=None
    )
    files = files.filter(payload__kind__in=sorted(TEXT_KINDS))
    if len(results.values("pk")[:1].union(files.values("pk")[:1], all=True)) > 0:
        return True
    return len(find_answers_from_outside.call(chat_id)) > 0


def _list_outside_results(chat_id: UUID) -> QuerySet[Message]:
    """Return the results of tools in a chat that may contain texts from outside. A tool that no longer exists is not trusted;
    an error of a workspace tool may quote its server. A name that the model has made up is no tool. A call that was refused or
    stopped before it was made has a result that we wrote ourselves."""
    # `find_tools` only returns descriptions that an editor has approved; without it the same texts would be in every request.
    trusted = [FIND_TOOLS, *(name for name, tool in registry.items() if tool.is_trusted)]
    results = Message.objects.filter(chat_id=chat_id, type=SqlConstant("TOOL_RESPONSE")).exclude(
        payload__name__in=trusted
    )
    # The result of a sub-agent that was stopped may quote what the sub-agent had written (`quotes_agents`).
    results = results.exclude(payload__status__in=["rejected", "stopped"], payload__quotes_agents__isnull=True)
    # What was wrong with a plan is our text; what its board brought quotes agents.
    results = results.exclude(payload__name=PLAN_TASKS, payload__quotes_agents__isnull=True)
    # A call that was made has `seconds`. The text alone proves nothing: an error may begin with the name that a server was given.
    return results.exclude(
        payload__status="error", payload__seconds__isnull=True, payload__text__startswith=NO_SUCH_TOOL
    )


class TextSources:
    """The texts of people and the results of tools in a chat. An instance reads each message once (FAIR5). `prompt`: that of the
    agent, empty for a public agent."""

    def __init__(self, chat_id: UUID, prompt: str) -> None:
        self._chat_id = chat_id
        self._prompt = prompt.lower()
        self._written: deque[str] = deque()
        self._results: deque[str] = deque()
        self._seq = 0
        self._lock = Lock()

    def is_url_allowed(self, url: str) -> bool:
        """Return whether an agent with this prompt may fetch `url` in this chat. False for an invalid URL."""
        hosts = _get_hosts(url)
        if not hosts:
            return False
        if any(_contains_host(self._prompt, host) for host in hosts):
            return True
        with self._lock:
            self._read_new()
            is_written = any(_contains_host(text, host) for host in hosts for text in self._written)
            return is_written or any(_contains_url(text, url) for text in self._results)

    def _read_new(self) -> None:
        """Read the messages since the last call, newest first, until the limits are reached."""
        rows = Message.objects.filter(chat=self._chat_id)
        last = rows.order_by("-seq").values_list("seq", flat=True).first() or 0
        first, before = max(self._seq, last - MAX_ROWS_READ) + 1, last + 1
        written, results = _NewestTexts(), _NewestTexts()
        while before > first and not (written.is_full and results.is_full):
            unread = rows.filter(seq__gte=first, seq__lt=before)
            texts = _list_texts(unread, skip_written=written.is_full, skip_results=results.is_full)
            found = list(texts[:TEXTS_PER_QUERY])
            for _, type_, text in found:
                (results if type_ == "TOOL_RESPONSE" else written).add(text or "")
            before = found[-1][0] if len(found) == TEXTS_PER_QUERY else first
        _append_texts(self._written, (text.lower() for text in written.texts))
        _append_texts(self._results, results.texts)
        self._seq = last


class _NewestTexts:
    """Texts, added from the newest to the oldest until they have `MAX_CHARACTERS`."""

    def __init__(self) -> None:
        self.texts: deque[str] = deque()
        self._size = 0

    @property
    def is_full(self) -> bool:
        return self._size >= MAX_CHARACTERS

    def add(self, text: str) -> None:
        if not self.is_full:
            self.texts.appendleft(text)
            self._size += len(text)


def _list_texts(rows: QuerySet[Message], *, skip_written: bool, skip_results: bool) -> QuerySet[Message, Any]:
    """Return `seq`, type and text of messages of people and of results of tools, newest first.

    Without the results that may contain texts of agents.
    """
    # The text of `AGENT_WOKEN` is what an editor has written into a schedule.
    wanted = Q(type="TEXT_MESSAGE", author__kind=Kind.HUMAN) | Q(type__in=["COMPARISON", "AGENT_WOKEN"])
    quoting = [name for name, tool in registry.items() if tool.quotes_agents]
    results = Q(type="TOOL_RESPONSE", payload__status="ok", payload__quotes_agents__isnull=True)
    results &= ~Q(payload__name__in=quoting)
    if skip_written:
        wanted = results
    elif not skip_results:
        wanted |= results
    return rows.filter(wanted).order_by("-seq").values_list("seq", "type", "payload__text")


def _append_texts(texts: deque[str], more: Iterable[str]) -> None:
    """Append texts, and remove the oldest beyond twice `MAX_CHARACTERS`."""
    texts.extend(more)
    while len(texts) > 1 and sum(map(len, texts)) > 2 * MAX_CHARACTERS:
        texts.popleft()


def _get_hosts(url: str) -> set[str]:
    """Return the host of a URL in Unicode and in its IDNA form. Empty for an invalid URL."""
    try:
        parsed = URL(url)
    except (ValueError, UnicodeError):
        return set()
    return {host.lower() for host in (parsed.host, parsed.raw_host) if host}


def _contains_host(text: str, host: str) -> bool:
    """Return whether a lower-case text contains this host, and not only as part of a longer host.

    Only ASCII characters can continue a host: Chinese text follows it without a space.
    """
    if host not in text:
        return False
    return re.search(rf"(?<![a-z0-9_.-]){re.escape(host)}(?![a-z0-9-]|\.[a-z0-9-])", text) is not None


def _contains_url(text: str, url: str) -> bool:
    """Return whether the text contains this URL, and not only a longer one that begins with it."""
    if url not in text:
        return False
    return re.search(rf"{re.escape(url)}(?=[.,;:!?]?(?:[\s)>\]\"'<|]|$))", text) is not None

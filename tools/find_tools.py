"""The tool by which a model finds the tools that its requests do not describe."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from pydantic import Field

from common.text import to_storable
from events.payloads import FoundTool, FoundToolsData
from tools.interface import Tool, ToolArgs, ToolContext, ToolOutput
from tools.registry import FIND_TOOLS

MAX_FOUND = 8
MAX_DESCRIPTION_CHARACTERS = 300
MAX_NAMES_LISTED = 60
"""Names that are listed if nothing was found."""

NAME_WEIGHT, SERVER_WEIGHT, DESCRIPTION_WEIGHT = 3.0, 2.0, 1.0
MIN_SHARE = 0.25
"""A tool is found if its score is at least this part of the best one, so that “the” finds nothing beside a real match."""
MIN_PREFIX = 4
"""Two words of at least so many letters also match if one begins with the other: book, booking."""

_WORD = re.compile(r"[a-z0-9]+")
_HAN = re.compile(r"[\u2e80-\u9fff]+")
_CAMEL_CASE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def list_terms(text: str) -> list[str]:
    """Return the words of a text in lower case, and each two neighbouring Chinese characters, which stand for words."""
    spaced = _CAMEL_CASE.sub(" ", text).lower()
    terms = _WORD.findall(spaced)
    for run in _HAN.findall(spaced):
        terms += [run[at : at + 2] for at in range(max(1, len(run) - 1))]
    return terms


class FindTools(Tool):
    """Find more of your tools. You have more than are listed: look here before you say that you cannot do something. The tools that
    are found are listed from your next step on, and can then be called."""

    name = FIND_TOOLS
    effect = "read"
    Data = FoundToolsData

    class Args(ToolArgs):
        query: str = Field(
            min_length=1, max_length=200, description="What the tool does, or its name, in a few words: book a room."
        )

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._weights = {name: _weigh_terms(tool) for name, tool in self._tools.items()}
        self._frequencies = Counter(term for weights in self._weights.values() for term in weights)

    # A coroutine, so that no transaction is opened: it reads nothing.
    async def run(self, ctx: ToolContext, args: Args) -> ToolOutput:
        query = to_storable(args.query)
        found = self.search(query)
        data = FoundToolsData(query=query, tools=[FoundTool(name=tool.name, server=tool.server_name) for tool in found])
        # The descriptions are texts of other servers and the query is one of the model: no URL in them may be opened.
        return ToolOutput(self._format(found), data, quotes_agents=True)

    def search(self, query: str) -> list[Tool]:
        """Return the tools whose names, servers and descriptions have the most of the query's terms, the best first. A term that
        few tools have counts more, and the exact name of a tool counts most."""
        terms = set(list_terms(query))
        scores = {
            name: sum(self._score(term, weights) for term in terms) + 100 * (name.lower() == query.strip().lower())
            for name, weights in self._weights.items()
        }
        least = MIN_SHARE * max(scores.values(), default=0.0)
        best = sorted(scores, key=lambda name: (-scores[name], name))[:MAX_FOUND]
        return [self._tools[name] for name in best if scores[name] > 0 and scores[name] >= least]

    def _score(self, term: str, weights: dict[str, float]) -> float:
        matching = [known for known in weights if _matches(term, known)]
        return max(
            (weights[known] * math.log(1 + len(self._tools) / self._frequencies[known]) for known in matching),
            default=0.0,
        )

    def _format(self, found: Sequence[Tool]) -> str:
        if found:
            lines = [f"- {_describe(tool)}" for tool in found]
            return "\n".join(["These tools can be called from now on:", *lines])
        names = sorted(self._tools)
        more = f" and {len(names) - MAX_NAMES_LISTED} more" if len(names) > MAX_NAMES_LISTED else ""
        return f"No tool matches this. Use other words, or one of these names: {', '.join(names[:MAX_NAMES_LISTED])}{more}."


def _weigh_terms(tool: Tool) -> dict[str, float]:
    """Return the terms of a tool, each with the highest weight of the texts that have it."""
    weights: dict[str, float] = {}
    # By rising weight, so that a later text replaces the weight of an earlier one.
    texts = ((tool.description, DESCRIPTION_WEIGHT), (tool.server_name, SERVER_WEIGHT), (tool.name, NAME_WEIGHT))
    for text, weight in texts:
        weights |= dict.fromkeys(list_terms(text), weight)
    return weights


def _matches(term: str, known: str) -> bool:
    """Return whether two terms are the same, or one of two words of enough letters begins with the other."""
    if term == known:
        return True
    return min(len(term), len(known)) >= MIN_PREFIX and (known.startswith(term) or term.startswith(known))


def _describe(tool: Tool) -> str:
    text = " ".join(tool.description.split())
    text = text if len(text) <= MAX_DESCRIPTION_CHARACTERS else f"{text[:MAX_DESCRIPTION_CHARACTERS]}…"
    return f"{tool.name} ({tool.server_name}): {text}" if tool.server_name else f"{tool.name}: {text}"

"""How many tokens a text is, about, without a tokenizer."""

import re
from collections.abc import Iterable

from llm.messages import Request, ToolSchema

# Han, kana, Hangul and full-width forms: about a token each. Elsewhere four characters make one.
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]")
_PER_TURN = 4


def estimated_tokens(text: str) -> int:
    """About how many tokens `text` is; within a third for English and Chinese."""
    wide = len(_WIDE.findall(text))
    return wide + (len(text) - wide + 3) // 4


def estimated_input(request: Request) -> int:
    """About how many tokens a request is, its tools included."""
    return sum(estimated_tokens(text) + _PER_TURN for text in _texts(request))


def text_of_tool(tool: ToolSchema) -> str:
    """About what a model reads of a tool that it is offered."""
    return f"{tool.name}{tool.description}{tool.parameters}"


def _texts(request: Request) -> Iterable[str]:
    for turn in request.turns:
        yield turn.text
        for call in turn.calls:
            yield f"{call.name}{call.arguments}"
    for tool in request.tools:
        yield text_of_tool(tool)

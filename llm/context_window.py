"""Compute the budget of a conversation in estimated tokens, and shorten conversations to a budget."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace

from django.conf import settings

from events.payloads import ContextLimit
from llm.messages import ToolSchema, Turn
from llm.prices import get_answer_size, get_context_size
from llm.protocol import Endpoint
from llm.tokens import estimate_tokens, format_tool

DEFAULT_BUDGET = 24_000
"""Tokens of the conversation without the system text: the size of the demo model, and the default of `build_transcript`."""
MIN_BUDGET = 1_000
"""Tokens that are always sent, at most half of the model's size. If they are too many for the model, it reports that itself."""
MAX_FOR_ANSWER = 16_000
"""Tokens that are reserved for an answer, at most a quarter of the model's size."""
SHARE_WITHOUT_FACTOR = 0.75
"""The part of the remaining tokens that is used: estimates are wrong by up to a third."""
SHARE_WITH_FACTOR = 0.85
"""The same for a model whose `factor` is known (`get_context_budget`). The remaining error was measured (docs/context.md)."""
MIN_PART = 500
"""Tokens that must be left to include a message that has to be shortened."""
MIN_SECTION = 250
"""The fewest tokens to which a part of the system text is shortened. With fewer, its first and last lines would be cut."""
TOKENS_PER_TURN = 4
TOKENS_PER_IMAGE = 1_000
LEFT_OUT = "Older messages of this chat are left out."
CUT = "[{count:,} characters are left out here, because the whole is too long for this model.]"
"""The line in the middle of a shortened text."""


def get_model_size(endpoint: Endpoint, model: str) -> int:
    """Return how many tokens the model can read, at most `LLM_MAX_CONTEXT`: as many as people have set or its server has
    shown, else by the list of prices, else `LLM_CONTEXT_SIZE`."""
    if endpoint.provider == "demo":
        return DEFAULT_BUDGET
    known = endpoint.context_size or get_context_size(endpoint, model) or settings.LLM_CONTEXT_SIZE
    return int(min(known, settings.LLM_MAX_CONTEXT))


def find_context_limit(
    endpoint: Endpoint, model: str, of_workspace: int | None, of_agent: int | None
) -> tuple[int, ContextLimit]:
    """Return how many tokens a run may read, and whose limit that is: of the model, or a lower one of the workspace or agent."""
    limits: list[tuple[int | None, ContextLimit]] = [
        (get_model_size(endpoint, model), "model"),
        (of_workspace, "workspace"),
        (of_agent, "agent"),
    ]
    return min((limit, by) for limit, by in limits if limit is not None)


def get_context_budget(
    endpoint: Endpoint,
    model: str,
    max_tokens: int | None,
    system: str,
    tools: Iterable[ToolSchema],
    size: int | None = None,
    factor: float | None = None,
) -> int:
    """Return the budget of a conversation, in tokens of our estimate: the model's size, or a smaller `size` that people have set,
    without the system text, the tools and the answer.

    `factor`: how many tokens the model counts for one of the estimate; null: not known yet.
    """
    if size is None:
        size = get_model_size(endpoint, model)
    if endpoint.provider == "demo":
        return size
    answer = min(max_tokens or get_answer_size(endpoint, model) or MAX_FOR_ANSWER, MAX_FOR_ANSWER, size // 4)
    fixed = estimate_tokens(system) + sum(estimate_tokens(format_tool(tool)) for tool in tools)
    share = SHARE_WITHOUT_FACTOR if factor is None else SHARE_WITH_FACTOR
    return max(min(MIN_BUDGET, size // 2), int(((size - answer) / (factor or 1.0) - fixed) * share))


def estimate_tokens_of_turns(turns: Iterable[Turn]) -> int:
    """Return an estimate of the tokens of these turns."""
    total = 0
    for turn in turns:
        total += TOKENS_PER_TURN + estimate_tokens(turn.text) + TOKENS_PER_IMAGE * len(turn.images)
        total += sum(estimate_tokens(call.name) + estimate_tokens(call.arguments) for call in turn.calls)
        total += estimate_tokens(turn.provider_fields.text) if turn.provider_fields else 0
    return total


def shorten_turns(turns: Sequence[Turn], budget: int | None = None) -> list[Turn]:
    """Return the newest part of a conversation that fits into the budget; by default, into half of its present size. Calls stay
    with their results."""
    system, rest = turns[0], turns[1:]
    blocks: list[list[Turn]] = []
    for turn in rest:
        if turn.role == "tool" and blocks:
            blocks[-1].append(turn)
        else:
            blocks.append([turn])
    text = system.text.removesuffix(f"\n\n{LEFT_OUT}")
    return fit_blocks(text, blocks, estimate_tokens_of_turns(rest) // 2 if budget is None else budget)


def compute_budget_of_size(size: int, system: Turn) -> int:
    """Return a budget for turns beside this system text that surely fits into a size that a model has stated, without a quarter of
    it for the answer; 0 if too little is left."""
    left = int((size - size // 4) * SHARE_WITHOUT_FACTOR) - estimate_tokens(system.text)
    return left if left >= MIN_SECTION else 0


def shorten_section(text: str) -> str:
    """Return a part of a system text, shortened in its middle to half of its size, at least `MIN_SECTION`. The lines at its
    beginning and its end, which mark it as data, stay whole. Return an empty text for a shorter part: it is left out."""
    size = estimate_tokens(text)
    return _cut_text(text, max(size // 2, MIN_SECTION)) if size > MIN_SECTION else ""


def fit_blocks(system: str, blocks: Sequence[list[Turn]], budget: int) -> list[Turn]:
    """Return the system text and the turns of the newest blocks that fit into the budget. The turns of a block, for example a call
    and its result, are included or left out together. The texts of the oldest of these blocks may be shortened to fit.

    The last block and the block that the run answers are always included; they are shortened when they are too long.
    """
    included = {index: block for index, block in enumerate(blocks) if any(turn.is_trigger for turn in block)}
    if blocks:
        included[len(blocks) - 1] = blocks[-1]
    limit = _compute_limit([estimate_tokens_of_turns(block) for block in included.values()], budget)
    included = {index: _shorten_block(block, limit) for index, block in included.items()}
    budget -= sum(estimate_tokens_of_turns(block) for block in included.values())
    for index in reversed(range(len(blocks))):
        if index in included:
            continue
        size = estimate_tokens_of_turns(blocks[index])
        if budget < MIN_PART and size > budget:
            break
        included[index] = _shorten_block(blocks[index], budget)
        budget -= size  # negative after a block that was shortened: no older one fits
    if len(included) < len(blocks):
        system = f"{system}\n\n{LEFT_OUT}"
    return [Turn("system", system), *(turn for _, block in sorted(included.items()) for turn in block)]


def _shorten_block(block: list[Turn], budget: int) -> list[Turn]:
    """Shorten a block, so that it fits into the budget if possible: leave out what its provider attached, which cannot be
    shortened, then shorten its longest texts."""
    if estimate_tokens_of_turns(block) <= budget:
        return block
    block = [replace(turn, provider_fields=None) for turn in block]
    total = estimate_tokens_of_turns(block)
    if total <= budget:
        return block
    texts = [turn.text for turn in block] + [call.arguments for turn in block for call in turn.calls]
    sizes = [estimate_tokens(text) for text in texts]
    limit = _compute_limit(sizes, budget - (total - sum(sizes)))
    shortened: list[Turn] = []
    for turn in block:
        calls = tuple(replace(call, arguments=_cut_arguments(call.arguments, limit)) for call in turn.calls)
        shortened.append(replace(turn, text=_cut_text(turn.text, limit), calls=calls))
    return shortened


def _compute_limit(sizes: Iterable[int], budget: int) -> int:
    """Return the size to which the largest texts must be shortened, so that all together fit into the budget."""
    ordered = sorted(sizes)
    for index, size in enumerate(ordered):
        share = budget // (len(ordered) - index)
        if size > share:
            return share
        budget -= size
    return ordered[-1] if ordered else 0


def _cut_text(text: str, limit: int) -> str:
    """Return the beginning and the end of a text that has more than `limit` tokens, with a line between them. Return the whole
    text if the shortened one would not be shorter."""
    size = estimate_tokens(text)
    if size <= limit:
        return text
    available = limit - estimate_tokens(CUT.format(count=len(text))) - 1
    length = max(0, len(text) * available // size)
    while True:
        first, last = text[: length - length // 2], text[len(text) - length // 2 :]
        if not length or estimate_tokens(first + last) <= available:
            break
        length = length * 9 // 10
    result = "\n".join(part for part in (first, CUT.format(count=len(text) - length), last) if part)
    return result if len(result) < len(text) else text


def _cut_arguments(arguments: str, limit: int) -> str:
    """Return the arguments of a call or, if they are too long, a JSON object that says how many characters are left out."""
    if estimate_tokens(arguments) <= limit:
        return arguments
    result = json.dumps({"left_out": CUT.format(count=len(arguments))})
    return result if len(result) < len(arguments) else arguments

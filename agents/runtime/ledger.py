"""The ledger: a row for each request to a model, whatever came of it (B2)."""

from typing import Any

from agents.llm.exchange import Answer
from agents.llm.protocol import LLMError
from agents.models import LLMCall, Run
from agents.runtime.answer_rows import Means
from common.writing import insert


def keep_answer(run: Run, number: int, answer: Answer, means: Means) -> None:
    """What an answer took."""
    usage, first = answer.usage, answer.first_token_s
    _keep(
        run, number, means, input_tokens=usage.input_tokens, output_tokens=usage.output_tokens,
        tokens_estimated=usage.estimated, cost_micro=usage.cost_micro, tries=answer.tries, finish=answer.finish,
        first_token_ms=None if first is None else round(first * 1000), total_ms=round(answer.seconds * 1000),
    )  # fmt: skip


def keep_failure(run: Run, error: LLMError, means: Means) -> None:
    """A request that did not end in an answer."""
    _keep(run, run.steps_done + 1, means, tries=error.tries, error_code=error.code[:40])


def _keep(run: Run, number: int, means: Means, **facts: Any) -> None:
    call = LLMCall(
        run=run, step_number=number, attempt=run.attempt, workspace_id=run.payer_id, agent_id=run.agent_id,
        spec_id=run.spec_id, on_behalf_of_id=run.on_behalf_of_id, provider=means.endpoint.provider,
        model=means.model[:200], paid_by=means.endpoint.paid_by, **facts,
    )  # fmt: skip
    insert([call])

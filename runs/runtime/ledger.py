"""The ledger: a row for each request to a model, whatever came of it."""

from typing import Any
from uuid import UUID

from common.writing import RowUpdate, insert
from llm.messages import Answer, Usage
from llm.protocol import Endpoint, LLMError, Trial
from runs.models import LLMCall, Run
from runs.runtime.answer_rows import ResolvedModel


def record_llm_call(run: Run, number: int, answer: Answer, model: ResolvedModel) -> None:
    """What an answer took."""
    first = answer.first_token_s
    _keep(
        run, number, model, answer.usage, tries=answer.tries, finish=answer.finish,
        first_token_ms=None if first is None else round(first * 1000), total_ms=round(answer.seconds * 1000),
    )  # fmt: skip


def record_failed_llm_call(update: RowUpdate[Run], error: LLMError, model: ResolvedModel) -> None:
    """Record a request that did not end in an answer, and add what it took to the run."""
    run = update.row
    usage = error.usage or Usage()
    _keep(run, run.steps_done + 1, model, usage, tries=error.tries, error_code=error.code[:40])
    add_usage(update, usage)


def add_usage(update: RowUpdate[Run], usage: Usage) -> None:
    """Add to what a run took so far."""
    run = update.row
    update.set(
        input_tokens=run.input_tokens + usage.input_tokens, output_tokens=run.output_tokens + usage.output_tokens,
        cost_micro=run.cost_micro + (usage.cost_micro or 0),
    )  # fmt: skip


def save_trial(workspace_id: UUID, person_id: UUID, endpoint: Endpoint, model: str, trial: Trial) -> None:
    """Store what trying a model took: it belongs to a person and to no run."""
    paid_by = "demo" if endpoint.provider == "demo" else endpoint.paid_by
    call = LLMCall(
        workspace_id=workspace_id, on_behalf_of_id=person_id, step_number=0, attempt=1, provider=endpoint.provider,
        model=model[:200], paid_by=paid_by, finish=trial.finish, error_code=trial.code[:40],
        first_token_ms=round(trial.seconds * 1000), total_ms=round(trial.total * 1000), **_tokens(trial.usage),
    )  # fmt: skip
    insert([call])


def _keep(run: Run, number: int, model: ResolvedModel, usage: Usage, **facts: Any) -> None:
    call = LLMCall(
        run=run, step_number=number, attempt=run.attempt, workspace_id=run.payer_id, agent_id=run.agent_id,
        spec_id=run.spec_id, on_behalf_of_id=run.on_behalf_of_id, provider=model.endpoint.provider,
        model=model.name[:200], paid_by=model.endpoint.paid_by, **_tokens(usage), **facts,
    )  # fmt: skip
    insert([call])


def _tokens(usage: Usage) -> dict[str, Any]:
    return {
        "input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens, "tokens_estimated": usage.estimated,
        "cost_micro": usage.cost_micro,
    }  # fmt: skip

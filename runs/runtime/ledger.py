"""Write the ledger: an entry for each request to a model, whatever its result was."""

from typing import Any
from uuid import UUID

from common.writing import RowUpdate, insert
from llm.messages import Answer, Usage
from llm.protocol import Endpoint, LLMError, ModelTestResult
from runs.models import LLMCall, Run
from runs.runtime.rows import ResolvedModel


def record_llm_call(update: RowUpdate[Run], model: ResolvedModel, result: Answer | LLMError) -> None:
    """Record a request of a run, which ended in an answer or an error, and add its usage to the run."""
    fields: dict[str, Any] = {}
    if isinstance(result, Answer):
        first = result.first_token_s
        fields["finish"] = result.finish
        fields["first_token_ms"] = None if first is None else round(first * 1000)
        fields["total_ms"] = round(result.seconds * 1000)
    else:
        fields["error_code"] = result.code[:40]
    run, usage = update.row, result.usage or Usage()
    call = LLMCall(
        run=run,
        step_number=run.steps_done + 1,
        attempt=run.attempt,
        workspace_id=run.payer_id,
        agent_id=run.agent_id,
        spec_id=run.spec_id,
        on_behalf_of_id=run.on_behalf_of_id,
        tries=result.tries,
        **_build_fields(model, usage),
        **fields,
    )
    insert([call])
    update.set(
        input_tokens=run.input_tokens + usage.input_tokens,
        output_tokens=run.output_tokens + usage.output_tokens,
        cost_micro=run.cost_micro + (usage.cost_micro or 0),
    )


def record_model_test(
    workspace_id: UUID, person_id: UUID, endpoint: Endpoint, model: str, result: ModelTestResult
) -> None:
    """Record the request of a model test. It belongs to a person, not to a run."""
    call = LLMCall(
        workspace_id=workspace_id,
        on_behalf_of_id=person_id,
        step_number=0,
        attempt=1,
        finish=result.finish,
        error_code=result.code[:40],
        first_token_ms=round(result.seconds * 1000),
        total_ms=round(result.total * 1000),
        **_build_fields(ResolvedModel(endpoint, model), result.usage),
    )
    insert([call])


def _build_fields(model: ResolvedModel, usage: Usage) -> dict[str, Any]:
    endpoint = model.endpoint
    return {
        "provider": endpoint.provider,
        "model": model.name[:200],
        "paid_by": "demo" if endpoint.provider == "demo" else endpoint.paid_by,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "tokens_estimated": usage.estimated,
        "cost_micro": usage.cost_micro,
    }

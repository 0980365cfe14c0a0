"""Write the usage of a run's requests to the ledger and to the run."""

from common.writing import RowUpdate, WriteBatch
from llm.messages import Answer
from llm.protocol import Endpoint, LLMError
from llm.sent_requests import RequestKey, RequestRecorder
from runs.models import Run
from runs.runtime.claimed_run import ClaimedRun
from usage.owners import ResolvedModel, UsageOwner
from usage.rules import read_rules, resolve_model
from usage.services import record_call


def build_usage_owner(run: Run) -> UsageOwner:
    """Return whose usage the request of the run's next step is."""
    return UsageOwner(
        workspace_id=run.payer_id,
        on_behalf_of_id=run.on_behalf_of_id,
        run_id=run.id,
        tree_id=run.tree_id,
        chat_id=run.chat_id,
        agent_id=run.agent_id,
        spec_id=run.spec_id,
        is_draft=bool(run.stamp and run.stamp.get("draft_apply")),
        step_number=run.steps_done + 1,
        attempt=run.attempt,
    )


def resolve_model_of_run(claimed: ClaimedRun, endpoint: Endpoint, name: str) -> ResolvedModel:
    """Return a model with its price and the budgets that limit this run. Makes a query only if the claim has not read them."""
    rules = claimed.usage_rules or read_rules(claimed.row.payer_id)
    return resolve_model(endpoint, name, build_usage_owner(claimed.row), rules)


def record_llm_call(
    update: RowUpdate[Run],
    model: ResolvedModel,
    result: Answer | LLMError,
    recorder: RequestRecorder | None,
    *,
    batch: WriteBatch | None = None,
) -> None:
    """Record a request of a run, which ended in an answer or an error, and add its usage to the update of the run. `recorder`: that
    of the run, which has the request. `batch`: see `record_call`."""
    run = update.row
    owner = build_usage_owner(run)
    key = RequestKey(owner.step_number, owner.attempt)
    sent = recorder.encode_current(key) if recorder is not None else None
    usage = record_call(owner, model, result, request=sent, batch=batch)
    update.set(
        input_tokens=run.input_tokens + usage.input_tokens,
        output_tokens=run.output_tokens + usage.output_tokens,
        cost_micro=run.cost_micro + (usage.cost_micro or 0),
    )

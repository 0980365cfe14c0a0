"""Claim and end jobs in a test, without a worker and a model."""

from common.secrets import Secret
from llm.messages import Answer, Usage
from llm.protocol import Endpoint
from runs.models import Run
from runs.runtime.steps import LoopEnded, ModelAnswered, StepId
from runs.services import claims
from tests.recorder import Recorder
from usage.owners import ResolvedModel

MODEL = ResolvedModel(Endpoint("openai", None, Secret(""), "workspace"), "gpt")
DEMO_MODEL = ResolvedModel(Endpoint("demo", None, Secret(""), "demo"), "demo")


def claim_job(run: Run, owner: str = "here:1:a") -> Run:
    """Claim a job as a worker does. Fails if the job ends instead, e.g. because its person has left."""
    claimed = claims.claim_run(run.id, owner)
    assert claimed is not None, "the job has ended, or another one with its concurrency key is running"
    return claimed.row


def answer_job(run: Run, text: str, model: ResolvedModel = MODEL) -> Run:
    """Claim the job if necessary, and store this answer. The listeners of `runs_ended` are called."""
    run = run if run.state == "running" else claim_job(run)
    assert run.message_id is not None
    answer = Answer(text, "", (), Usage(7, len(text), cost_micro=3), "stop", model.name)
    Recorder(run, model).record_answer(ModelAnswered(StepId(run.steps_done + 1, run.message_id), answer))
    return Run.objects.get(pk=run.pk)


def fail_job(run: Run, code: str = "server") -> Run:
    """Claim the job if necessary, and let it fail."""
    run = run if run.state == "running" else claim_job(run)
    Recorder(run, MODEL).record_loop_end(LoopEnded("failed", code, "The model's server failed."))
    return Run.objects.get(pk=run.pk)

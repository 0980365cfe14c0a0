"""Jobs done in a test without a worker or a model: claimed as a worker would, and ended by words of the test's own."""

from common.secrets import Secret
from llm.messages import Answer, Usage
from llm.protocol import Endpoint
from runs.models import Run
from runs.runtime.rows import ResolvedModel
from runs.runtime.steps import ModelAnswered, RunEnded, StepId
from runs.services import claims
from tests.recorder import Recorder

MEANS = ResolvedModel(Endpoint("demo", None, Secret(""), "demo"), "demo")


def begin_job(run: Run, owner: str = "here:1:a") -> Run:
    """As it is after a worker has claimed it. Fails when it ends instead, e.g. because its person is gone."""
    begun = claims.claim_run(run.id, owner)
    assert begun is not None, "the job has ended instead, or another of its concurrency_key is at work"
    return begun


def answer_job(run: Run, text: str, model: ResolvedModel = MEANS) -> Run:
    """Begun unless it is, and answered with this; the listeners of `job_ended` have run."""
    run = run if run.state == "running" else begin_job(run)
    assert run.message_id is not None
    answer = Answer(text, "", (), Usage(7, len(text), cost_micro=3), "stop", model.name)
    Recorder(run, model).record_answer(ModelAnswered(StepId(run.steps_done + 1, run.message_id), answer))
    return Run.objects.get(pk=run.pk)


def fail_job(run: Run, code: str = "server", text: str = "The model's server failed.") -> Run:
    """Begun unless it is, and failed."""
    run = run if run.state == "running" else begin_job(run)
    Recorder(run, MEANS).record_end(RunEnded("failed", code, text))
    return Run.objects.get(pk=run.pk)

"""Jobs done in a test without a worker or a model: claimed as a worker would, and ended by words of the test's own."""

from agents.llm.exchange import Answer, Usage
from agents.llm.protocol import Endpoint
from agents.models import Run
from agents.runtime.answer_rows import Means
from agents.runtime.job_recorder import JobRecorder
from agents.runtime.steps import Answered, Ended, StepId
from agents.services import claims
from common.secrets import Secret

MEANS = Means(Endpoint("demo", None, Secret(""), "demo"), "demo")


def begin_job(run: Run, owner: str = "here:1:a") -> Run:
    """As it is after a worker has claimed it. Fails when it ends instead, e.g. because its person is gone."""
    begun = claims.claim(run.id, owner)
    assert begun is not None, "the job has ended instead, or another of its lane is at work"
    return begun


def answer_job(run: Run, text: str, means: Means = MEANS) -> Run:
    """Begun unless it is, and answered with this; the listeners of `job_ended` have run."""
    run = run if run.state == "running" else begin_job(run)
    assert run.message_id is not None
    answer = Answer(text, "", (), Usage(7, len(text), cost_micro=3), "stop", means.model)
    JobRecorder(run, means).answered(Answered(StepId(run.steps_done + 1, run.message_id), answer))
    return Run.objects.get(pk=run.pk)


def fail_job(run: Run, code: str = "server", text: str = "The model's server failed.") -> Run:
    """Begun unless it is, and failed."""
    run = run if run.state == "running" else begin_job(run)
    JobRecorder(run, MEANS).ended(Ended("failed", code, text))
    return Run.objects.get(pk=run.pk)

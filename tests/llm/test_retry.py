"""Only `llm.retry` retries requests, within limits, and never after the first chunk."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import replace

import pytest

from common.egress import close_sessions
from common.secrets import Secret
from llm import retry
from llm.client import get_model
from llm.messages import Answer, Chunk, ModelRequest, Turn, Usage
from llm.protocol import LLM, Endpoint, LLMError, Timeouts
from llm.retry import Breaker, RetryingModel
from tests.scripted_model import ScriptedModel

ASK = ModelRequest("m", [Turn("user", "Hello")])
ANSWER = Answer("Hi", "", (), Usage(), "stop", "m")


class FailingModel:
    """Raises the given errors, one per request; then it answers. A chunk comes before each error if `shows`."""

    def __init__(self, *errors: LLMError, shows: bool = False) -> None:
        self.errors = list(errors)
        self.shows = shows
        self.asked = 0

    async def ask(self, request: ModelRequest) -> AsyncGenerator[Chunk | Answer, None]:
        self.asked += 1
        if self.shows:
            yield Chunk("text", "Hi")
        if self.errors:
            raise self.errors.pop(0)
        yield ANSWER


@pytest.fixture(autouse=True)
def reset_breakers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove the breakers of other tests, and shorten the waits."""
    monkeypatch.setattr(retry, "BASE_DELAY_SECONDS", 0.002)
    retry._breakers.clear()


def build_retrying_model(llm: LLM, breaker: Breaker | None = None, slept: list[float] | None = None) -> RetryingModel:
    """Retry without waiting; `slept` gets the requested waits."""
    kept = breaker or Breaker()

    async def sleep(seconds: float) -> None:
        (slept if slept is not None else []).append(seconds)

    return RetryingModel(llm, lambda _: kept, rng=lambda: 0.5, sleep=sleep)


def error(code: str = "server", *, retryable: bool = True, retry_after: float | None = None) -> LLMError:
    return LLMError(code, "no", retryable=retryable, retry_after=retry_after)


async def all_of(llm: LLM) -> list[Chunk | Answer]:
    return [part async for part in llm.ask(ASK)]


async def failure_of(llm: LLM) -> LLMError:
    with pytest.raises(LLMError) as raised:
        await all_of(llm)
    return raised.value


async def test_RUN20_requests_are_retried_with_increasing_waits() -> None:
    slept: list[float] = []
    model = FailingModel(error(), error())
    (answer,) = await all_of(build_retrying_model(model, slept=slept))
    assert isinstance(answer, Answer)
    assert (answer.text, answer.tries, model.asked) == ("Hi", 3, 3)
    assert slept == [0.002, 0.004]


async def test_RUN20_after_three_tries_the_error_is_raised() -> None:
    model = FailingModel(*[error() for _ in range(9)])
    failed = await failure_of(build_retrying_model(model))
    assert (failed.code, failed.tries, model.asked) == ("server", 3, 3)


async def test_RUN20_the_wait_of_the_provider_is_kept() -> None:
    slept: list[float] = []
    await all_of(build_retrying_model(FailingModel(error("rate_limited", retry_after=7.0)), slept=slept))
    assert slept == [7.0005]


async def test_RUN20_a_request_is_not_retried_after_a_wait_that_is_too_long() -> None:
    slept: list[float] = []
    model = FailingModel(error("rate_limited", retry_after=3600))
    assert (await failure_of(build_retrying_model(model, slept=slept))).retry_after == 3600
    assert (model.asked, slept) == (1, [])


@pytest.mark.parametrize("code", ["refused", "bad_request", "not_found", "host_refused", "timeout_total"])
async def test_errors_that_a_retry_cannot_resolve_are_not_retried(code: str) -> None:
    model = FailingModel(error(code, retryable=False))
    assert (await failure_of(build_retrying_model(model))).code == code
    assert model.asked == 1


@pytest.mark.parametrize("code", ["cut", "timeout_first"])
async def test_RUN11_a_broken_stream_is_requested_only_once_more(code: str) -> None:
    model = FailingModel(*[error(code) for _ in range(9)])
    assert (await failure_of(build_retrying_model(model))).tries == 2
    assert model.asked == 2


async def test_RUN11_a_request_is_not_retried_after_the_first_chunk() -> None:
    model = FailingModel(error("cut"), shows=True)
    assert (await failure_of(build_retrying_model(model))).code == "cut"
    assert model.asked == 1


async def test_RUN20_requests_to_an_endpoint_that_keeps_failing_pause() -> None:
    breaker, model = Breaker(), FailingModel(*[error() for _ in range(99)])
    for _ in range(9):
        await failure_of(build_retrying_model(model, breaker))
    assert model.asked == retry.MAX_FAILURES_IN_ROW
    resting = await failure_of(build_retrying_model(model, breaker))
    assert model.asked == retry.MAX_FAILURES_IN_ROW
    assert (resting.code, resting.retryable) == ("server", True)
    assert resting.retry_after is not None


async def test_RUN20_a_failed_request_raises_its_own_error_and_not_that_of_the_pause() -> None:
    breaker, model = Breaker(), FailingModel(error("timeout_first"), error())

    async def sleep(seconds: float) -> None:
        for _ in range(retry.MAX_FAILURES_IN_ROW):
            breaker.record_failure(error("timeout_idle"), asyncio.get_running_loop().time())

    found = await failure_of(RetryingModel(model, lambda _: breaker, sleep=sleep))
    assert (found.code, found.tries, model.asked) == ("timeout_first", 1, 1)


async def test_RUN20_after_the_pause_one_request_is_sent_and_its_success_ends_the_pause() -> None:
    breaker, model = Breaker(), FailingModel(*[error() for _ in range(retry.MAX_FAILURES_IN_ROW)])
    for _ in range(9):
        await failure_of(build_retrying_model(model, breaker))
    breaker.until = 0
    breaker.check(100.0)
    with pytest.raises(LLMError):
        breaker.check(100.0)
    breaker.until = 0
    assert await all_of(build_retrying_model(model, breaker)) == [ANSWER]
    assert breaker.failures == 0


async def test_RUN20_a_wrong_request_after_the_pause_leaves_the_test_of_the_endpoint_to_the_next_one() -> None:
    breaker, model = Breaker(), FailingModel(*[error() for _ in range(retry.MAX_FAILURES_IN_ROW)])
    for _ in range(9):
        await failure_of(build_retrying_model(model, breaker))
    breaker.until = 0
    model.errors.append(error("context", retryable=False))
    assert (await failure_of(build_retrying_model(model, breaker))).code == "context"
    assert await all_of(build_retrying_model(model, breaker)) == [ANSWER]
    assert breaker.failures == 0


async def test_RUN20_an_answer_counts_as_a_success_if_its_reader_stops_there() -> None:
    """As the loop does: failures that answers lie between are not failures in a row."""
    breaker, model = Breaker(), FailingModel(*[error() for _ in range(retry.MAX_FAILURES_IN_ROW - 1)])
    for _ in range(3):
        await failure_of(build_retrying_model(model, breaker))
    asking = build_retrying_model(model, breaker).ask(ASK)
    assert await anext(asking) == replace(ANSWER, tries=1)
    await asking.aclose()
    assert breaker.failures == 0


async def test_an_invalid_request_does_not_count_as_a_failure_of_the_endpoint() -> None:
    breaker = Breaker()
    for _ in range(20):
        await failure_of(build_retrying_model(FailingModel(error("bad_request", retryable=False)), breaker))
    assert await all_of(build_retrying_model(FailingModel(), breaker)) == [ANSWER]


# --- over HTTP ------------------------------------------------------------------------------------------------


@pytest.fixture
async def scripted(server: ScriptedModel, settings) -> AsyncIterator[ScriptedModel]:
    server.reset()
    settings.ALLOW_PRIVATE_HOSTS = frozenset({server.host})
    yield server
    await close_sessions()


def at(scripted: ScriptedModel, tenant: str = "") -> LLM:
    endpoint = Endpoint("openai_compatible", scripted.api_base, Secret("k" * 20), "workspace")
    return get_model(endpoint, Timeouts(), tenant=tenant)


async def test_RUN20_get_model_retries_until_the_request_succeeds(scripted: ScriptedModel) -> None:
    scripted.script(text="Hello again.")
    scripted.script(mode="status", status=529, times=2)
    *_, answer = await all_of(at(scripted))
    assert isinstance(answer, Answer)
    assert (answer.text, answer.tries) == ("Hello again.", 3)
    assert len(scripted.requests) == 3


@pytest.mark.parametrize("status", [429, 500, 529])
async def test_RUN20_a_hundred_runs_send_few_requests_to_a_failing_endpoint(
    scripted: ScriptedModel, status: int
) -> None:
    scripted.script(mode="status", status=status)
    results = await asyncio.gather(*(all_of(at(scripted)) for _ in range(100)), return_exceptions=True)
    assert all(isinstance(result, LLMError) for result in results)
    assert len(scripted.requests) <= 300


async def test_failures_of_one_tenant_pause_the_model_for_no_other(scripted: ScriptedModel) -> None:
    """Also if all tenants use the operator's key."""
    scripted.script(mode="status", status=500)
    for _ in range(5):
        await failure_of(at(scripted, tenant="one"))
    assert len(scripted.requests) == retry.MAX_FAILURES_IN_ROW
    scripted.reset()
    scripted.script(text="Here I am.")
    *_, answer = await all_of(at(scripted, tenant="another"))
    assert isinstance(answer, Answer)
    assert answer.text == "Here I am."


async def test_RUN11_an_end_before_the_first_chunk_is_retried_once(scripted: ScriptedModel) -> None:
    scripted.script(text="Here I am.")
    scripted.script(mode="cleancut", after=0, times=1)
    *_, answer = await all_of(at(scripted))
    assert isinstance(answer, Answer)
    assert (answer.text, answer.tries) == ("Here I am.", 2)


async def test_only_a_long_wait_before_a_retry_is_announced() -> None:
    announced: list[float] = []

    async def announce(seconds: float) -> None:
        announced.append(seconds)

    async def sleep(seconds: float) -> None:
        assert len(announced) == int(seconds >= 2), "announced before the wait"

    model = FailingModel(error(), error("rate_limited", retry_after=7.0))
    await all_of(RetryingModel(model, lambda _: Breaker(), rng=lambda: 0.5, sleep=sleep, announce=announce))
    assert announced == [pytest.approx(7.001)]


async def test_a_check_that_fails_after_a_try_tells_the_number_of_tries() -> None:
    checks = 0

    async def check() -> None:
        nonlocal checks
        checks += 1
        if checks == 2:
            raise LLMError("llm_profile_withdrawn", "The model was deleted.", tries=0)

    model = RetryingModel(FailingModel(error()), lambda _: Breaker(), rng=lambda: 0.5, check=check)
    failed = await failure_of(model)
    assert (failed.code, failed.tries) == ("llm_profile_withdrawn", 1)

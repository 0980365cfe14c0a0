"""Slow servers on private addresses, and servers that restart: time limits, waits, and what people read of a failure."""

from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from common.secrets import Secret
from config.checks import check_model_limits, check_private_hosts, refuse_to_serve_unsafely
from llm.client import PRIVATE_TIMEOUTS, get_model, get_timeouts
from llm.messages import Answer
from llm.model_list import list_models
from llm.protocol import Endpoint, LLMError, Timeouts
from llm.retry import Breaker, RetryingModel, _breakers
from tests.hostile_web import FakeDns
from tests.llm.adapter import ASK, KEY, build_adapter, failure_of, scripted
from tests.llm.test_retry import FailingModel, all_of, build_retrying_model, error
from tests.llm.test_retry import failure_of as retried_failure_of
from tests.scripted_model import ScriptedModel

__all__ = ["scripted"]

GPU = "gpu.lan:11434"


@pytest.mark.parametrize(
    ("api_base", "is_private"),
    [
        (f"http://{GPU}/v1", True),
        ("http://192.168.1.7:8080/v1", True),
        ("http://10.0.0.1/v1", True),
        ("http://localhost:1234/v1", True),
        ("http://[fd00::1]:8000/v1", True),
        ("http://models.internal/v1", True),
        ("http://vllm:8000/v1", True),
        ("https://api.example.com/v1", False),
        ("https://8.8.8.8/v1", False),
        (None, False),
    ],
)
def test_servers_on_private_addresses_have_more_time(settings, api_base: str | None, is_private: bool) -> None:
    settings.ALLOW_PRIVATE_HOSTS = frozenset({GPU})
    endpoint = Endpoint("openai_compatible", api_base, Secret(""), "workspace")
    assert get_timeouts(endpoint) == (PRIVATE_TIMEOUTS if is_private else Timeouts())
    settings.LLM_FIRST_TOKEN_TIMEOUT, settings.LLM_IDLE_TIMEOUT = 90.0, 45.0
    assert (get_timeouts(endpoint).first, get_timeouts(endpoint).idle) == (90.0, 45.0)


async def test_a_slow_first_word_is_not_requested_again_from_a_private_server(
    scripted: ScriptedModel, settings
) -> None:
    settings.LLM_FIRST_TOKEN_TIMEOUT = 0.2
    _breakers.clear()
    scripted.script(mode="nofirst")
    endpoint = Endpoint("openai_compatible", scripted.api_base, KEY, "workspace")
    failed = await retried_failure_of(get_model(endpoint))
    assert (failed.code, failed.tries, len(scripted.requests)) == ("timeout_first", 1, 1)
    assert failed.message == "The model did not begin to answer within 0.2 s (LLM_FIRST_TOKEN_TIMEOUT)."


@pytest.mark.parametrize("code", ["unreachable", "server"])
async def test_a_server_that_restarts_is_asked_again_after_longer_and_longer_waits(settings, code: str) -> None:
    settings.LLM_RESTART_DELAYS = (5, 10, 20)
    slept: list[float] = []
    errors = [error(code) for _ in range(4)]
    for one in errors:
        one.is_starting = code == "server"
    failed = await retried_failure_of(build_retrying_model(FailingModel(*errors), slept=slept))
    assert (failed.tries, slept) == (4, [5, 10, 20])
    slept.clear()
    model = FailingModel(*errors[:3])
    assert isinstance((await all_of(build_retrying_model(model, slept=slept)))[-1], Answer)
    assert (model.asked, slept) == (4, [5, 10, 20])


async def test_each_wait_for_a_server_is_announced(settings) -> None:
    settings.LLM_RESTART_DELAYS = (5, 10, 20)
    announced: list[float] = []

    async def announce(seconds: float) -> None:
        announced.append(seconds)

    async def sleep(seconds: float) -> None: ...

    model = FailingModel(*[error("unreachable") for _ in range(3)])
    await all_of(RetryingModel(model, lambda _: Breaker(), rng=lambda: 0.5, sleep=sleep, announce=announce))
    assert announced == [5, 10, 20]


@pytest.mark.parametrize(
    ("status", "text", "is_starting"),
    [
        (503, "Loading model", True),
        (503, "The model is not ready yet", True),
        (502, "upstream is starting", True),
        (503, "Service overloaded", False),
        (500, "Error while loading the file", False),
    ],
)
async def test_a_server_says_that_it_loads_its_model(
    scripted: ScriptedModel, status: int, text: str, is_starting: bool
) -> None:
    scripted.script(mode="status", status=status, error=text)
    failed = await failure_of(build_adapter(scripted))
    assert (failed.code, failed.is_starting) == ("server", is_starting)


async def test_the_errors_of_connections_name_the_server(
    scripted: ScriptedModel, settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.ALLOW_PRIVATE_HOSTS = frozenset({"127.0.0.1:9", "no-such-server.invalid:80"})
    failed = await failure_of(build_adapter(scripted, api_base="http://127.0.0.1:9/v1"))
    assert (failed.code, failed.message) == ("unreachable", "Nothing answers at 127.0.0.1:9.")
    with pytest.raises(LLMError) as listing:
        await list_models(Endpoint("openai_compatible", "http://localhost:9/v1", KEY, "workspace"))
    assert (listing.value.code, listing.value.message) == ("unreachable", "Nothing answers at localhost:9.")
    FakeDns(monkeypatch).answers = [[]]
    failed = await failure_of(build_adapter(scripted, api_base="http://no-such-server.invalid/v1"))
    assert failed.message == "There is no server of the name no-such-server.invalid."


async def test_a_refused_server_says_what_the_operator_can_do(scripted: ScriptedModel, settings) -> None:
    settings.ALLOW_PRIVATE_HOSTS = frozenset()
    failed = await failure_of(build_adapter(scripted))
    port = scripted.host.rpartition(":")[2]
    assert failed.message == (
        f"Only ports 80 and 443 are allowed, not {port}. "
        f"The operator can allow it: ATELIER_ALLOW_PRIVATE_HOSTS=127.0.0.1:{port}"
    )


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"LLM_FIRST_TOKEN_TIMEOUT": -1.0}, "LLM_FIRST_TOKEN_TIMEOUT must be more than 0."),
        ({"LLM_IDLE_TIMEOUT": 0.0}, "LLM_IDLE_TIMEOUT must be more than 0."),
        ({"LLM_CONTEXT_SIZE": 0}, "LLM_CONTEXT_SIZE must be more than 0."),
        (
            {"LLM_FIRST_TOKEN_TIMEOUT": 900.0, "LLM_TOTAL_TIMEOUT": 600.0},
            "LLM_FIRST_TOKEN_TIMEOUT must not be more than LLM_TOTAL_TIMEOUT.",
        ),
        ({"LLM_RESTART_DELAYS": (5.0, -1.0)}, "LLM_RESTART_DELAYS must not be less than 0."),
        ({"ALLOW_PRIVATE_HOSTS": frozenset({"nonsense"})}, "ATELIER_ALLOW_PRIVATE_HOSTS has 'nonsense'."),
        (
            {"ALLOW_PRIVATE_HOSTS": frozenset({"http://gpu.lan:11434"})},
            "ATELIER_ALLOW_PRIVATE_HOSTS has 'http://gpu.lan:11434'.",
        ),
        ({"ALLOW_PRIVATE_HOSTS": frozenset({"gpu.lan:x"})}, "ATELIER_ALLOW_PRIVATE_HOSTS has 'gpu.lan:x'."),
        ({"ALLOW_PRIVATE_HOSTS": frozenset({"me@gpu.lan:80"})}, "ATELIER_ALLOW_PRIVATE_HOSTS has 'me@gpu.lan:80'."),
    ],
)
def test_limits_and_hosts_that_can_never_work_are_refused_at_the_start(
    settings, changes: dict[str, Any], text: str
) -> None:
    settings.SECRET_KEY, settings.SECRET_KEYS = "x" * 60, ["c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LXNlYzE="]
    for name, value in changes.items():
        setattr(settings, name, value)
    assert [error.msg for error in [*check_model_limits(None), *check_private_hosts(None)]] == [text]
    with pytest.raises(ImproperlyConfigured, match=text.partition("'")[0]):
        refuse_to_serve_unsafely()


def test_hosts_and_limits_as_they_are_documented_are_accepted(settings) -> None:
    settings.ALLOW_PRIVATE_HOSTS = frozenset({"gpu.lan:11434", "10.0.0.1:8000/openai/v1", "[fd00::1]:80", "vllm:8000"})
    settings.LLM_FIRST_TOKEN_TIMEOUT, settings.LLM_TOTAL_TIMEOUT = 600.0, 600.0
    assert [*check_model_limits(None), *check_private_hosts(None)] == []


async def test_an_answer_of_a_server_that_loads_its_model_comes_after_the_wait(scripted: ScriptedModel) -> None:
    _breakers.clear()
    scripted.script(text="Here I am.")
    scripted.script(mode="status", status=503, error="Loading model", times=3)
    endpoint = Endpoint("openai_compatible", scripted.api_base, KEY, "workspace")
    answer = [part async for part in get_model(endpoint).ask(ASK)][-1]
    assert isinstance(answer, Answer)
    assert (answer.text, answer.tries) == ("Here I am.", 4)

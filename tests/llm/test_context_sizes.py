"""How much a model reads is set by people, said by its server, or learnt from what it refuses and accepts."""

from typing import Any

import pytest

from common.secrets import Secret
from llm.context_window import MIN_BUDGET, get_context_budget, get_model_size
from llm.errors import build_status_error, find_context_size
from llm.model_list import list_models
from llm.protocol import Endpoint
from llm.services import set_llm_profile
from tests.llm.adapter import KEY, events, scripted
from tests.llm.test_model_tests import no_tests_running, of_process, start, start_and_run, wait_for
from tests.scripted_model import ScriptedModel
from usage.models import TokenFactor
from workspaces.models import Credential

__all__ = ["no_tests_running", "of_process", "scripted"]

REFUSED = "the request exceeds the available context size"
FULL = 'data: {"error":{"code":500,"message":"Context size has been exceeded.","type":"server_error"}}\n\n'
"""What llama.cpp sends when the requests that it answers at once exceed the size that they share."""


@pytest.mark.parametrize(
    ("entry", "size"),
    [
        pytest.param({"meta": {"n_ctx": 2048, "n_ctx_train": 32768}}, 2048, id="llama.cpp"),
        pytest.param({"max_model_len": 8192}, 8192, id="vLLM"),
        pytest.param({"loaded_context_length": 4096, "max_context_length": 32768}, 4096, id="LM Studio"),
        pytest.param({"context_length": 128000, "top_provider": {"context_length": 64000}}, 64000, id="OpenRouter"),
        pytest.param({"context_window": 131072}, 131072, id="Groq"),
        pytest.param({"max_context_length": 32768}, 32768, id="Mistral"),
        pytest.param({}, None, id="nothing"),
        pytest.param({"meta": None, "max_model_len": "8192", "context_length": True}, None, id="no numbers"),
        pytest.param({"max_model_len": 0, "context_length": 4096}, 4096, id="zero"),
        pytest.param({"max_model_len": 10**4000, "context_length": 4096}, 4096, id="more than any model reads"),
    ],
)
async def test_the_list_of_models_says_how_much_a_model_reads(
    scripted: ScriptedModel, entry: dict[str, Any], size: int | None
) -> None:
    scripted.script(mode="models", models=[{"id": "m", **entry}, {"id": "a"}])
    assert await list_models(Endpoint("openai_compatible", scripted.api_base, KEY, "workspace")) == {
        "a": None,
        "m": size,
    }


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ('{"error":{"message":"it exceeds the available context size","n_prompt_tokens":9000,"n_ctx":2048}}', 2048),
        ("This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.", 8192),
        ("length of prompt_tokens (57535) must be less than max_seq_len (32768).", 32768),
        ("prompt is too long: 208310 tokens > 200000 maximum", 200000),
        ("Prompt contains 40000 tokens, too large for model with 32768 maximum context length", 32768),
        ("The decoder prompt (length 5000) is longer than the maximum model length of 4096.", 4096),
        ("the model is loaded with context length of only 4096 tokens", 4096),
        ("the request exceeds the available context size, try increasing it", None),
        ("Prompt 超长", None),
    ],
)
def test_an_error_says_how_much_a_model_reads(text: str, size: int | None) -> None:
    assert find_context_size(text) == size
    error = build_status_error(400, {}, text.encode(), KEY)
    assert (error.code, error.context_size) == ("context_too_long", size)


def test_the_size_that_people_set_comes_before_all_others(settings) -> None:
    settings.LLM_CONTEXT_SIZE = 32_000
    endpoint = Endpoint("openai", None, Secret(""), "workspace")
    assert (
        get_model_size(Endpoint("openai_compatible", "https://x.example.org/v1", Secret(""), "workspace"), "m")
        == 32_000
    )
    assert get_model_size(endpoint, "gpt-4") == 8192
    assert get_model_size(Endpoint("openai", None, Secret(""), "workspace", context_size=2048), "gpt-4") == 2048


@pytest.mark.parametrize(("size", "least"), [(1_000, 500), (2_048, MIN_BUDGET), (32_000, MIN_BUDGET)])
def test_a_small_limit_leaves_room_for_the_answer_and_the_system_text(size: int, least: int) -> None:
    endpoint = Endpoint("openai_compatible", "https://x.example.org/v1", Secret(""), "workspace")
    assert get_context_budget(endpoint, "m", None, "word " * 50_000, (), size) == least


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("engine", "of_process")
def test_a_test_of_a_model_reads_its_size_and_the_next_conversation_fits(environment, no_tests_running):
    environment.model.script(mode="models", models=[{"id": "scripted", "meta": {"n_ctx": 2048}}])
    done = wait_for(environment, start_and_run(environment, environment.model, no_tests_running))
    assert (done.ok, done.code, done.context_sizes) == (True, "", {"scripted": 2048})
    environment.model.reset()
    post_long_chat(environment)
    [request] = environment.model.requests
    assert count_tokens(request) < 2048


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("engine", "of_process")
def test_a_test_of_a_name_that_the_server_does_not_list_warns(environment, no_tests_running):
    environment.model.script(mode="models", models=[{"id": "gemma"}, {"id": "qwen"}])
    done = wait_for(environment, start_and_run(environment, environment.model, no_tests_running))
    assert (done.ok, done.code) == (True, "not_listed")
    assert done.message == "It answers, but the server does not list scripted. It lists gemma, qwen."
    listed = start(environment.team, environment.model, default_model="")
    assert listed.state == "waiting"


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("error", [f"{REFUSED} (n_ctx: 2048)", REFUSED])
def test_a_size_is_learnt_from_a_refusal_and_the_stamp_says_that_the_chat_was_shortened(environment, error):
    environment.model.script(text="Here I am.")
    environment.model.script(mode="status", status=400, error=error, times=1 if "n_ctx" in error else 2)
    answer = post_long_chat(environment)
    sent = environment.model.requests
    assert len(sent) == (2 if "n_ctx" in error else 3)
    context = answer.payload["stamp"]["context"]
    assert (context["is_shortened"], context.get("limit")) == (True, None)
    assert context["turns"] == sum(message["role"] != "system" for message in sent[-1].body["messages"])
    size = TokenFactor.objects.get().context_size or 0
    assert size == 2048 if "n_ctx" in error else 256 <= size < 8_000
    environment.model.reset()
    environment.model.script(text="Here I am.")
    environment.post("and now?")
    environment.wait_until_idle()
    # The next conversation fits at once.
    assert len(environment.model.requests) == 1
    stamp = environment.log("TEXT_MESSAGE")[-1].payload["stamp"]
    assert not stamp["context"].get("is_shortened")


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(("words", "is_shortened"), [((), False), (("The ", "beginning ", "of "), True)])
def test_a_server_that_is_full_shows_no_size(environment, words, is_shortened):
    environment.model.script(text="Here I am.")
    # It has answered others at the same time, or the answer itself has filled it.
    environment.model.script(mode="events", events=[*events(*words, finish=None), {"raw": FULL}], times=1)
    answer = post_long_chat(environment)
    assert answer.payload["text"] == "Here I am."
    first, second = (request.body["messages"] for request in environment.model.requests)
    assert (first != second) == is_shortened
    assert bool((answer.payload["stamp"].get("context") or {}).get("is_shortened")) == is_shortened
    assert not TokenFactor.objects.exclude(context_size=None).exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("engine")
def test_a_size_that_is_set_by_hand_is_used_and_another_server_has_another_size(environment):
    team = environment.team
    TokenFactor.objects.create(
        workspace=team.workspace,
        provider="openai_compatible",
        model="scripted",
        factor=1,
        samples=0,
        context_size=300,
        context_server="https://elsewhere.example.org/v1",
    )
    Credential.objects.update(context_size=4_000)
    post_long_chat(environment)
    assert 1_000 < count_tokens(environment.model.requests[-1]) < 4_000


@pytest.mark.django_db
def test_an_own_model_has_a_context_size(team):
    profile = set_llm_profile(team.alice, provider="openai", default_model="m", revision=0, key=KEY, context_size=9_000)
    assert profile.context_size == 9_000


def post_long_chat(environment: Any) -> Any:
    """Post about 9,000 tokens and a question, and return the answer."""
    for number in range(12):
        environment.post(f"{number} " + "word " * 600, by=environment.team.bob, wake="nobody")
    environment.post("hello")
    environment.wait_until_idle()
    return environment.log("TEXT_MESSAGE")[-1]


def count_tokens(request: Any) -> int:
    return sum(len(str(message["content"])) // 4 for message in request.body["messages"])

"""The query that claims a run reads the settings which decide its model and its tools. No process keeps them."""

import pytest
from django.db import transaction

from chats.models import Chat
from common.json_rows import build_object, build_row_json
from common.secrets import Secret
from events.rows import Policy
from llm import services as llm
from llm.models import LLMPolicy
from runs.services import claims
from tests.concurrency import ConcurrentTransaction
from tests.factories.llm import LLMPolicyFactory
from tests.people import make_operator
from tests.queries import record_statements
from tests.recorder import prepare_run
from tests.runs.test_takeover import claim
from tools import services as tools
from workspaces import services as workspaces
from workspaces.models import Credential

pytestmark = pytest.mark.django_db(transaction=True)

TABLES = ("llm_llmpolicy", "workspaces_credential", "tools_toolpolicy")
OPERATORS, TEAMS = "sk-operator-0123456789abcdef", "sk-team-0123456789abcdef"
SYSTEM = {"provider": "openai", "api_base": "", "key": OPERATORS, "models": ("gpt-system",)}


@pytest.fixture(autouse=True)
def system_model(settings):
    settings.SYSTEM_MODEL = SYSTEM


def set_key(environment):
    """Set another model with a key for the workspace, which has revision 1 of the scripted one."""
    team = environment.team
    workspaces.set_model(
        team.alice,
        team.workspace.id,
        provider="azure",
        api_base="https://team.openai.azure.com",
        options={"api_version": "2024-10-21"},
        default_model="gpt-team",
        key=Secret(TEAMS),
        revision=1,
    )


def delete_credential(environment):
    Credential.objects.all().delete()


def turn_tool_off(environment):
    tools.set_policy(environment.team.alice, environment.team.workspace.id, "current_time", policy=Policy.OFF)


def ask_for_tool(environment):
    tools.set_policy(environment.team.alice, environment.team.workspace.id, "current_time", policy=Policy.ASK)


def require_system_model(environment):
    llm.set_llm_policy(make_operator(), allows_llm_profiles=True, allowed_providers=[], requires_system_model=True)


def allow_other_models_again(environment):
    require_system_model(environment)
    LLMPolicyFactory.create()


def read_settings(prepared):
    endpoint = prepared.model.endpoint
    policies = {name: tool.policy for name, tool in prepared.tools.items()}
    return endpoint.provider, endpoint.paid_by, endpoint.key, prepared.model.name, policies


UNCHANGED = ("openai_compatible", "workspace", Secret(""), "scripted", {"current_time": Policy.AUTO})
CHANGES = [
    (set_key, ("azure", "workspace", Secret(TEAMS), "gpt-team", {"current_time": Policy.AUTO})),
    (delete_credential, ("openai", "system", Secret(OPERATORS), "gpt-system", {"current_time": Policy.AUTO})),
    (turn_tool_off, (*UNCHANGED[:-1], {})),
    (ask_for_tool, (*UNCHANGED[:-1], {"current_time": Policy.ASK})),
    (require_system_model, ("openai", "system", Secret(OPERATORS), "gpt-system", {"current_time": Policy.AUTO})),
    (allow_other_models_again, UNCHANGED),
]


@pytest.mark.parametrize(("change", "expected"), CHANGES)
def test_a_claim_reads_the_settings_that_were_committed_before_it(environment, change, expected):
    assert read_settings(prepare_run(claim(environment, text="first"))) == UNCHANGED
    environment.team.chat.runs.update(state="completed")
    with transaction.atomic():
        change(environment)
    claimed = claim(environment, text="second")
    with record_statements() as asked:
        prepared = prepare_run(claimed)
    assert read_settings(prepared) == expected
    assert [sql for sql, _ in asked.statements if any(table in sql for table in TABLES)] == []
    # A run whose claim has read nothing reads the same.
    read = prepare_run(claimed.row)
    assert (read.model.endpoint, read.model.name) == (prepared.model.endpoint, prepared.model.name)
    assert read_settings(read) == expected


@pytest.mark.parametrize(("change", "expected"), CHANGES)
def test_a_claim_that_waits_for_its_chat_reads_the_settings_that_are_committed_meanwhile(environment, change, expected):
    environment.post("hello")
    [run] = environment.runs()
    with transaction.atomic():
        Chat.objects.select_for_update(no_key=True).get(pk=run.chat_id)
        waiting = ConcurrentTransaction(lambda: claims.claim_run(run.id, "there:1:a"))
        change(environment)
    assert read_settings(prepare_run(waiting.result())) == expected


def test_the_statements_of_an_ordinary_claim(environment, django_assert_num_queries):
    """Those of a run with a tool in a workspace with a model of its own, with `BEGIN` and `COMMIT`."""
    prepare_run(claim(environment, text="first"))  # A process reads a spec once.
    environment.team.chat.runs.update(state="completed")
    environment.post("second")
    run = environment.runs()[-1]
    with django_assert_num_queries(6):
        claimed = claims.claim_run(run.id, "there:1:a")
    assert claimed is not None
    with django_assert_num_queries(2):  # the log and the participants
        prepare_run(claimed)


@pytest.mark.parametrize("model_class", [Credential, LLMPolicy])
def test_an_object_from_json_is_the_stored_one(environment, model_class):
    set_key(environment)
    require_system_model(environment)
    row = model_class.objects.annotate(json=build_row_json(model_class)).get()
    built, stored = build_object(model_class, row.json), model_class.objects.get()
    assert {name: value for name, value in vars(built).items() if name != "_state"} == {
        name: value for name, value in vars(stored).items() if name != "_state"
    }
    assert not built._state.adding

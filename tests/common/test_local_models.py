"""Workers search for model servers on this machine, in embedded mode only; requests read the stored result."""

from collections.abc import Iterator

import pytest

from common import egress, local_models
from common.egress import check_model_server
from common.local_models import find_local_servers, list_local_servers, store_local_servers, was_found_on_this_machine
from common.redis_client import redis_client
from tests.scripted_model import ScriptedModel


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedModel]:
    with ScriptedModel() as model:
        yield model


@pytest.fixture
def port(server: ScriptedModel, settings, monkeypatch: pytest.MonkeyPatch) -> int:
    port = int(server.url.rsplit(":", 1)[1])
    for module in (egress, local_models):
        monkeypatch.setattr(module, "LOCAL_MODEL_SERVERS", {"Ollama": port, "LM Studio": 9})
    settings.EMBEDDED = True
    redis_client.call(lambda client: client.delete("local-model-servers"), 0)
    return port


async def test_local_model_servers_are_found_in_embedded_mode_only_and_never_at_our_own_port(
    port: int, settings
) -> None:
    (found,) = await find_local_servers()
    assert (found.label, found.api_base, found.models) == ("Ollama", f"http://localhost:{port}/v1", ["scripted"])
    settings.OWN_PORT = port
    assert await find_local_servers() == []
    settings.EMBEDDED, settings.OWN_PORT = False, 8000
    assert await find_local_servers() == []
    await egress.close_sessions()


async def test_a_request_reads_the_stored_servers_and_queries_no_port(
    port: int, server: ScriptedModel, settings
) -> None:
    assert list_local_servers() == []
    found = await find_local_servers()
    store_local_servers(found)
    assert list_local_servers() == found
    assert was_found_on_this_machine(check_model_server(f"http://127.0.0.1:{port}/v1").url.port)
    assert not was_found_on_this_machine(check_model_server("http://localhost:9/v1").url.port)
    settings.EMBEDDED = False
    assert list_local_servers() == []
    await egress.close_sessions()


async def test_servers_that_the_operator_allows_are_found_without_embedded_servers(
    server: ScriptedModel, settings
) -> None:
    settings.EMBEDDED = False
    host = server.url.removeprefix("http://").replace("127.0.0.1", "localhost")
    settings.ALLOW_PRIVATE_HOSTS = frozenset({host})
    assert await find_local_servers() == []  # it may be a server of tools
    settings.ALLOW_PRIVATE_HOSTS = frozenset({f"{host}/v1", "localhost:9/v1"})
    (found,) = await find_local_servers()
    assert (found.label, found.api_base, found.models) == (host, f"http://{host}/v1", ["scripted"])
    store_local_servers([found])
    assert list_local_servers() == [found]
    assert not was_found_on_this_machine(9)
    settings.ALLOW_PRIVATE_HOSTS = frozenset({"localhost:9"})
    assert list_local_servers() == []
    await egress.close_sessions()

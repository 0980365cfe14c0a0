"""Model servers on this machine are found, in embedded mode only."""

from collections.abc import Iterator

import pytest

from common import egress
from common.local_models import find_local_servers
from tests.scripted_model import ScriptedModel


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedModel]:
    with ScriptedModel() as model:
        yield model


def test_local_model_servers_are_found_in_embedded_mode_only(
    server: ScriptedModel, settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = int(server.url.rsplit(":", 1)[1])
    monkeypatch.setattr("common.local_models.LOCAL_MODEL_SERVERS", {"Ollama": port, "LM Studio": 9})
    assert egress.LOCAL_MODEL_SERVERS["Ollama"] == 11434
    settings.EMBEDDED = False
    assert find_local_servers() == []
    settings.EMBEDDED = True
    (found,) = find_local_servers()
    assert (found.label, found.api_base, found.models) == ("Ollama", f"http://localhost:{port}/v1", ["scripted"])
    assert find_local_servers(own_port=port) == []

"""How often one person may have a model asked for a summary or a merge (SEC21)."""

import pytest

from common.ids import new_id
from suggestions.models import SummaryState
from tests.api.test_rights import client_for
from tests.suggestions.environment import KINDER, fresh

pytestmark = pytest.mark.django_db

JOBS = [
    "merge_suggestions",
    "accept_suggestion",
    "retry_merge",
    "summarize_suggestion",
    "suggest_text",
    "suggest_draft",
]


@pytest.fixture
def asks(board):
    """For each operation that has a model asked: its path and body."""
    one, other, alone = board.suggest(), board.suggest(KINDER, "carol"), board.suggest()
    type(alone).objects.filter(pk=alone.pk).update(summary_state=SummaryState.FAILED)
    merge = board.merge(alone)
    to = {"chat_id": str(board.chat.id)}
    place = f"chats/{board.chat.id}/agents/{board.scribe.id}"
    return {
        "merge_suggestions": (
            f"agents/{board.scribe.id}/merges",
            {"id": str(new_id()), "suggestion_ids": [str(one.id), str(other.id)], **to},
        ),
        "accept_suggestion": (f"suggestions/{one.id}/accept", {"id": str(new_id()), **to}),
        "retry_merge": (f"merges/{merge.id}/retry", None),
        "summarize_suggestion": (f"suggestions/{alone.id}/summarize", None),
        "suggest_text": (
            f"{place}/suggestions",
            {"id": str(new_id()), "content": board.content(KINDER).as_json(), "base_version": 1},
        ),
        "suggest_draft": (f"{place}/draft/suggest", {"revision": 1}),
    }


@pytest.mark.parametrize("operation", JOBS)
def test_SEC21_what_has_a_model_asked_is_measured_by_person(board, asks, settings, operation):
    settings.RATES = settings.RATES | {"jobs": (0.01, 1)}
    path, body = asks[operation]
    client_for(board.team, "alice")("POST", path, body)
    answer = client_for(board.team, "alice")("POST", path, body)
    assert (answer.status_code, answer["Retry-After"]) == (429, "100")
    assert answer.json()["error"]["data"] == {"limit": "jobs", "seconds": 100}
    assert client_for(board.team, "bob")("POST", path, body).status_code != 429


def test_SEC21_stopping_rejecting_and_reading_are_not_held_up(board, asks, settings):
    made, other = board.suggest(), board.suggest(KINDER, "carol")
    merge = board.merge(made, other)
    settings.RATES = settings.RATES | {"jobs": (0.01, 1)}
    alice = client_for(board.team, "alice")
    for _ in range(2):
        alice("POST", *asks["retry_merge"])
        assert alice.ok("GET", f"merges/{merge.id}")["state"] == fresh(merge).state
    alice.ok("POST", f"merges/{merge.id}/stop")
    alice.ok("POST", f"suggestions/{made.id}/reject", {"reason": ""})

"""Operations that start a summary or a merge: their throttle (SEC21), and the same request again."""

import pytest

from common.ids import new_id
from events.rows import SuggestionSummaryState
from suggestions.models import Merge, Suggestion
from tests.api.test_rights import client_for
from tests.suggestions.environment import KINDER, reload

pytestmark = pytest.mark.django_db

JOBS = [
    "merge_suggestions",
    "accept_suggestion",
    "retry_merge",
    "summarize_suggestion",
    "suggest_spec",
    "suggest_draft",
]


@pytest.fixture
def requests(environment):
    """The path and body of a request of each operation that starts a job."""
    first, other, accepted = environment.suggest(), environment.suggest(KINDER, "carol"), environment.suggest()
    type(accepted).objects.filter(pk=accepted.pk).update(summary_state=SuggestionSummaryState.FAILED)
    merge = environment.merge(accepted)
    chat = {"chat_id": str(environment.chat.id)}
    path = f"chats/{environment.chat.id}/agents/{environment.scribe.id}"
    return {
        "merge_suggestions": (
            f"agents/{environment.scribe.id}/merges",
            {"id": str(new_id()), "suggestion_ids": [str(first.id), str(other.id)], **chat},
        ),
        "accept_suggestion": (f"suggestions/{first.id}/accept", {"id": str(new_id()), **chat}),
        "retry_merge": (f"merges/{merge.id}/retry", None),
        "summarize_suggestion": (f"suggestions/{accepted.id}/summarize", None),
        "suggest_spec": (
            f"{path}/suggestions",
            {"id": str(new_id()), "content": environment.build_content(KINDER).as_json(), "base_version": 1},
        ),
        "suggest_draft": (f"{path}/draft/suggest", {"revision": 1}),
    }


@pytest.mark.parametrize("operation", ["merge_suggestions", "accept_suggestion", "suggest_spec"])
def test_the_same_request_again_is_answered_with_200(environment, requests, operation):
    alice = client_for(environment.team, "alice")
    first, again = (alice("POST", *requests[operation]) for _ in range(2))
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json() == first.json()
    assert (Suggestion.objects.count(), Merge.objects.count()) in ((3, 2), (4, 1))


@pytest.mark.parametrize("operation", JOBS)
def test_SEC21_operations_that_start_a_job_are_throttled_per_person(environment, requests, settings, operation):
    settings.RATES = settings.RATES | {"jobs": (0.01, 1)}
    path, body = requests[operation]
    client_for(environment.team, "alice")("POST", path, body)
    answer = client_for(environment.team, "alice")("POST", path, body)
    assert answer.status_code == 429
    assert 90 <= int(answer["Retry-After"]) <= 100
    assert answer.json()["error"]["data"] == {"limit": "jobs", "seconds": 100}
    assert client_for(environment.team, "bob")("POST", path, body).status_code != 429


def test_SEC21_stopping_rejecting_and_reading_are_not_throttled(environment, requests, settings):
    suggestion, other = environment.suggest(), environment.suggest(KINDER, "carol")
    merge = environment.merge(suggestion, other)
    settings.RATES = settings.RATES | {"jobs": (0.01, 1)}
    alice = client_for(environment.team, "alice")
    for _ in range(2):
        alice("POST", *requests["retry_merge"])
        assert alice.ok("GET", f"merges/{merge.id}")["state"] == reload(merge).state
    alice.ok("POST", f"merges/{merge.id}/stop")
    alice.ok("POST", f"suggestions/{suggestion.id}/reject", {"reason": ""})

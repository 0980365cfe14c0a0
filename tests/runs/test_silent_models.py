"""RUN10: requests to many silent, stalling or slow models at once end at their time limits, as the models see it."""

from collections import Counter
from typing import Any

import pytest

from runs.models import Run
from tests.chaos import IS_CHAOS, REAL, N, report

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.stack]

OF_EACH = N if IS_CHAOS else 1
# The last one is ten minutes long in production. All runs begin within the first: what begins later finds that the model rests.
FIRST, IDLE, TOTAL = (60, 30, 65) if REAL else (8, 8, 12) if IS_CHAOS else (1, 1, 2)
KINDS: dict[str, tuple[dict[str, Any], float, str]] = {
    "silent": ({"mode": "nofirst"}, FIRST, "timeout_first"),
    "stalling": ({"mode": "stall", "after": 1}, IDLE, "timeout_idle"),
    "dripping": ({"mode": "drip", "count": 10_000, "every": 0.2}, TOTAL, "timeout_total"),
}
"""By the word in the message: how the model answers, the time limit in seconds, and the error code of the run."""


def test_RUN10_each_of_many_requests_to_silent_models_ends_at_its_time_limit(environment, start_worker):
    for word, (script, _, _) in KINDS.items():
        environment.model.script(match=word, **script)
    limits = {"LLM_IDLE_TIMEOUT": str(IDLE), "LLM_FIRST_TOKEN_TIMEOUT": str(FIRST), "LLM_TOTAL_TIMEOUT": str(TOTAL)}
    start_worker(**limits, RUNS_PER_WORKSPACE="200", RUNS_PER_PERSON="200")
    for number in range(OF_EACH):
        for word in KINDS:
            chat = environment.open_chat(f"{word} {number}")
            environment.post(word, chat=chat)
    environment.wait(lambda: Run.objects.filter(state="failed").count() == OF_EACH * len(KINDS), max(FIRST, TOTAL) + 60)
    codes = Counter(Run.objects.values_list("error_code", flat=True))
    assert codes == dict.fromkeys([code for _, _, code in KINDS.values()], OF_EACH)
    late = []
    for asked in environment.model.requests:
        [limit] = [limit for script, limit, _ in KINDS.values() if script["mode"] == asked.mode]
        assert asked.left_at is not None
        late.append(asked.left_at - asked.at - limit)
    report(f"{len(late)} calls left {min(late):.2f} to {max(late):.2f} s after their limits")
    assert -0.5 < min(late)
    assert max(late) < 1

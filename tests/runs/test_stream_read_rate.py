"""FAIR1 for the answers of models: one event loop reads for all workspaces, and each has a share."""

import pytest

from common.ids import new_id
from llm import reading_rate
from llm.reading_rate import ReadingRate, get_reading_rate


@pytest.fixture
def slow(monkeypatch):
    """Ten chunks at once, and one in a hundred seconds after that."""
    monkeypatch.setattr(reading_rate, "BURST_CHUNKS", 10.0)
    monkeypatch.setattr(reading_rate, "CHUNKS_PER_SECOND", 0.01)


@pytest.mark.usefixtures("slow")
def test_FAIR1_the_runs_of_a_workspace_share_a_reading_rate_and_no_other_workspace_waits():
    flooding, other = new_id(), new_id()
    waits = [get_reading_rate(flooding).count_chunk("word ") for _ in range(12)]
    assert waits[:10] == [0.0] * 10
    assert 0 < waits[10] < waits[11]
    assert get_reading_rate(other).count_chunk("word ") == 0.0


@pytest.mark.usefixtures("slow")
@pytest.mark.parametrize(("text", "chunks"), [("", 10), ("x" * 255, 10), ("x" * 256, 5), ("x" * 10_000, 1)])
def test_FAIR1_a_long_chunk_counts_by_its_length(text, chunks):
    paced = ReadingRate()
    number = 0
    while not paced.count_chunk(text):
        number += 1
    assert number == (chunks if chunks > 1 else 0)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("engine")
def test_FAIR1_an_answer_that_arrives_too_fast_is_read_slower_and_completely(environment, model, monkeypatch):
    monkeypatch.setattr(reading_rate, "BURST_CHUNKS", 10.0)
    monkeypatch.setattr(reading_rate, "CHUNKS_PER_SECOND", 100.0)
    waits = []
    count_chunk = ReadingRate.count_chunk

    def noted(self, text):
        waits.append(count_chunk(self, text))
        return waits[-1]

    monkeypatch.setattr(ReadingRate, "count_chunk", noted)
    tokens = [f"w{number} " for number in range(200)]
    model.script(match="go on", tokens=tokens)
    environment.post("go on")
    [run] = environment.wait_until_idle()
    assert run.state == "completed"
    assert environment.list_answers() == ["".join(tokens)]
    assert len(waits) == 200
    assert sum(wait > 0 for wait in waits) > 100

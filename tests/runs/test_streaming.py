"""The frames of a running run: chunks, the partial text for new subscribers, and the durable row after them."""

import json

import pytest

from actors.models import Actor
from agents.services.agents import update_agent_profile
from events.rows import EmojiAvatar
from events.stream import get_partials
from runs.runtime.conversation import get_call_id
from tests import chaos
from tests.realtime.recording import Recording

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]

STREAMS = 100 if chaos.IS_CHAOS else 20


class Frames:
    """All frames of the chat, as they were sent."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._all: list[dict] = []

    def __call__(self) -> list[dict]:
        self._all += [json.loads(envelope["text"]) for envelope in self._recording.get_received()]
        return self._all


@pytest.fixture
def frames(environment):
    with Recording(f"chat:{environment.team.chat.id}") as recording:
        yield Frames(recording)


def rows_of(frames, kind):
    return [row for frame in frames() if frame["type"] == "changes" for row in frame["rows"] if row["kind"] == kind]


def test_the_streamed_chunks_equal_the_stored_rows_and_arrive_before_them(environment, frames):
    environment.model.script(text="one two three four five", thinking="hm well", every=0.05)
    environment.post("hello")
    environment.wait_until_idle()
    answer = environment.log("TEXT_MESSAGE")[-1]
    environment.wait(lambda: any(row["id"] == str(answer.id) for row in rows_of(frames, "message")))
    deltas = [frame for frame in frames() if frame["type"] == "delta"]
    for part, whole in (("thinking", "hm well "), ("text", answer.text)):
        part_deltas = [frame for frame in deltas if frame["part"] == part]
        assert "".join(frame["text"] for frame in part_deltas) == whole
        assert [frame["offset"] for frame in part_deltas] == [
            len("".join(f["text"] for f in part_deltas[:n])) for n in range(len(part_deltas))
        ]
    assert {(frame["message_id"], frame["attempt"]) for frame in deltas} == {(str(answer.id), 1)}
    last_delta = max(place for place, frame in enumerate(frames()) if frame["type"] == "delta")
    stored = next(
        place
        for place, frame in enumerate(frames())
        if frame["type"] == "changes" and str(answer.id) in [row["id"] for row in frame["rows"]]
    )
    assert last_delta < stored
    assert {(frame["part"], frame["row_id"]) for frame in deltas} == {
        ("thinking", str(environment.log("THINKING")[0].id)),
        ("text", str(answer.id)),
    }


def test_an_agent_that_is_renamed_during_its_run_keeps_its_new_name_on_the_screen(environment, frames):
    clock = {"name": "current_time", "arguments": '{"timezone": "Asia/Tokyo"}'}
    environment.model.script(calls=[clock], first=0.8, then={"text": "It is late."})
    environment.post("hello")
    environment.wait(lambda: environment.model.requests)
    robin = Actor.objects.get(pk=environment.team.robin.pk)
    avatar = EmojiAvatar(kind="emoji", emoji="🐦")
    update_agent_profile(environment.team.alice, robin.id, name="Wren", avatar=avatar, revision=robin.revision)
    environment.wait_until_idle()
    environment.wait(lambda: any(row["state"] == "completed" for row in rows_of(frames, "run")))
    actors = [row["actor"] for row in rows_of(frames, "participant") if row["actor"]["id"] == str(robin.id)]
    renamed = actors[[actor["name"] for actor in actors].index("Wren") :]
    assert len(renamed) > 1
    assert renamed == [Actor.objects.get(pk=robin.pk).to_row().model_dump(mode="json")] * len(renamed)


def test_MSG10_the_chunks_of_many_concurrent_streams_equal_the_stored_rows(environment, frames):
    agents = [environment.add_agent(f"Voice {number}") for number in range(STREAMS)]
    environment.model.script(text=" ".join(f"word{number}界🌍" for number in range(60)), every=0.01)
    environment.post(" ".join(f"@{agent.handle}" for agent in agents))
    # Frames are read all the time: Redis disconnects readers that are too slow.
    environment.wait(lambda: len(frames()) and len(environment.runs(state="completed")) == STREAMS, 120)
    stored = {str(message.id): message.text for message in environment.log("TEXT_MESSAGE") if message.author in agents}
    assert len(stored) == STREAMS
    environment.wait(lambda: set(stored) <= {row["id"] for row in rows_of(frames, "message")})
    streamed: dict[str, str] = dict.fromkeys(stored, "")
    for frame in frames():
        if frame["type"] == "delta":
            assert frame["offset"] == len(streamed[frame["message_id"]])
            streamed[frame["message_id"]] += frame["text"]
    assert streamed == stored


def test_arguments_are_streamed_with_the_id_of_their_call(environment, frames):
    arguments = '{"timezone": "Asia/Tokyo"}'
    environment.model.script(calls=[{"name": "current_time", "arguments": arguments}], then={"text": "ok"}, every=0.02)
    environment.post("hello")
    environment.wait_until_idle()
    [call] = environment.log("TOOL_CALL")
    part_deltas = [frame for frame in frames() if frame["type"] == "delta" and frame["part"] == "arguments"]
    assert {frame["call_id"] for frame in part_deltas} == {call.payload["call_id"]}
    assert "".join(frame["text"] for frame in part_deltas) == arguments
    assert part_deltas[0]["name"] == "current_time"
    message_id = part_deltas[0]["message_id"]
    assert call.payload["call_id"] == get_call_id(type(call.id)(message_id), 0)


def test_a_run_shows_its_states_in_order(environment, frames):
    environment.post("hello")
    environment.wait_until_idle()
    states = environment.wait(lambda: len(s := [row["state"] for row in rows_of(frames, "run")]) == 3 and s)
    assert states == ["queued", "running", "completed"]
    versions = [(frame["after"], frame["version"]) for frame in frames() if frame["type"] == "changes"]
    assert [after for after, _ in versions[1:]] == [version for _, version in versions[:-1]]


def test_a_new_subscriber_gets_the_streamed_text_until_the_row_is_stored(environment):
    environment.model.script(mode="drip", count=40, every=0.05)
    environment.post("hello")
    environment.wait(lambda: environment.model.requests)
    [run] = environment.runs()
    [partial] = environment.wait(lambda: get_partials([run.id]))
    run.refresh_from_db()
    assert (partial.message_id, partial.attempt, partial.part) == (run.message_id, 1, "text")
    assert partial.text.startswith("w0 ")
    environment.wait_until_idle()
    assert environment.log("TEXT_MESSAGE")[-1].id == partial.message_id
    environment.wait(lambda: not get_partials([run.id]))


@pytest.mark.parametrize("mode", ["cleancut", "stall"])
def test_RUN11_a_retried_answer_replaces_the_text_that_was_shown(environment, frames, settings, mode):
    settings.LLM_IDLE_TIMEOUT = 0.5
    environment.model.script(text="the whole answer in five", every=0.05)
    environment.model.script(mode=mode, after=3, text="only the beginning of it", every=0.05, times=1)
    environment.post("hello")
    environment.wait_until_idle()
    answer = environment.log("TEXT_MESSAGE")[-1]
    environment.wait(lambda: any(row["id"] == str(answer.id) for row in rows_of(frames, "message")))
    deltas = [frame for frame in frames() if frame["type"] == "delta"]
    texts = {attempt: "".join(f["text"] for f in deltas if f["attempt"] == attempt) for attempt in (1, 2)}
    assert texts[1]
    assert "only the beginning".startswith(texts[1].strip())
    assert texts[2] == answer.text == "the whole answer in five"
    assert [frame["attempt"] for frame in deltas] == sorted(frame["attempt"] for frame in deltas)
    assert {frame["message_id"] for frame in deltas} == {str(answer.id)}
    assert [row["attempt"] for row in rows_of(frames, "run")] == [0, 1, 2, 2]
    assert get_partials([environment.runs()[0].id]) == []

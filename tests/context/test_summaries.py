"""The summary of a long chat: a job writes it after a run, people read and correct it, and corrections outlive later summaries."""

import json

import pytest

from chats import services as chats
from chats.models import Message
from common.errors import Conflict, Forbidden, Invalid, NotFound
from common.ids import new_id
from context import services as context
from context.models import HistorySummary, SummaryCorrection
from context.selectors import build_summary_row
from context.services.summaries import parse_answer
from runs.models import Run
from tests.jobs import answer_job, claim_job, fail_job

pytestmark = pytest.mark.django_db(transaction=True)

BUDGET = 1_000


@pytest.fixture(autouse=True)
def one_job_for_all(monkeypatch):
    """In these chats, which are short, one job reads what a summary is written of, unless a test says otherwise."""
    monkeypatch.setattr("context.services.summaries.INPUT_SHARE", 12)


def add_messages(team, count, start=0):
    rows = [
        Message(
            chat=team.chat,
            author=team.alice,
            type="TEXT_MESSAGE",
            created_at=team.chat.created_at,
            payload={"text": f"note {number} " + "lorem ipsum " * 10, "mentions": [], "wake": "nobody"},
        )
        for number in range(start, start + count)
    ]
    chats.save_changes(team.chat.id, rows)
    return rows


def start(team):
    return context.start_due_summary(team.chat.id, team.alice.id, budget=BUDGET)


def write(summary, *entries):
    sentences = [{"section": section, "text": text, "from": seqs} for section, text, seqs in entries]
    return answer_job(Run.objects.get(pk=summary.job_id), json.dumps({"sentences": sentences}))


def fail_for_length(summary):
    return fail_job(Run.objects.get(pk=summary.job_id), "context_too_long")


def read_input(summary):
    """Return the text that the job of a summary reads."""
    job = Run.objects.get(pk=summary.job_id)
    assert job.input is not None
    return job.input["text"]


def read(team):
    return build_summary_row(team.chat)


@pytest.fixture
def rows(environment):
    return add_messages(environment.team, 60)


def test_a_summary_is_written_by_a_job_and_leaves_the_newest_messages_out(environment, rows):
    team = environment.team
    summary = start(team)
    assert start(team) is None  # one is being written
    job = Run.objects.get(pk=summary.job_id)
    assert (job.kind, job.on_behalf_of, job.agent.handle) == ("chat_summary", team.alice, "chat-summarizer")
    assert f"[{rows[0].seq}] " in read_input(summary)
    assert rows[0].seq == summary.from_seq
    assert summary.through_seq <= rows[-12].seq
    write(summary, ("Decided", "The note is about lorem.", [rows[3].seq, rows[5].seq]))
    row = read(team)
    assert (row.state, row.through_seq, row.through_id is not None) == ("ready", summary.through_seq, True)
    [sentence] = row.sentences
    assert (sentence.section, sentence.text) == ("Decided", "The note is about lorem.")
    assert [(one.seq, one.message_id) for one in sentence.sources] == [(one.seq, one.id) for one in (rows[3], rows[5])]


def test_the_next_summary_reads_only_what_is_new(environment, rows):
    team = environment.team
    first = start(team)
    write(first, ("Decided", "The note is about lorem.", [rows[3].seq]))
    assert start(team) is None  # too few messages are new
    new = add_messages(team, 40, 60)
    second = start(team)
    text = read_input(second)
    assert "The note is about lorem." in text
    assert f"[{rows[0].seq}] " not in text
    assert f"[{first.through_seq}] 2" not in text
    assert (second.base, second.from_seq) == (first, first.from_seq)
    assert first.through_seq < second.through_seq < new[-1].seq


def test_the_input_of_a_job_fits_the_conversation(environment, rows, monkeypatch):
    monkeypatch.setattr("context.services.summaries.INPUT_SHARE", 0.5)
    first = start(environment.team)
    assert (first.input_tokens, first.source_tokens <= 500) == (500, True)
    write(first, ("Decided", "The note is about lorem.", [rows[0].seq]))
    following = HistorySummary.objects.get(state="writing")
    assert (following.base, following.input_tokens) == (first, 500)


@pytest.mark.parametrize(("limit", "tokens"), [(1_000, 500), (4_000, 2_000), (None, 12_000), (100_000, 12_000)])
def test_the_input_of_a_requested_job_fits_the_limit_of_the_workspace(environment, rows, monkeypatch, limit, tokens):
    monkeypatch.setattr("context.services.summaries.INPUT_SHARE", 0.5)
    team = environment.team
    team.workspace.context_max_tokens = limit
    team.workspace.save()
    assert context.request_summary(team.alice, team.chat.id).input_tokens == tokens


def test_a_job_that_is_too_long_for_the_model_is_repeated_with_half_of_its_input(environment, rows):
    team = environment.team
    first = start(team)
    sizes = []
    while writing := HistorySummary.objects.filter(state="writing").first():
        sizes.append(writing.input_tokens)
        if len(sizes) < 5:
            fail_for_length(writing)
        else:
            write(writing, ("Decided", f"Up to {writing.through_seq}.", [writing.through_seq]))
    assert sizes[:5] == [12_000, 6_000, 3_000, 1_500, 750]
    assert set(sizes[4:]) == {750}
    ready = list(HistorySummary.objects.filter(state="ready").order_by("created_at"))
    assert (ready[0].from_seq, ready[-1].through_seq) == (first.from_seq, first.through_seq)
    assert read(team).state == "ready"


def test_a_job_that_is_still_too_long_with_little_input_has_failed_until_it_is_requested(environment, rows):
    team = environment.team
    context.request_summary(team.alice, team.chat.id)
    while writing := HistorySummary.objects.filter(state="writing").first():
        fail_for_length(writing)
    assert HistorySummary.objects.count() == 5
    assert (read(team).state, read(team).error_code) == ("failed", "context_too_long")
    assert start(team) is None  # the pause
    assert context.request_summary(team.alice, team.chat.id).input_tokens == 400


def test_one_job_follows_the_other_until_the_summary_stands_for_all_messages(environment, monkeypatch):
    """Each job reads only so many tokens. Without the next one, a summary written anew would stand for less than the one before."""
    monkeypatch.setattr("context.services.summaries.INPUT_TOKENS", 800)
    team = environment.team
    rows = add_messages(team, 60)
    context.request_summary(team.alice, team.chat.id)
    while writing := HistorySummary.objects.filter(state="writing").first():
        write(writing, ("Decided", f"Up to {writing.through_seq}.", [writing.through_seq]))
    first, *others = HistorySummary.objects.order_by("created_at")
    assert len(others) >= 2
    assert [one.base for one in others] == [first, *others[:-1]]
    assert (others[-1].from_seq, others[-1].through_seq) == (rows[0].seq, rows[-13].seq)
    assert f"[{rows[0].seq}] " in read_input(first)
    assert f"[{rows[0].seq}] " not in read_input(others[-1])


def test_a_job_that_fails_is_not_followed_by_another(environment, monkeypatch):
    monkeypatch.setattr("context.services.summaries.INPUT_TOKENS", 800)
    add_messages(environment.team, 60)
    summary = context.request_summary(environment.team.alice, environment.team.chat.id)
    fail_job(Run.objects.get(pk=str(summary.job_id)))
    assert HistorySummary.objects.count() == 1


def test_long_messages_do_not_start_a_summary_after_each_answer(environment):
    """The twelve newest messages alone fill more of the conversation than starts a summary."""
    team = environment.team
    for start_at in range(0, 60, 2):
        rows = [
            Message(
                chat=team.chat,
                author=team.alice,
                type="TEXT_MESSAGE",
                created_at=team.chat.created_at,
                payload={"text": f"note {number} " + "lorem ipsum " * 40, "mentions": [], "wake": "nobody"},
            )
            for number in range(start_at, start_at + 2)
        ]
        chats.save_changes(team.chat.id, rows)
        if summary := start(team):
            write(summary, ("Decided", "Lorem.", [summary.through_seq]))
    summaries = list(HistorySummary.objects.order_by("created_at"))
    assert 5 < len(summaries) < 20
    assert rows[-1].seq - summaries[-1].through_seq < 12


def test_a_sentence_that_names_no_message_is_dropped():
    answer = 'Here: {"sentences": [{"section": "a", "text": "one", "from": [1]}, {"text": "two", "from": [9]}, {"text": "3"}]}'
    assert [one.text for one in parse_answer(answer, {1, 2}, {})] == ["one"]
    for broken in ("", "none", "{", '{"sentences": 3}', '{"sentences": ["x"]}', '[{"sentences": []}]'):
        assert parse_answer(broken, {1}, {}) == []


def test_a_sentence_that_is_repeated_keeps_its_id_once():
    id = new_id()
    answer = json.dumps({"sentences": [{"section": section, "text": "one", "from": [1]} for section in "aba"]})
    ids = [one.id for one in parse_answer(answer, {1}, {"one": id})]
    assert (ids[0], len(set(ids))) == (id, 3)


def test_a_failed_or_unreadable_summary_keeps_the_one_before(environment, rows):
    team = environment.team
    write(start(team), ("Decided", "The note is about lorem.", [rows[3].seq]))
    add_messages(team, 40, 60)
    fail_job(claim_job(Run.objects.get(pk=start(team).job_id)))
    assert (read(team).state, read(team).error_code) == ("failed", "server")
    assert [one.text for one in read(team).sentences] == ["The note is about lorem."]
    assert start(team) is None  # not again at once
    HistorySummary.objects.filter(state="failed").delete()
    answer_job(Run.objects.get(pk=start(team).job_id), "I cannot do that.")
    assert (read(team).state, read(team).error_code) == ("failed", "unreadable")


def test_a_correction_shows_old_and_new_and_outlives_the_next_summary(environment, rows):
    team = environment.team
    write(start(team), ("Decided", "The deposit is 2,000.", [rows[3].seq]), ("Open", "Who asks?", [rows[4].seq]))
    sentence = read(team).sentences[0]
    context.correct_sentence(team.bob, team.chat.id, sentence.id, text="The deposit is 28,000.")
    corrected = read(team).sentences[0]
    assert (corrected.text, corrected.old_text, corrected.corrected_by_name) == (
        "The deposit is 28,000.",
        "The deposit is 2,000.",
        "Bob",
    )
    assert corrected.corrected_at is not None

    add_messages(team, 40, 60)
    again = start(team)
    assert "The deposit is 28,000." in read_input(again)
    write(again, ("Open", "Who asks?", [rows[4].seq]))  # the model has left it out
    kept = [(one.text, one.old_text) for one in read(team).sentences]
    assert kept == [("Who asks?", None), ("The deposit is 28,000.", "The deposit is 2,000.")]
    add_messages(team, 40, 100)
    write(start(team), ("Decided", "The deposit is 2,000.", [rows[3].seq]))  # the model is wrong again
    assert [one.text for one in read(team).sentences] == ["The deposit is 28,000."]

    context.undo_correction(team.alice, team.chat.id, SummaryCorrection.objects.get(ended_at=None).id)
    assert [(one.text, one.old_text) for one in read(team).sentences] == [("The deposit is 2,000.", None)]


def test_a_correction_belongs_to_its_own_sentence_of_those_about_one_message(environment, rows):
    team = environment.team
    about = [rows[3].seq]
    write(start(team), ("Decided", "The deposit is 2,000.", about), ("Decided", "The rent starts on 1 May.", about))
    rent = read(team).sentences[1]
    context.correct_sentence(team.bob, team.chat.id, rent.id, text="The rent starts on 1 June.")
    assert [one.text for one in read(team).sentences] == ["The deposit is 2,000.", "The rent starts on 1 June."]

    # The next summary writes both in other words.
    add_messages(team, 40, 60)
    write(
        start(team), ("Decided", "They pay a deposit of 2,000.", about), ("Decided", "The rent starts in May.", about)
    )
    assert [one.text for one in read(team).sentences] == ["They pay a deposit of 2,000.", "The rent starts on 1 June."]


def test_the_corrections_before_the_present_one_are_shown(environment, rows):
    team = environment.team
    write(start(team), ("Decided", "The deposit is 2,000.", [rows[3].seq]), ("Open", "Who asks?", [rows[4].seq]))
    sentence = read(team).sentences[0]
    context.correct_sentence(team.alice, team.chat.id, sentence.id, text="It is 28,000.")
    context.correct_sentence(team.bob, team.chat.id, sentence.id, text="It is 29,000.")
    first, other = read(team).sentences
    assert (first.text, first.old_text, first.corrected_by_name) == ("It is 29,000.", "The deposit is 2,000.", "Bob")
    assert [(one.text, one.by_name) for one in first.ended] == [("It is 28,000.", "Alice")]
    assert other.ended == []
    context.undo_correction(team.alice, team.chat.id, SummaryCorrection.objects.get(ended_at=None).id)
    [first, _] = read(team).sentences
    assert (first.text, first.correction_id) == ("The deposit is 2,000.", None)
    assert [one.text for one in first.ended] == ["It is 29,000.", "It is 28,000."]


def test_a_correction_that_is_refused_changes_nothing(environment, rows):
    team = environment.team
    write(start(team), ("Decided", "The deposit is 2,000.", [rows[3].seq]))
    sentence = read(team).sentences[0]
    for error, person, id, text in (
        (NotFound, team.charlie, sentence.id, "other"),
        (NotFound, team.alice, team.chat.id, "other"),
        (Invalid, team.alice, sentence.id, " The  deposit is 2,000. "),
        (Invalid, team.alice, sentence.id, "   "),
    ):
        with pytest.raises(error):
            context.correct_sentence(person, team.chat.id, id, text=text)
    assert not SummaryCorrection.objects.exists()


def test_MSG11_a_deleted_or_edited_message_leaves_the_summary_at_once_and_the_next_one_reads_the_present_text(
    environment, rows
):
    team = environment.team
    write(
        start(team),
        ("Decided", "One.", [rows[3].seq]),
        ("Decided", "Two.", [rows[3].seq, rows[4].seq]),
        ("Decided", "Three.", [rows[5].seq]),
        ("Decided", "Four.", [rows[6].seq]),
    )
    context.correct_sentence(team.bob, team.chat.id, read(team).sentences[0].id, text="One, corrected.")
    chats.delete_message(team.alice, rows[3].id)
    chats.edit_message(team.alice, rows[6].id, text="The deposit is 28,000.", edited_at=None)
    assert [one.text for one in read(team).sentences] == ["Three."]
    add_messages(team, 40, 60)
    text = read_input(start(team))
    assert [word in text for word in ("One.", "One, corrected.", "Two.", "Three.", "Four.")] == [
        False,
        False,
        False,
        True,
        False,
    ]
    assert f"[{rows[3].seq}]" not in text
    assert f"[{rows[6].seq}] {rows[6].created_at:%Y-%m-%d %H:%M} Alice: The deposit is 28,000." in text


def test_a_person_can_ask_for_a_summary_anew(environment, rows):
    team = environment.team
    first = start(team)
    write(first, ("Decided", "Wrong.", [rows[3].seq]))
    again = context.request_summary(team.bob, team.chat.id)
    assert (again.base, again.through_seq) == (None, first.through_seq)
    assert "Wrong." not in read_input(again)
    with pytest.raises(Conflict):
        context.request_summary(team.bob, team.chat.id)
    with pytest.raises((NotFound, Forbidden)):
        context.request_summary(team.charlie, team.chat.id)

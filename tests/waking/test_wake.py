"""Which agents a message wakes, and the preview of that for the composer."""

from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.db.models import F
from django.test.utils import CaptureQueriesContext

from actors.models import Actor, AgentStatus
from chats import services as chats
from chats.models import Chat, ChatActor, Message
from common.clock import now
from runs.models import Run
from runs.services import claims
from tests.concurrency import ConcurrentTransaction
from tests.factories.agents import change_spec
from tests.factories.files import FileFactory
from tests.factories.usage import BudgetFactory
from waking.services import limits, wake
from waking.services.limits import MAX_AGENT_HOPS, MAX_WAKES_OF_PAIR, MAX_WAKES_OF_PAIR_IN_DAY
from waking.services.wake import preview_wakes
from workspaces.models import Credential

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def crowd(environment):
    """Robin and Scribe in one chat."""
    environment.scribe = environment.add_agent("Scribe", handle="scribe")
    return environment


def woken(environment, text, **more):
    """Return the handles of the agents that this message wakes."""
    before = {run.id for run in environment.runs()}
    environment.post(text, **more)
    return sorted(run.agent.handle for run in environment.runs() if run.id not in before)


def test_the_only_agent_of_a_chat_is_woken_by_every_message(environment):
    assert woken(environment, "hello") == ["robin"]
    [run] = environment.runs()
    assert (run.on_behalf_of, run.agent_hops, run.payer, run.origin) == (
        environment.team.alice,
        0,
        environment.team.workspace,
        "wake",
    )


@pytest.mark.parametrize(
    ("text", "handles"),
    [
        ("hello", []),
        ("@scribe hello", ["scribe"]),
        ("@Robin and @scribe", ["robin", "scribe"]),
        ("mail robin@scribe.example", []),
        ("@all hello", []),
    ],
)
def test_mentioned_agents_are_woken(crowd, text, handles):
    assert woken(crowd, text) == handles


def test_the_agent_that_is_answered_is_woken(crowd):
    crowd.post("@scribe hello")
    message = crowd.log()[0]
    message.author = crowd.scribe
    message.save()
    Run.objects.all().delete()
    assert woken(crowd, "and then?", reply_to=message.id) == ["scribe"]


def test_agents_that_are_set_to_always_are_woken(crowd):
    ChatActor.objects.filter(actor=crowd.scribe).update(response="always")
    assert woken(crowd, "hello") == ["scribe"]


def test_an_agent_that_is_set_to_never_is_woken_by_no_message(crowd):
    crowd.post("@scribe hello")
    answered = crowd.log()[0]
    answered.author = crowd.scribe
    answered.save()
    Run.objects.all().delete()
    ChatActor.objects.filter(actor=crowd.scribe).update(response="never")
    assert woken(crowd, "@scribe and @robin", reply_to=answered.id) == ["robin"]
    assert preview(crowd, "@scribe hello") == [("scribe", "refused", "never_answers")]
    assert preview(crowd, "hello") == []


def test_a_message_with_wake_nobody_wakes_no_agent(environment):
    assert woken(environment, "hello", wake="nobody") == []


def test_an_agent_that_left_or_is_suspended_is_not_woken(crowd):
    Actor.objects.filter(pk=crowd.scribe.pk).update(status=AgentStatus.SUSPENDED)
    assert woken(crowd, "@scribe hello") == []
    with transaction.atomic():
        chats.remove_participant(crowd.team.alice, crowd.team.chat.id, crowd.team.robin.id)
    assert woken(crowd, "@robin hello") == []


def test_system_messages_wake_no_agent(environment):
    with transaction.atomic():
        chats.add_participant(environment.team.alice, environment.team.chat.id, _another(environment).id)
    assert environment.runs() == []


def _another(environment):
    from tests.people import make_agent

    return make_agent(environment.team.workspace, environment.team.alice, "Quill", handle="quill")


@pytest.mark.usefixtures("engine")
def test_an_agent_wakes_another_by_mention_and_for_the_same_person(crowd):
    crowd.model.script(text="Over to @scribe.", times=1)
    crowd.post("@robin go")
    crowd.wait_until_idle()
    crowd.submit_queued_runs()
    robins, scribes = crowd.wait_until_idle()
    assert (scribes.agent, scribes.on_behalf_of, scribes.agent_hops) == (crowd.scribe, crowd.team.alice, 1)
    assert scribes.tree_id == robins.id
    assert len(crowd.list_answers(crowd.scribe)) == 1


@pytest.mark.usefixtures("engine")
@pytest.mark.usefixtures("receiving_engine")
def test_RUN18_agents_that_mention_each_other_stop_after_the_limit(crowd):
    crowd.model.script(text="@robin you", system="You are Scribe")
    crowd.model.script(text="@scribe you", system="You are Robin")
    crowd.post("@robin go")
    crowd.wait(lambda: len(crowd.runs(state="completed")) == MAX_AGENT_HOPS + 1, 15)
    assert crowd.wait_until_idle()[-1].agent_hops == MAX_AGENT_HOPS
    assert len(crowd.runs()) == MAX_AGENT_HOPS + 1


@pytest.mark.usefixtures("engine")
def test_errors_wake_no_agent(crowd):
    crowd.model.script(mode="status", status=400, error="@scribe help")
    crowd.post("@robin go")
    crowd.wait_until_idle()
    assert [run.agent.handle for run in crowd.runs()] == ["robin"]


def preview(environment, text, **more):
    found = preview_wakes(environment.team.alice, environment.team.chat.id, text=text, **more)
    return [(Actor.objects.get(pk=one.agent_id).handle, one.effect, one.reason) for one in found]


def test_the_wake_preview_equals_the_effect_of_the_message(crowd):
    for text in ("hello", "@scribe hello", "@robin @scribe"):
        assert [handle for handle, _, _ in preview(crowd, text)] == [
            handle for handle in ("robin", "scribe") if f"@{handle}" in text
        ]


def test_the_wake_preview_says_which_files_an_agent_cannot_read(crowd):
    """Robin lacks `read_file`. The model of both is unknown, so it is taken for one that cannot see."""
    assert "read_file" in crowd.scribe.current_spec.parse_content().tool_names  # as each new agent
    alice, bob, chat = crowd.team.alice, crowd.team.bob, crowd.team.chat
    text = FileFactory.create(chat=chat, uploaded_by=alice, posted_at=None, kind="text")
    picture = FileFactory.create(chat=chat, uploaded_by=alice, posted_at=None)
    other = FileFactory.create(chat=chat, uploaded_by=alice, posted_at=None, kind="other")
    of_bob = FileFactory.create(chat=chat, uploaded_by=bob, posted_at=None, kind="text")

    def find_unreadable(*files):
        found = preview_wakes(alice, chat.id, text="@robin @scribe", file_ids=[file.id for file in files])
        return [one.unreadable for one in found]

    assert find_unreadable() == find_unreadable(other) == find_unreadable(of_bob) == [(), ()]
    assert find_unreadable(text) == [("files",), ()]
    assert find_unreadable(text, picture) == [("files", "images"), ("images",)]
    Credential.objects.update(default_model="gpt-4o", provider="openai", api_base="")
    assert find_unreadable(picture) == [(), ()]


def test_the_wake_preview_shows_running_and_suspended_agents(crowd):
    assert preview(crowd, "@robin hello") == [("robin", "wakes", None)]
    crowd.post("@robin hello")
    Actor.objects.filter(pk=crowd.scribe.pk).update(status=AgentStatus.SUSPENDED)
    assert preview(crowd, "@robin @scribe") == [("robin", "joins", None), ("scribe", "refused", "suspended")]


@pytest.mark.parametrize(("memory", "effect"), [("agent", "after_other_work"), ("chat", "wakes")])
def test_the_wake_preview_shows_that_an_agent_with_one_memory_is_at_work_in_another_chat(environment, memory, effect):
    team = environment.team
    change_spec(team.robin.current_spec, memory=memory)
    other = chats.create_chat(team.alice, team.workspace.id, title="Other", actor_ids=[team.robin.id])
    environment.post("hello", chat=other)
    assert preview(environment, "hello") == [("robin", effect, None)]
    assert claims.claim_run(Run.objects.get(chat=other).pk, "here:1:a") is not None
    assert preview(environment, "hello") == [("robin", effect, None)]
    environment.post("hello")  # its run waits for the other one
    assert preview(environment, "hello") == [("robin", "joins", None)]
    Run.objects.filter(chat=other).update(state="completed", lease_owner="", lease_until=None)
    Run.objects.filter(chat=team.chat).delete()
    assert preview(environment, "hello") == [("robin", "wakes", None)]


def test_the_wake_preview_takes_a_fixed_number_of_queries(crowd, django_assert_num_queries):
    for number in range(5):
        crowd.add_agent(f"Agent{number}", handle=f"agent{number}")
    # The first fetches the chat and checks the rights, the last two read the teams.
    with django_assert_num_queries(7):
        text = "@robin @scribe @agent0 @agent1 @agent2"
        preview_ids = preview_wakes(crowd.team.alice, crowd.team.chat.id, text=text)
    assert len(preview_ids) == 5


def test_the_wake_preview_with_files_and_a_budget_takes_the_same_queries_for_two_agents_and_for_many(crowd):
    team = crowd.team
    BudgetFactory.create(workspace=team.workspace, limit_micro=None, limit_tokens=1)
    handles = [f"agent{number}" for number in range(6)]
    for handle in handles:
        crowd.add_agent(handle.title(), handle=handle)
    files = [
        FileFactory.create(chat=team.chat, uploaded_by=team.alice, posted_at=None, kind=kind)
        for kind in ("text", "image")
    ]
    found = []

    def count(handles):
        text, ids = " ".join(f"@{handle}" for handle in handles), [file.id for file in files]
        return count_queries(lambda: found.append(preview_wakes(team.alice, team.chat.id, text=text, file_ids=ids)))

    assert count(handles[:2]) == count(handles) <= 16
    assert [len(effects) for effects in found] == [2, 6]
    assert {(effect.reason, effect.unreadable) for effect in found[1]} == {("budget_used_up", ("images",))}


def test_a_posted_message_and_its_runs_are_one_transaction(environment, monkeypatch):
    monkeypatch.setattr(wake, "_build_run", lambda *args: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        environment.post("hello")
    assert environment.log() == []


# --- Loops between agents ----------------------------------------------------------------------------------------


@pytest.mark.usefixtures("engine")
@pytest.mark.usefixtures("receiving_engine")
def test_RUN18_the_end_of_a_loop_is_one_line_in_the_chat(crowd):
    crowd.model.script(text="@robin you", system="You are Scribe")
    crowd.model.script(text="@scribe you", system="You are Robin")
    crowd.post("@robin go")
    crowd.wait(lambda: crowd.log("WAKE_LIMIT_REACHED"), 15)
    crowd.wait_until_idle()
    [line] = crowd.log("WAKE_LIMIT_REACHED")
    assert (line.payload["limit"], line.payload["most"]) == ("hops", MAX_AGENT_HOPS)
    assert line.payload["agent_names"] in (["Robin"], ["Scribe"])
    crowd.post("@robin go on")  # a person starts the count anew
    crowd.wait(lambda: len(crowd.log("WAKE_LIMIT_REACHED")) == 2, 15)


def post_as_agent(crowd, author, text):
    """Post as an outside program does that has a token of the agent: without a run."""
    return chats.post_message(author, crowd.team.chat.id, text=text)[0]


def test_RUN18_two_agents_wake_each_other_only_so_often_until_a_person_writes(crowd):
    robin, scribe = crowd.team.robin, crowd.scribe
    for number in range(MAX_WAKES_OF_PAIR):
        author, other = (robin, "scribe") if number % 2 else (scribe, "robin")
        post_as_agent(crowd, author, f"@{other} {number}")
        Run.objects.filter(state="queued").update(state="completed")
    assert len(crowd.runs()) == MAX_WAKES_OF_PAIR
    post_as_agent(crowd, robin, "@scribe more")
    post_as_agent(crowd, scribe, "@robin more")
    assert len(crowd.runs()) == MAX_WAKES_OF_PAIR
    [line] = crowd.log("WAKE_LIMIT_REACHED")
    assert (line.payload["limit"], line.payload["most"]) == ("pair_rate", MAX_WAKES_OF_PAIR)
    crowd.post("go on", wake="nobody")
    post_as_agent(crowd, robin, "@scribe more")
    assert len(crowd.runs()) == MAX_WAKES_OF_PAIR + 1


def post_slowly(crowd, number):
    """Let the two agents mention each other, as programs do that answer slowly: so often, and never too often in ten minutes."""
    for turn in range(number):
        if turn % (MAX_WAKES_OF_PAIR - 1) == 0:
            age = F("created_at") - limits.PAIR_WINDOW
            Run.objects.update(created_at=age)
            Message.objects.update(created_at=age)
        author, other = (crowd.team.robin, "scribe") if turn % 2 else (crowd.scribe, "robin")
        post_as_agent(crowd, author, f"@{other} {turn}")
        Run.objects.filter(state="queued").update(state="completed")


def test_RUN18_a_slow_loop_with_a_program_ends_within_a_day_until_a_person_writes(crowd):
    post_slowly(crowd, MAX_WAKES_OF_PAIR_IN_DAY + 5)
    assert len(crowd.runs()) == MAX_WAKES_OF_PAIR_IN_DAY
    [line] = crowd.log("WAKE_LIMIT_REACHED")
    assert (line.payload["limit"], line.payload["most"]) == ("pair_day", MAX_WAKES_OF_PAIR_IN_DAY)
    crowd.post("go on", wake="nobody")
    post_as_agent(crowd, crowd.team.robin, "@scribe more")
    assert len(crowd.runs()) == MAX_WAKES_OF_PAIR_IN_DAY + 1


def test_RUN18_agents_that_answer_here_are_not_limited_within_a_day(crowd):
    """Their messages belong to runs, whose hops are limited: schedules may have them work together all day."""
    post_slowly(crowd, MAX_WAKES_OF_PAIR_IN_DAY)
    chat, robin = crowd.team.chat, crowd.team.robin
    for is_from_run, found in ((True, {}), (False, {crowd.scribe.id: "too_many_wakes_in_day"})):
        assert limits.find_agents_woken_too_often(chat, robin, [crowd.scribe], is_from_run=is_from_run) == found


def test_RUN18_two_posts_at_once_write_one_line(crowd):
    robin, scribe = crowd.team.robin, crowd.scribe
    for number in range(MAX_WAKES_OF_PAIR):
        post_as_agent(crowd, robin, f"@scribe {number}")
        Run.objects.filter(state="queued").update(state="completed")
    with transaction.atomic():
        post_as_agent(crowd, robin, "@scribe more")
        other = ConcurrentTransaction(lambda: post_as_agent(crowd, scribe, "@robin more"))
    other.result()
    assert len(crowd.log("WAKE_LIMIT_REACHED")) == 1


def test_RUN18_other_agents_are_not_counted_with_a_pair(crowd):
    third = crowd.add_agent("Quill", handle="quill")
    for number in range(MAX_WAKES_OF_PAIR):
        post_as_agent(crowd, crowd.team.robin, f"@scribe {number}")
        Run.objects.filter(state="queued").update(state="completed")
    post_as_agent(crowd, third, "@scribe and me?")
    assert len(crowd.runs()) == MAX_WAKES_OF_PAIR + 1


def count_queries(work):
    with CaptureQueriesContext(connection) as queries:
        work()
    return len(queries)


@pytest.mark.parametrize("runs_outside", [False, True])
def test_RUN18_the_limits_take_the_same_queries_for_two_agents_and_for_many(crowd, runs_outside):
    program = crowd.add_agent("Program", handle="program")
    agents = [crowd.add_agent(f"Agent{number}", handle=f"agent{number}") for number in range(20)]
    Actor.objects.filter(pk__in=[agent.pk for agent in [program, *agents]]).update(runs_outside=runs_outside)
    program, *agents = Actor.objects.filter(pk__in=[agent.pk for agent in [program, *agents]]).order_by("pk")
    for agent in agents[:2]:
        post_as_agent(crowd, program, f"@{agent.handle} hello")
    few = count_queries(
        lambda: limits.find_agents_woken_too_often(crowd.team.chat, program, agents[:2], is_from_run=False)
    )
    many = count_queries(
        lambda: limits.find_agents_woken_too_often(crowd.team.chat, program, agents, is_from_run=False)
    )
    assert few == many <= 4
    text = " ".join(f"@{agent.handle}" for agent in agents)
    two, all_of_them = (
        count_queries(lambda text=text: preview_wakes(program, crowd.team.chat.id, text=text))
        for text in ("@agent2 @agent3", text)
    )
    assert two == all_of_them


def count_rows_read(work):
    """Return the rows that PostgreSQL reads for the queries of `work`, by EXPLAIN."""
    with CaptureQueriesContext(connection) as queries:
        work()

    def count(node):
        own = (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]
        return (own if "Relation Name" in node else 0) + sum(count(child) for child in node.get("Plans", []))

    rows = 0
    with connection.cursor() as cursor:
        for query in queries:
            cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {query['sql']}")
            rows += count(cursor.fetchone()[0][0]["Plan"])
    return rows


def test_RUN18_the_limits_do_not_read_more_of_a_longer_chat(crowd, monkeypatch):
    monkeypatch.setattr(limits, "MAX_CHANGES_READ", 50)
    chat, robin = crowd.team.chat, crowd.team.robin
    Actor.objects.filter(pk=crowd.scribe.pk).update(runs_outside=True)
    scribe = Actor.objects.get(pk=crowd.scribe.pk)
    old = Message.objects.count()
    made = now() - timedelta(days=3)
    rows = [
        Message(
            chat=chat,
            author=robin,
            type="TEXT_MESSAGE",
            seq=old + number,
            version=old + number,
            created_at=made,
            payload={"text": "of an agent", "mentions": []},
        )
        for number in range(1, 3_001)
    ]
    Message.objects.bulk_create(rows)
    Chat.objects.filter(pk=chat.pk).update(version=old + 3_000)
    for number in range(MAX_WAKES_OF_PAIR):
        post_as_agent(crowd, robin, f"@scribe {number}")
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE chats_message; ANALYZE runs_run")
    chat.refresh_from_db()
    addressed = [(scribe, "chat", "too_many_wakes")]
    assert limits.find_agents_woken_too_often(chat, robin, [scribe], is_from_run=False) == {scribe.id: "too_many_wakes"}
    assert count_rows_read(lambda: limits.find_agents_woken_too_often(chat, robin, [scribe], is_from_run=False)) < 300
    assert count_rows_read(lambda: limits.build_limit_message(chat, robin, addressed)) < 300


@pytest.mark.parametrize(
    ("text", "wakes"),
    [
        ("Thanks @scribe!", False),
        ("OK, got it, @scribe. Thank you very much 👍", False),
        ("@scribe 收到，謝謝！", False),
        ("@scribe 好的", False),
        ("@scribe ok?", True),
        ("@scribe", True),
        ("Thanks @scribe, now write the report.", True),
        ("@scribe 谢谢，请继续写", True),
    ],
)
def test_an_acknowledgement_of_an_agent_wakes_no_agent(crowd, text, wakes):
    post_as_agent(crowd, crowd.team.robin, text)
    assert [run.agent.handle for run in crowd.runs()] == (["scribe"] if wakes else [])


def test_an_acknowledgement_of_a_person_wakes(crowd):
    assert woken(crowd, "ok @scribe") == ["scribe"]


@pytest.mark.parametrize("payload", [{"incomplete": True}, {"greeting": True}, {"wake": "nobody"}])
def test_an_incomplete_message_and_a_greeting_wake_no_agent(crowd, payload):
    team = crowd.team
    message = Message(
        chat=team.chat, author=team.alice, type="TEXT_MESSAGE", payload={"mentions": [str(crowd.scribe.id)]} | payload
    )
    assert wake.wake_agents(team.chat, message) == []


@pytest.mark.usefixtures("engine")
def test_an_answer_that_breaks_off_wakes_no_agent(crowd):
    crowd.model.script(mode="cut", text="@scribe please do this and that and more", after=4)
    crowd.post("@robin go")
    crowd.wait_until_idle()
    assert [run.agent.handle for run in crowd.runs()] == ["robin"]

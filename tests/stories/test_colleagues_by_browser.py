"""Agents as colleagues: five people and three agents in one chat, one of them an outside program; two agents between themselves; a
schedule and a wake by hand; an agent through whose eyes an editor looks."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from common.ids import new_id
from launcher.home import ROOT
from tests.scripted_model import ScriptedModel
from tests.stack import Stack
from tests.stories.integrator import PASSWORD, Integrator, Tab
from tests.stories.screens import Person

pytestmark = [pytest.mark.stack, pytest.mark.browser]


class Colleagues:
    """A chat of Alice (editor) and Bob, who have browsers, Carol, Dan and Eve, and the agents Researcher, Writer and Echo, for whom
    `examples/outside_program.py` answers."""

    def __init__(self, browser: Browser, stack: Stack, model: ScriptedModel) -> None:
        self.stack, self.model = stack, model
        self.alice, *self.others = [Integrator(stack, name) for name in ("Alice", "Bob", "Carol", "Dan", "Eve")]
        alice = self.alice
        workspace = alice.ok("POST", "workspaces", {"name": "Lighthouse"})
        self.workspace, self.handle = workspace["id"], workspace["handle"]
        settings = {"provider": "openai_compatible", "api_base": model.api_base, "default_model": "scripted"}
        alice.ok("PUT", f"workspaces/{self.workspace}/model", settings | {"revision": 0, "key": "sk-story"})
        first = self.create_agent("Researcher", tools=["send_message"], open_chat=True)
        self.chat, self.researcher = first["chat_id"], first["actor"]["id"]
        link = alice.ok("POST", f"chats/{self.chat}/links", {"role": "suggester"})["url"]
        for person in self.others:
            person.ok("POST", f"join/{link.rsplit('/', 1)[1]}")
        self.writer = self.create_agent("Writer", tools=[])["actor"]["id"]
        self.echo = self.create_agent("Echo", tools=[])["actor"]["id"]
        for agent in (self.writer, self.echo):
            alice.ok("POST", f"chats/{self.chat}/participants", {"actor_id": agent})
        alice.ok("PATCH", f"agents/{self.echo}/access", {"runs_outside": True})
        self.bot = self.start_bot()
        self.tab = alice.watch(self.chat)
        desktop, phone = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
        self.screen = Person(browser, stack, "Alice", viewport=desktop)
        self.phone = Person(browser, stack, "Bob", viewport=phone, color_scheme="dark", has_touch=True)
        for screen, person in ((self.screen, alice), (self.phone, self.others[0])):
            screen.open("/sign-in")
            screen.page.get_by_label("Email").fill(person.email)
            screen.page.get_by_label("Password").fill(PASSWORD)
            screen.page.get_by_role("button", name="Sign in").click()
            screen.page.wait_for_url("**/w/**")
            self.open_chat(screen)

    def create_agent(self, name: str, **more: Any) -> Any:
        body = {"name": name, "handle": name.lower(), "template": "blank", "prompt": f"You are {name}."} | more
        return self.alice.ok("POST", f"workspaces/{self.workspace}/agents", body)

    def start_bot(self) -> "subprocess.Popen[bytes]":
        token = self.alice.ok("POST", f"agents/{self.echo}/tokens", {"name": "Bot"})["secret"]
        environment = {"ATELIER_URL": self.stack.url, "ATELIER_TOKEN": token, "ATELIER_POLL_SECONDS": "0.2"}
        bot = subprocess.Popen(
            [sys.executable, "examples/outside_program.py"],
            cwd=ROOT,
            env=os.environ | environment,
            stdout=subprocess.PIPE,
        )
        assert bot.stdout is not None
        assert bot.stdout.readline() == b"Answering as Echo\n"
        return bot

    def open_chat(self, screen: Person, chat: str | None = None) -> None:
        screen.open(f"/w/{self.handle}/c/{chat or self.chat}")

    def list_texts(self, tab: Tab, agent: str) -> list[str]:
        return [message["payload"]["text"] for message in tab.list_texts_of(agent)]

    def close(self) -> None:
        self.bot.kill()
        self.bot.communicate()
        people: list[Any] = [self.screen, self.phone, self.alice, *self.others]
        for person in people:
            person.close()


@pytest.fixture(scope="module")
def colleagues(browser: Browser, stack: Stack, model: ScriptedModel) -> Iterator[Colleagues]:
    model.reset()
    colleagues = Colleagues(browser, stack, model)
    yield colleagues
    colleagues.close()


def test_everybody_talks_at_once_and_each_agent_answers_once_with_a_quote(colleagues: Colleagues, tmp_path):
    alice, (bob, carol, dan, eve), tab = colleagues.alice, colleagues.others, colleagues.tab
    colleagues.model.script(system="You are Researcher", text="To both of you: yes, for groups as well.")
    slowly = "The fares rise in April, as far as the three timetables that I have read say so, and not before."
    colleagues.model.script(system="You are Researcher", text=slowly, every=0.7, times=1)
    colleagues.model.script(system="You are Writer", text="Here is the draft that you wanted.")

    colleagues.screen.post("@researcher when do the fares rise?")
    tab.wait_until(lambda tab: [frame for frame in tab.frames if frame["type"] == "delta"])
    # The composer says what will happen, while the answer is being written.
    colleagues.phone.page.get_by_placeholder(re.compile("^Message ")).fill("@researcher and for groups?")
    expect(
        colleagues.phone.page.get_by_text("while it works, at its next step or right after this answer.")
    ).to_be_visible()
    colleagues.phone.page.screenshot(path=tmp_path / "composer-phone.png")
    carol_post = carol.post(colleagues.chat, "@researcher and for children?")
    colleagues.phone.page.get_by_role("button", name="Send").click()
    dan_post = dan.post(colleagues.chat, "@writer please draft the notice")
    eve_post = eve.post(colleagues.chat, "@echo 你好")

    second = tab.wait_for_answer(colleagues.researcher, 2)
    [draft], [echoed] = ([tab.wait_for_answer(agent, 1)] for agent in (colleagues.writer, colleagues.echo))
    assert colleagues.list_texts(tab, colleagues.researcher) == [slowly, "To both of you: yes, for groups as well."]
    bob_post = next(m for m in tab.messages("TEXT_MESSAGE") if m["author_id"] == bob.id)
    assert set(second["payload"]["answered_ids"]) == {carol_post["id"], bob_post["id"]}
    assert second["reply_to"] in (carol_post["id"], bob_post["id"])
    assert (draft["payload"]["answers"], echoed["reply_to"]) == (dan_post["id"], eve_post["id"])
    assert (echoed["payload"]["text"], echoed["run_id"]) == ("You wrote: @echo 你好", None)
    for screen in (colleagues.screen, colleagues.phone):
        screen.sees("To both of you: yes, for groups as well.")
        screen.sees("answers 2 messages")
        screen.sees("Here is the draft that you wanted.")
        screen.sees("You wrote: @echo 你好")
    colleagues.screen.page.screenshot(path=tmp_path / "chat.png")
    colleagues.phone.page.screenshot(path=tmp_path / "chat-phone.png")
    # Nobody answers twice: all runs have ended, and each agent has read everything.
    tab.wait_until(lambda tab: all(run["ended_at"] for run in tab.rows("run")))
    assert [
        len(colleagues.list_texts(tab, agent)) for agent in (colleagues.researcher, colleagues.writer, colleagues.echo)
    ] == [2, 1, 1]
    read = {row["actor"]["id"]: row["last_read_seq"] for row in tab.rows("participant")}
    assert read[colleagues.researcher] >= max(carol_post["seq"], bob_post["seq"])
    assert read[colleagues.echo] >= eve_post["seq"]
    assert read[alice.id] is None


def test_a_colleague_is_told_works_and_reports_back_and_a_loop_ends_visibly(colleagues: Colleagues, tmp_path):
    alice = colleagues.alice
    call = {"name": "send_message", "arguments": json.dumps({"to": "@writer", "text": "Please write up the fares."})}
    colleagues.model.reset()
    for text in ("see the notice", "the trains"):
        colleagues.model.script(system="You are Researcher", match=text, text="What about the ferries, then?")
    colleagues.model.script(system="You are Writer", match="ferries", text="What of the trains, I wonder?")
    colleagues.model.script(
        system="You are Writer", match="Please write up", text="It is written up: see the notice.", times=1
    )
    colleagues.model.script(
        system="You are Researcher", match="let Writer", calls=[call], then={"text": "Writer knows now."}, times=2
    )
    colleagues.screen.post("@researcher let Writer write it up")
    card = colleagues.screen.log.get_by_role("region", name="Approval: send_message").last
    expect(card.get_by_text("Please write up the fares.")).to_be_visible()
    colleagues.screen.page.screenshot(path=tmp_path / "approval.png")
    card.get_by_role("button", name="Approve", exact=True).click()
    colleagues.screen.sees("Writer knows now.")

    # Their own chat, which editors may read: told, done, reported back, and then the loop that ends with a line.
    [direct] = alice.ok("GET", f"workspaces/{colleagues.workspace}/chats-between-agents")["results"]
    chat = direct["chat"]["id"]
    tab = alice.watch(chat)
    [line] = tab.wait_until(lambda tab: tab.messages("WAKE_LIMIT_REACHED"), 60)
    assert line["payload"]["limit"] == "hops"
    texts = [(m["author_id"], m["payload"]["text"]) for m in tab.messages("TEXT_MESSAGE")]
    assert texts[:2] == [
        (colleagues.researcher, "Please write up the fares."),
        (colleagues.writer, "It is written up: see the notice."),
    ]
    assert {text for _, text in texts[2:]} == {"What about the ferries, then?", "What of the trains, I wonder?"}
    colleagues.open_chat(colleagues.screen, chat)
    colleagues.screen.sees("It is written up: see the notice.")
    colleagues.screen.sees(re.compile("was not woken: 4 messages of agents in a row is the limit"))
    colleagues.screen.page.screenshot(path=tmp_path / "loop.png")
    tab.wait_until(lambda tab: all(run["ended_at"] for run in tab.rows("run")))
    assert len(tab.messages("WAKE_LIMIT_REACHED")) == 1
    # Bob is no editor: he does not see it.
    assert colleagues.others[0].status("GET", f"chats/{chat}") == 404
    colleagues.open_chat(colleagues.screen)


def test_a_schedule_and_a_person_wake_an_agent_again(colleagues: Colleagues, tmp_path):
    colleagues.model.reset()
    colleagues.model.script(
        system="You are Researcher", match="I wake you by hand", text="I have looked again: nothing new."
    )
    colleagues.model.script(
        system="You are Researcher", match="Read the fares", text="Good morning: the fares are the same."
    )
    body = {
        "id": str(new_id()),
        "name": "Morning fares",
        "instructions": "Read the fares.",
        "expression": "0 8 * * *",
        "time_zone": "Asia/Taipei",
    }
    colleagues.alice.ok("POST", f"chats/{colleagues.chat}/agents/{colleagues.researcher}/schedules", body)
    colleagues.stack.execute("UPDATE schedules_schedule SET next_at = now() WHERE id = %s", body["id"])
    for screen in (colleagues.screen, colleagues.phone):
        screen.sees("The schedule “Morning fares” woke")
        screen.sees("Good morning: the fares are the same.")
    [schedule] = colleagues.alice.ok("GET", f"agents/{colleagues.researcher}/schedules")["results"]
    assert (schedule["last"]["state"], len(schedule["next_times"])) == ("fired", 3)

    page = colleagues.screen.page
    page.get_by_role("button", name=re.compile("Invite|People and agents")).first.click()
    page.get_by_role("button", name="Ask Researcher to look again").click()
    page.keyboard.press("Escape")
    for screen in (colleagues.screen, colleagues.phone):
        screen.sees(re.compile("asked Researcher to look again"))
        screen.sees("I have looked again: nothing new.")
    quote = colleagues.screen.log.get_by_role("button", name=re.compile("Reply to.*asked Researcher to look again"))
    expect(quote).to_be_visible()
    page.screenshot(path=tmp_path / "woken.png")
    # The program is woken by hand, too.
    colleagues.alice.ok("POST", f"chats/{colleagues.chat}/agents/{colleagues.echo}/wake", {"id": str(new_id())})
    colleagues.phone.sees("I looked again.")


def test_a_chat_without_a_title_is_named_after_the_others_as_they_join_and_leave(colleagues: Colleagues):
    bob, carol = colleagues.others[:2]
    body = {"title": "", "actor_ids": [bob.id, carol.id]}
    chat = colleagues.alice.ok("POST", f"workspaces/{colleagues.workspace}/chats", body)["chat"]["id"]
    link = colleagues.screen.page.get_by_role("navigation", name="Workspace").locator(f'a[href*="{chat}"]')
    expect(link).to_have_text("Bob · Carol")
    carol.ok("DELETE", f"chats/{chat}/participants/{carol.id}")
    expect(link).to_have_text("Bob")
    bob.ok("POST", f"chats/{chat}/participants", {"actor_id": colleagues.writer})
    expect(link).to_have_text("Bob · Writer")


def test_an_editor_looks_through_the_eyes_of_an_agent(colleagues: Colleagues, tmp_path):
    colleagues.model.reset()
    colleagues.model.script(system="You are Writer", text="The notice is ready.")
    colleagues.screen.post("@writer the notice, please")
    colleagues.screen.sees("The notice is ready.")
    colleagues.screen.open(f"/w/{colleagues.handle}/agents/{colleagues.writer}/eyes")
    page = colleagues.screen.page
    expect(page.get_by_text("You see what Writer sees.")).to_be_visible()
    expect(page.get_by_text("@writer the notice, please").first).to_be_visible()
    expect(page.get_by_role("main").get_by_text("Researcher", exact=True)).to_have_count(
        2
    )  # the colleagues, and their direct chat
    expect(page.get_by_text("sk-story")).to_have_count(0)
    page.screenshot(path=tmp_path / "eyes.png")
    assert colleagues.others[0].status("GET", f"agents/{colleagues.writer}/viewpoint") == 403

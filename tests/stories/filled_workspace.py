"""A workspace with rows on every page of an agent and of the directory, made by the API."""

import json
from typing import Any

import httpx

from common.ids import new_id
from tests.scripted_model import ScriptedModel
from tests.stack import Stack
from tests.stories.integrator import PASSWORD, Integrator
from tests.stories.screens import Person

PROMPT = """# Role
You are Planner. You plan group trips for Lighthouse Tours.

# How to answer
- Lead with one proposal.
- Keep what the group decides with the tool remember.
"""


class FilledWorkspace:
    """The workspace of Alice, with the agents Lead, Planner (who reports to Lead) and Writer.

    Planner has one memory with notes and a history, two schedules, runs, pinned messages, a chat with Writer, and a public copy
    with two versions."""

    def __init__(self, stack: Stack, model: ScriptedModel) -> None:
        self.stack, self.model = stack, model
        self.alice = alice = Integrator(stack, "Alice")
        workspace = alice.ok("POST", "workspaces", {"name": "Lighthouse"})
        self.workspace, self.handle = workspace["id"], workspace["handle"]
        settings = {"provider": "openai_compatible", "api_base": model.api_base, "default_model": "scripted"}
        alice.ok("PUT", f"workspaces/{self.workspace}/model", settings | {"revision": 0, "key": "sk-story"})
        self.lead = self.create_agent("Lead")["actor"]["id"]
        first = self.create_agent("Planner", prompt=PROMPT, tools=["current_time", "remember"], open_chat=True)
        self.planner, self.chat = first["actor"]["id"], first["chat_id"]
        self.writer = self.create_agent("Writer")["actor"]["id"]
        alice.ok("PUT", f"agents/{self.planner}/parent", {"parent_id": self.lead})
        self.save_second_version()
        self.create_runs()
        self.create_notes_and_schedules()
        self.let_agents_talk()
        self.publish()

    def create_agent(self, name: str, **more: Any) -> Any:
        body = {"name": name, "handle": name.lower(), "template": "blank", "prompt": f"You are {name}."} | more
        return self.alice.ok("POST", f"workspaces/{self.workspace}/agents", body)

    def save_second_version(self) -> None:
        """Save version 2 of Planner, with a line more and one memory for all its chats."""
        draft_at = f"chats/{self.chat}/agents/{self.planner}/draft"
        draft = self.alice.ok("PUT", draft_at, {"revision": None})
        content = {**draft["written"], "memory": "agent", "prompt": f"{PROMPT}- Name the price of each proposal.\n"}
        draft = self.alice.ok("PUT", draft_at, {"content": content, "revision": draft["revision"]})
        version = {"revision": draft["revision"], "base_version": 1, "message": "One memory"}
        self.alice.ok("POST", f"{draft_at}/save", version)

    def create_runs(self) -> None:
        """Let Planner answer twice, each time with a call of a tool, and pin two messages."""
        alice, model = self.alice, self.model
        note = {"name": "remember", "arguments": json.dumps({"text": "Group fares need ten travellers."})}
        clock = {"name": "current_time", "arguments": '{"timezone": "Asia/Tokyo"}'}
        model.script(match="Group fares need", calls=[note], then={"text": "I will keep that in mind."}, times=2)
        model.script(match="What time is it in Kyoto", calls=[clock], then={"text": "It is six in Kyoto."}, times=2)
        tab = alice.watch(self.chat)
        asked = alice.post(self.chat, "Group fares need ten travellers: remember that.")
        tab.wait_for_answer(self.planner, 1)
        alice.post(self.chat, "What time is it in Kyoto?")
        answer = tab.wait_for_answer(self.planner, 2)
        tab.wait_until(lambda tab: all(run["ended_at"] for run in tab.rows("run")))
        for message in (asked["id"], answer["id"]):
            alice.ok("PUT", f"chats/{self.chat}/messages/{message}/pin")
        self.run = answer["run_id"]

    def create_notes_and_schedules(self) -> None:
        alice = self.alice
        notes = f"agents/{self.planner}/notes"
        alice.ok("POST", notes, {"text": "長輩多的團，飯店離地鐵 500 公尺內。"})
        alice.ok("POST", notes, {"text": "Carol prefers morning calls.", "chat_id": self.chat})
        for name, expression in (("Morning fares", "0 8 * * 1-5"), ("Weekly review", "30 17 * * 5")):
            schedule = {
                "id": str(new_id()),
                "name": name,
                "instructions": "Read the fares.",
                "expression": expression,
                "time_zone": "Asia/Taipei",
            }
            row = alice.ok("POST", f"chats/{self.chat}/agents/{self.planner}/schedules", schedule)
        alice.ok("PATCH", f"schedules/{row['id']}", {"revision": row["revision"], "is_enabled": False})

    def let_agents_talk(self) -> None:
        """Open the chat of Planner and Writer, in which a program posts as Writer, and Planner answers."""
        alice = self.alice
        body = {"actor_id": self.writer, "agent_id": self.planner}
        self.agents_chat = alice.ok("POST", f"workspaces/{self.workspace}/direct-chats", body)["chat"]["id"]
        token = alice.ok("POST", f"agents/{self.writer}/tokens", {"name": "Bot"})["secret"]
        self.model.script(match="Which hotel", text="The one near the metro.", times=1)
        message = {"id": str(new_id()), "text": "Which hotel do we name in the letter?"}
        headers = {"Authorization": f"Bearer {token}"}
        url = f"{self.stack.url}/api/v1/chats/{self.agents_chat}/messages"
        httpx.post(url, json=message, headers=headers).raise_for_status()
        alice.watch(self.agents_chat).wait_for_answer(self.planner, 1)

    def create_board(self) -> None:
        """Start a plan by hand, of which one task is done, one fails, and one waits for Alice."""
        self.alice.ok("PUT", f"workspaces/{self.workspace}/tools/current_time/policy", {"policy": "ask"})
        clock = {"name": "current_time", "arguments": '{"timezone": "Asia/Tokyo"}'}
        self.model.script(match="Name a hotel", text="The one near the metro.")
        self.model.script(match="Add it up", mode="status", status=400, error="No rate.")
        self.model.script(match="Look at the clock", calls=[clock], then={"text": "It is six."})
        tasks = [
            {"agent_id": self.writer, "description": "Name a hotel", "parameters": {"stars": 3}},
            {"agent_id": self.writer, "description": "Add it up", "max_attempts": 1},
            {"agent_id": self.planner, "description": "Look at the clock", "after": [1]},
        ]
        plan = {"id": str(new_id()), "user_input": "A trip to Kyoto", "reasoning": "The hotel comes first."}
        self.alice.ok("POST", f"chats/{self.chat}/boards", plan | {"tasks": tasks})

    def publish(self) -> None:
        """Publish both versions of Planner."""
        self.public = f"planner-{str(new_id())[-8:]}"
        listing: dict[str, Any] = {
            "name": f"Planner {self.public[-8:]}",
            "description": "Plans group trips, with one proposal first.",
            "category": "business",
            "languages": ["en", "zh-hant"],
            "examples": ["Plan a day in Kyoto for twelve.", "幫十二人安排京都一日遊。"],
        }
        self.alice.ok("POST", f"agents/{self.planner}/publish", listing | {"handle": self.public, "version": 1})
        self.alice.ok("PUT", f"agents/{self.planner}/publication", listing | {"message": "Shorter answers"})

    def close(self) -> None:
        self.alice.close()

    def sign_in(self, person: Person) -> None:
        person.open("/sign-in")
        person.page.get_by_label("Email").fill(self.alice.email)
        person.page.get_by_label("Password").fill(PASSWORD)
        person.page.get_by_role("button", name="Sign in").click()
        person.page.wait_for_url("**/w/**")

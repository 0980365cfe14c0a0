"""A workspace with all kinds of rows that have texts, created by the API, for tests of the screens."""

import json
from dataclasses import dataclass
from typing import Any

from common.ids import new_id
from tests.scripted_model import ScriptedModel
from tests.stack import Stack
from tests.stories.integrator import Integrator


@dataclass
class Texts:
    """The texts of the rows: the name, the prompt, and the text of all others."""

    name: str
    prompt: str
    text: str


class Dispute:
    """Mallory's workspace. `link` admits an editor; `create_rows` is called when they have joined."""

    def __init__(self, stack: Stack, model: ScriptedModel, texts: Texts) -> None:
        self.texts = texts
        self.model = model
        self.mallory = mallory = Integrator(stack, "Mallory")
        mallory.ok("PATCH", "me", {"name": texts.name})
        workspace = mallory.ok("POST", "workspaces", {"name": texts.name})
        self.workspace = workspace["id"]
        self.home = f"/w/{workspace['handle']}"
        mallory.ok(
            "PUT",
            f"workspaces/{self.workspace}/model",
            {
                "provider": "openai_compatible",
                "api_base": model.api_base,
                "default_model": "scripted",
                "revision": 0,
                "key": "sk-story-0123456789",
            },
        )
        body = {"name": texts.name, "prompt": texts.prompt, "open_chat": True}
        agent = mallory.ok("POST", f"workspaces/{self.workspace}/agents", body)
        self.chat, self.agent = agent["chat_id"], agent["actor"]["id"]
        self.link: str = mallory.ok("POST", f"chats/{self.chat}/links", {"role": "editor"})["url"]

    @property
    def at(self) -> str:
        return f"chats/{self.chat}/agents/{self.agent}"

    def create_rows(self) -> None:
        """Create a second version, a pending and a rejected suggestion, a merge with a conflict, a comparison and a mention."""
        self.model.reset()
        self.model.script(system="Summarizer", text=self.texts.text)
        self._save()
        rejected, _, *chosen = (self._suggest(f"{number} {self.texts.text}") for number in range(4))
        self.mallory.ok("POST", f"suggestions/{rejected}/reject", {"reason": self.texts.text})
        tab = self.mallory.watch(self.chat)
        self.merge = self._merge(chosen)
        tab.wait_until(lambda tab: tab.messages("DRAFT_MERGED"))
        self._compare()
        tab.wait_until(
            lambda tab: len([m for m in tab.list_texts_of(self.agent) if m["payload"]["stamp"].get("compared")]) == 2
        )
        self.mallory.post(self.chat, f"@all {self.texts.text}", wake="nobody")
        self.mallory.close()

    def _save(self) -> None:
        draft = self.mallory.ok("PUT", f"{self.at}/draft", {"revision": None})
        content = {**draft["written"], "prompt": f"{self.texts.prompt}\nSecond."}
        draft = self.mallory.ok("PUT", f"{self.at}/draft", {"content": content, "revision": draft["revision"]})
        body = {"revision": draft["revision"], "base_version": 1, "message": self.texts.text}
        self.content = self.mallory.ok("POST", f"{self.at}/draft/save", body)["content"]

    def _suggest(self, line: str) -> Any:
        content = {**self.content, "prompt": f"{self.content['prompt']}\n{line}"}
        body = {"id": str(new_id()), "content": content, "base_version": 2, "note": self.texts.text}
        return self.mallory.ok("POST", f"{self.at}/suggestions", body)["id"]

    def _merge(self, suggestions: list[str]) -> Any:
        first, second = (f"{number} {self.texts.text}" for number in (2, 3))
        segments = [{"text": f"{self.content['prompt']}\n", "from": []}, {"text": second, "from": ["s2"]}]
        choices = [{"from": "s1", "text": first}, {"from": "s2", "text": second}]
        conflict = {"question": self.texts.text, "between": ["s1", "s2"], "chosen": 1, "choices": choices}
        self.model.script(system="Merge agent", text=json.dumps({"segments": segments, "conflicts": [conflict]}))
        body = {"id": str(new_id()), "suggestion_ids": suggestions, "chat_id": self.chat}
        return self.mallory.ok("POST", f"agents/{self.agent}/merges", body)["id"]

    def _compare(self) -> None:
        self.model.script(match="ASK-BOTH", text=self.texts.text)
        revision = self.mallory.ok("GET", f"{self.at}/draft")["revision"]
        self.mallory.ok("POST", f"{self.at}/draft/apply", {"revision": revision})
        body = {"id": str(new_id()), "text": f"ASK-BOTH {self.texts.text}", "revision": revision}
        self.mallory.ok("POST", f"{self.at}/comparisons", body)

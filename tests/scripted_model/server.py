"""The server: it stores scripts, answers by them, and records the requests."""

import asyncio
import json
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import aiohttp
from aiohttp import web

from tests.scripted_model import modes
from tests.scripted_model.anthropic import answer_message
from tests.scripted_model.bedrock import answer_converse
from tests.scripted_model.concepts import DIMENSIONS, embed
from tests.scripted_model.gemini import answer_content
from tests.scripted_model.script import Body, Script, answering_a_tool, default_script, inline_script


@dataclass
class Recorded:
    """A request, with the port of its client. Times are `time.time()`; `left_at`: when the client disconnected before the end."""

    body: dict[str, Any]
    headers: dict[str, str]
    at: float
    port: int = 0
    mode: str = ""
    left_at: float | None = None
    ended_at: float | None = None
    target: str = ""
    """The path and query as they were sent."""


@dataclass
class Desk:
    """The state of the server: the active scripts, and the requests so far."""

    scripts: list[Script] = field(default_factory=list)
    requests: list[Recorded] = field(default_factory=list)

    def script_for(self, body: Body) -> Script:
        script = inline_script(body) or self._listed(body) or default_script(body)
        if script.then and answering_a_tool(body):
            return replace(Script.of(script.then), requires=script.requires)
        return script

    def listed_script_for(self, body: Body) -> Script | None:
        """Return the script that a test has added for this request, if there is one."""
        return self._listed(body)

    def _listed(self, body: Body) -> Script | None:
        for place, script in enumerate(self.scripts):
            if script.fits(body) and script.mode != "models":
                self._count_down(place, script)
                return script
        return None

    def _count_down(self, place: int, script: Script) -> None:
        if script.times == 1:
            del self.scripts[place]
        elif script.times > 1:
            self.scripts[place] = replace(script, times=script.times - 1)


DESK = web.AppKey("desk", Desk)


async def chat_completions(request: web.Request) -> web.StreamResponse:
    desk = request.app[DESK]
    body = await request.json()
    script = limit(complete(desk.script_for(body)), body)
    peer = request.transport.get_extra_info("peername") if request.transport else None
    record = Recorded(
        body, dict(request.headers), time.time(), port=peer[1] if peer else 0, mode=script.mode, target=request.raw_path
    )
    desk.requests.append(record)
    try:
        return await answer(request, body, script)
    except (asyncio.CancelledError, ConnectionError):
        record.left_at = time.time()
        raise
    finally:
        record.ended_at = time.time()


def complete(script: Script) -> Script:
    """Add the defaults of the mode to the script."""
    preset = modes.DEFAULTS.get(script.mode, {})
    missing = {name: value for name, value in preset.items() if not getattr(script, name)}
    if script.mode == "badtool":
        missing["calls"] = modes.bad_calls(script.bad)
    return replace(script, **missing)


def limit(script: Script, body: Body) -> Script:
    """Cut the answer at the tokens that the request asks for, as real servers do."""
    most = body.get("max_tokens") or body.get("max_completion_tokens")
    usage = script.usage if isinstance(script.usage, Mapping) else {}
    reported = usage.get("completion_tokens")
    if not most or script.calls or max(len(script.words()), reported if isinstance(reported, int) else 0) <= most:
        return script
    if isinstance(reported, int) and reported > most:
        script = replace(script, usage={**usage, "completion_tokens": most})
    return replace(script, tokens=script.words()[:most], finish=script.finish or "length")


async def answer(request: web.Request, body: Body, script: Script) -> web.StreamResponse:
    if script.first:
        await asyncio.sleep(script.first)
    if request.path == "/v1/messages" and script.mode != "redirect":
        return await answer_message(request, body, script)
    if request.path.endswith(":streamGenerateContent"):
        return await answer_content(request, body, script)
    if request.path.endswith("/converse-stream"):
        return await answer_converse(request, body, script)
    if script.mode in ("status", "redirect"):
        return modes.answer_status(script, request)
    if 0 < script.context_size < len(json.dumps(body["messages"], ensure_ascii=False)) // 4:
        text = "the request exceeds the available context size, try increasing it"
        return modes.answer_status(replace(script, status=400, error=text), request)
    if script.requires and (error := modes.find_missing(script, body)):
        return modes.answer_status(replace(script, status=400, error=error), request)
    if not body.get("stream") or not script.streams:
        return modes.answer_whole(script, body)
    out = modes.Out(request, body)
    await out.open()
    await modes.MODES[script.mode](out, script, body)
    return out.response


async def embeddings(request: web.Request) -> web.StreamResponse:
    """Answer with the embeddings of a concept map. A script for the texts, joined by line breaks, can make it fail."""
    desk = request.app[DESK]
    body = await request.json()
    texts = body["input"]
    asked: Body = {"model": body["model"], "messages": [{"role": "user", "content": "\n".join(texts)}]}
    script = desk.listed_script_for(asked) or Script()
    record = Recorded(body, dict(request.headers), time.time(), mode=script.mode, target=request.raw_path)
    desk.requests.append(record)
    if script.first:
        await asyncio.sleep(script.first)
    if script.mode in ("status", "redirect"):
        return modes.answer_status(script, request)
    data = [
        {"object": "embedding", "index": index, "embedding": embed(text, script.count or DIMENSIONS)}
        for index, text in enumerate(texts)
    ]
    answer: dict[str, Any] = {"object": "list", "data": data, "model": body["model"]}
    if script.usage:
        tokens = sum(len(text) // 4 + 1 for text in texts)
        answer["usage"] = {"prompt_tokens": tokens, "total_tokens": tokens}
    return web.json_response(answer)


async def models(request: web.Request) -> web.Response:
    """List the models. A script of the mode `models` has the entries, or another body."""
    script = next((script for script in request.app[DESK].scripts if script.mode == "models"), None)
    if script is not None:
        return web.Response(text=script.body or json.dumps({"object": "list", "data": script.models}))
    return web.json_response({"object": "list", "data": [{"id": "scripted", "object": "model", "owned_by": "tests"}]})


async def set_scripts(request: web.Request) -> web.Response:
    """POST: add a script or a list, with priority over earlier ones. DELETE: delete scripts and requests."""
    desk = request.app[DESK]
    if request.method == "DELETE":
        desk.scripts.clear()
        desk.requests.clear()
        return web.json_response({})
    data = await request.json()
    desk.scripts[:0] = [Script.of(one) for one in (data if isinstance(data, list) else [data])]
    return web.json_response({"scripts": len(desk.scripts)})


async def get_requests(request: web.Request) -> web.Response:
    return web.json_response({"requests": [asdict(record) for record in request.app[DESK].requests]})


def application(desk: Desk | None = None) -> web.Application:
    app = web.Application(client_max_size=64 * 1024 * 1024)
    app[DESK] = desk or Desk()
    app.router.add_post("/v1/chat/completions", chat_completions)
    app.router.add_post("/v1/messages", chat_completions)
    app.router.add_post("/azure/openai/deployments/{deployment}/chat/completions", chat_completions)
    app.router.add_post("/model/{model}/converse-stream", chat_completions)
    app.router.add_post("/models/{model}:streamGenerateContent", chat_completions)
    app.router.add_post("/v1/embeddings", embeddings)
    app.router.add_get("/v1/models", models)
    app.router.add_post("/script", set_scripts)
    app.router.add_delete("/script", set_scripts)
    app.router.add_get("/requests", get_requests)
    return app


async def serve(host: str = "127.0.0.1", port: int = 0, desk: Desk | None = None) -> tuple[web.AppRunner, str]:
    """Start the server. Return its runner (`cleanup()` stops it) and its URL without `/v1`."""
    runner = web.AppRunner(application(desk), handler_cancellation=True, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, host, port)
    await site.start()
    assert site._server is not None
    bound = site._server.sockets[0].getsockname()[1]  # type: ignore[attr-defined]  # of asyncio.Server
    return runner, f"http://{host}:{bound}"


class ScriptedModel:
    """The server in a separate thread: `with ScriptedModel() as model: model.script(mode="drip")`."""

    def __init__(self) -> None:
        self.desk = Desk()
        self.url = ""
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="scripted-model", daemon=True)

    @property
    def api_base(self) -> str:
        """The URL for a credential."""
        return f"{self.url}/v1"

    @property
    def host(self) -> str:
        """`host:port`, for `ATELIER_ALLOW_PRIVATE_HOSTS`."""
        return self.url.removeprefix("http://")

    @property
    def requests(self) -> list[Recorded]:
        return self.desk.requests

    def script(self, **script: Any) -> None:
        """Add a script with priority over earlier ones (see `Script`)."""
        self.desk.scripts.insert(0, Script.of(script))

    def reset(self) -> None:
        """Delete all scripts and requests."""
        self.desk.scripts.clear()
        self.desk.requests.clear()

    def wait_until_left(self, number: int = -1, seconds: float = 60.0) -> Recorded:
        """Wait until the client of a request has disconnected, and return the request. Raises `TimeoutError`."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if self.requests and self.requests[number].left_at is not None:
                return self.requests[number]
            time.sleep(0.005)
        raise TimeoutError("The caller is still connected.")

    def __enter__(self) -> "ScriptedModel":
        self._thread.start()
        if not self._ready.wait(60):
            raise RuntimeError("The scripted model did not start.")
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        runner, self.url = self._loop.run_until_complete(serve(desk=self.desk))
        self._ready.set()
        self._loop.run_forever()
        self._loop.run_until_complete(runner.cleanup())
        self._loop.close()


class Remote:
    """A scripted model in another process: the same methods over HTTP."""

    def __init__(self, url: str) -> None:
        self.url = url

    async def script(self, **script: Any) -> None:
        await self._send("POST", "/script", script)

    async def reset(self) -> None:
        await self._send("DELETE", "/script")

    async def requests(self) -> list[dict[str, Any]]:
        answer = await self._send("GET", "/requests")
        return list(answer["requests"])

    async def _send(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        async with aiohttp.ClientSession() as session:
            data = json.dumps(body) if body is not None else None
            async with session.request(method, self.url + path, data=data) as response:
                answer: dict[str, Any] = await response.json()
                return answer


def overlap(requests: Sequence[Recorded]) -> int:
    """Return how many requests were open at once, at most."""
    marks = sorted([(r.at, 1) for r in requests] + [(r.ended_at or r.at, -1) for r in requests])
    most = now = 0
    for _, step in marks:
        now += step
        most = max(most, now)
    return most

"""An MCP server by the SDK, as a process: `python -m tests.mcp_server PORT`. A test changes it by `POST /control`.

`protocol`: `new`, or `old` for a server that knows the handshake only. `token`: the bearer token that it wants. `tools`: names
of `TOOLS`. `descriptions`: texts by the name of a tool. `GET /calls` returns the calls that it got.
"""

import asyncio
import contextlib
import json
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator

TOOLS = {
    "list_subscribers": (True, {"list": {"type": "string"}, "limit": {"type": "integer"}}),
    "send_campaign": (False, {"campaign_id": {"type": "integer"}}),
    "get_report": (True, {}),
    "draw": (True, {}),
    "fail": (True, {}),
    "wait": (True, {}),
    "ask": (True, {}),
    "echo_token": (True, {}),
}
DESCRIPTIONS = {"list_subscribers": "A list, with consent and language.", "send_campaign": "Send a drafted campaign."}


class MCPTestServer:
    """The process, from outside."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.host = f"127.0.0.1:{port}"
        self.url = f"http://{self.host}/mcp"

    def control(self, **changes: object) -> None:
        """Change the server for all later requests."""
        request = urllib.request.Request(f"http://{self.host}/control", json.dumps(changes).encode())
        urllib.request.urlopen(request).read()

    def list_calls(self) -> list[tuple[str, dict[str, object]]]:
        """Return the calls of tools, with their arguments."""
        return [tuple(call) for call in json.load(urllib.request.urlopen(f"http://{self.host}/calls"))]


@contextlib.contextmanager
def run_mcp_server() -> Iterator[MCPTestServer]:
    """Run the server during the block."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([sys.executable, "-m", "tests.mcp_server", str(port)])
    try:
        until = time.monotonic() + 30
        while process.poll() is None and time.monotonic() < until:
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            time.sleep(0.05)
        yield MCPTestServer(port)
    finally:
        process.kill()
        process.wait()


class Mailroom:
    """What the server does. `state` is changed by a test."""

    def __init__(self) -> None:
        self.state: dict = {"protocol": "new", "token": "", "tools": [], "descriptions": {}, "destructive": []}
        self.calls: list[tuple[str, dict]] = []
        self.authorization = ""

    async def list_tools(self, ctx, params):
        import mcp_types as types

        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=name,
                    description=self.state["descriptions"].get(name, DESCRIPTIONS.get(name, f"The tool {name}.")),
                    input_schema={"type": "object", "properties": TOOLS[name][1]},
                    annotations=types.ToolAnnotations(
                        read_only_hint=TOOLS[name][0], destructive_hint=name in self.state["destructive"] or None
                    ),
                )
                for name in self.state["tools"]
            ]
        )

    async def call_tool(self, ctx, params):
        import mcp_types as types

        self.calls.append((params.name, params.arguments or {}))
        text = json.dumps([params.name, params.arguments])
        match params.name:
            case "draw":
                picture = types.ImageContent(type="image", data="AAAA", mime_type="image/png")
                link = types.ResourceLink(type="resource_link", uri="https://x.example/a", name="a")
                return types.CallToolResult(content=[picture, link])
            case "get_report":
                return types.CallToolResult(content=[], structured_content={"opened": 12})
            case "fail":
                text = "no such list"
            case "wait":
                await asyncio.sleep(60)
            case "ask":
                await ctx.session.elicit_form("Your password?", {"type": "object", "properties": {}})
            case "echo_token":
                text = self.authorization
        content = [types.TextContent(type="text", text=text)]
        return types.CallToolResult(content=content, is_error=params.name == "fail")

    async def control(self, request):
        from starlette.responses import JSONResponse

        self.state.update(await request.json())
        return JSONResponse({})

    async def show_calls(self, request):
        from starlette.responses import JSONResponse

        return JSONResponse(self.calls)

    def guard(self, app):
        """Return the application behind the token, without the newer protocol if the state says so."""
        from starlette.requests import Request
        from starlette.responses import JSONResponse

        async def guarded(scope, receive, send):
            if scope["type"] != "http" or scope["path"] != "/mcp":
                return await app(scope, receive, send)
            request = Request(scope, receive)
            self.authorization, token = request.headers.get("authorization", ""), self.state["token"]
            if token and self.authorization != f"Bearer {token}":
                return await JSONResponse({}, 401, {"WWW-Authenticate": "Bearer"})(scope, receive, send)
            body = await request.body()
            if self.state["protocol"] == "old" and b'"server/discover"' in body:
                error = {"jsonrpc": "2.0", "id": json.loads(body)["id"], "error": {"code": -32601, "message": "no"}}
                return await JSONResponse(error)(scope, receive, send)

            async def replay():
                return {"type": "http.request", "body": body, "more_body": False}

            return await app(scope, replay, send)

        return guarded


def serve(port: int) -> None:
    """Serve until the process is killed."""
    import uvicorn
    from mcp.server.lowlevel import Server

    mailroom = Mailroom()
    server: Server = Server("mailroom", on_list_tools=mailroom.list_tools, on_call_tool=mailroom.call_tool)
    app = server.streamable_http_app(stateless_http=True, json_response=True)
    app.add_route("/control", mailroom.control, methods=["POST"])
    app.add_route("/calls", mailroom.show_calls)
    uvicorn.run(mailroom.guard(app), host="127.0.0.1", port=port, log_level="warning")


if __name__ == "__main__":
    serve(int(sys.argv[1]))

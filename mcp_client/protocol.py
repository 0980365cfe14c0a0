"""What the client asks of an MCP server and gets from it, without the SDK."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from common.secrets import Secret

MCPErrorCode = Literal[
    "host_refused",
    "unauthorized",
    "sign_in_needed",
    "unreachable",
    "timeout",
    "too_large",
    "redirected",
    "old_transport",
    "failed",
    "unreadable",
    "missing",
    "changed",
]
"""Why a server gave no usable answer. The web app has a text for each."""


@dataclass(frozen=True)
class MCPServer:
    """A server that is reached over HTTP. `headers` are secret; they are sent to the origin of `url` and nowhere else."""

    url: str
    headers: Mapping[str, Secret] = field(default_factory=dict)


@dataclass(frozen=True)
class MCPToolDescription:
    """A tool as its server describes it, without invisible characters.

    `annotations`: what the server says of it besides; `is_read_only` is one of them, a suggestion for the editor only. `hash` is
    that of the description as it was sent (SEC31).
    """

    name: str
    title: str
    description: str
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] | None
    annotations: dict[str, Any]
    is_read_only: bool
    hash: str


@dataclass(frozen=True)
class MCPListing:
    """The tools of a server. `left_out`: the names of tools that cannot be used, each with the reason. `is_cut`: it has more."""

    server_name: str
    protocol: str
    tools: tuple[MCPToolDescription, ...]
    left_out: Mapping[str, str]
    is_cut: bool


@dataclass(frozen=True)
class MCPResult:
    """The result of a call. `structured` is the JSON value that the server sent beside its text. `is_error`: the tool failed."""

    text: str
    structured: object = None
    is_error: bool = False


class MCPError(Exception):
    """The server gave no usable answer. The text is ours, and has neither a secret nor a word of the server.

    `is_final`: a retry cannot help. `server_text`: what the server wrote about it. `challenge`: the `WWW-Authenticate` header
    of a server that wants to be authorized.
    """

    def __init__(
        self, code: MCPErrorCode, text: str, *, is_final: bool = True, server_text: str = "", challenge: str = ""
    ) -> None:
        super().__init__(text)
        self.is_final = is_final
        self.code = code
        self.server_text = server_text
        self.challenge = challenge

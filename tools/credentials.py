"""The credential of a tool server: storing it, sending it, and removing it from what the server answers (SEC17)."""

import base64
from collections.abc import Mapping
from typing import Any

from common.errors import Invalid
from common.logs import hide_secret, redact_beginning
from common.secrets import Secret, decrypt_for, encrypt_for
from events.rows import AuthScheme
from tools.http.mapping import ArgumentLocation, RequestMapping
from tools.models import ToolServer

MIN_CHARACTERS = 4
"""A shorter credential could not be removed from answers without removing other words."""


def encrypt_credential(server: ToolServer, credential: Secret) -> str:
    """Return the credential, encrypted for this server only. Return an empty text for an empty one."""
    return encrypt_for(credential, owner=str(server.id), purpose=ToolServer.PURPOSE) if credential else ""


def decrypt_credential(server: ToolServer) -> Secret:
    """Return the credential of a server; empty if it has none."""
    if not server.encrypted_credential:
        return Secret("")
    return decrypt_for(server.encrypted_credential, owner=str(server.id), purpose=ToolServer.PURPOSE)


def build_auth_headers(server: ToolServer, credential: Secret) -> dict[str, str]:
    """Return the headers that carry the credential."""
    if not credential:
        return {}
    match server.auth:
        case AuthScheme.BEARER:
            return {"Authorization": f"Bearer {credential.reveal()}"}
        case AuthScheme.HEADER:
            return {server.auth_name: credential.reveal()}
        case AuthScheme.BASIC:
            return {"Authorization": f"Basic {_encode_basic(server, credential)}"}
        case _:
            return {}


def build_auth_query(server: ToolServer, credential: Secret) -> list[tuple[str, str]]:
    """Return the query parameter that carries the credential, if any."""
    return [(server.auth_name, credential.reveal())] if credential and server.auth == AuthScheme.QUERY else []


def find_credential_arguments(server: ToolServer, mapping: RequestMapping) -> list[str]:
    """Return the names of the arguments that a request sends under the name of the parameter or header that carries the credential.
    Of two values, many servers take the first, and a model has written one of them."""
    places: dict[AuthScheme, set[ArgumentLocation]] = {
        AuthScheme.QUERY: {"query", "body"} if mapping.body == "form" else {"query"},
        AuthScheme.HEADER: {"header"},
    }
    where, name = places.get(AuthScheme(server.auth), set()), server.auth_name.casefold()
    return [one.name for one in mapping.arguments if one.where in where and one.sent_name.casefold() == name]


def check_no_credential_argument(server: ToolServer, request: Mapping[str, Any] | None) -> None:
    """Raise `Invalid` if an argument of a tool is sent in the place of the server's credential. `request`: a `RequestMapping`; null
    for a tool of an MCP server."""
    names = find_credential_arguments(server, RequestMapping.model_validate(request)) if request else []
    if names:
        raise Invalid(
            f"{', '.join(names)} is sent as {server.auth_name}, which carries the credential of the server.",
            hints=["Give the argument another name in the request, or leave it out."],
        )


def redact_credential(text: str, length: int, server: ToolServer, credential: Secret) -> str:
    """Return the first `length` characters of a text of the server without the credential, however it is written, and without what
    looks like a key."""
    plain = credential.reveal()
    # As Basic authentication sends it, and alone.
    return redact_beginning(text, length, *((f"{server.auth_name}:{plain}", plain) if plain else ()))


def _encode_basic(server: ToolServer, credential: Secret) -> str:
    """Return the user name and the credential as Basic authentication sends them, and hide this text in all later log lines."""
    encoded = base64.b64encode(f"{server.auth_name}:{credential.reveal()}".encode()).decode()
    hide_secret(encoded)
    return encoded

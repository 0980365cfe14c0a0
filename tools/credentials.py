"""The credential of a tool server: storing it, sending it, and removing it from what the server answers (SEC17)."""

import base64
import json
from urllib.parse import quote, quote_plus

from common.logs import MASK, hide_secret, scrub
from common.secrets import Secret, decrypt_for, encrypt_for
from events.rows import AuthScheme
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


def redact_credential(text: str, server: ToolServer, credential: Secret) -> str:
    """Return a text of the server without the credential, however it is written, and without what looks like a key."""
    if credential:
        plain = credential.reveal()
        spellings = {
            plain,
            quote(plain),
            quote(plain, safe=""),
            quote_plus(plain),
            json.dumps(plain)[1:-1],
            json.dumps(plain, ensure_ascii=False)[1:-1],
            base64.b64encode(plain.encode()).decode(),
            _encode_basic(server, credential),
        }
        for spelling in sorted(spellings, key=len, reverse=True):
            text = text.replace(spelling, MASK)
    return scrub(text)


def _encode_basic(server: ToolServer, credential: Secret) -> str:
    """Return the user name and the credential as Basic authentication sends them, and hide this text in all later log lines."""
    encoded = base64.b64encode(f"{server.auth_name}:{credential.reveal()}".encode()).decode()
    hide_secret(encoded)
    return encoded

"""The signature of Standard Webhooks (https://www.standardwebhooks.com), so that a receiver can verify it with their libraries."""

import base64
import hashlib
import hmac
import secrets

from common.secrets import Secret

PREFIX = "whsec_"


def create_signing_secret() -> Secret:
    """Return a new random secret."""
    return Secret(PREFIX + base64.b64encode(secrets.token_bytes(32)).decode())


def build_signature_headers(secret: Secret, *, id: str, at: int, body: bytes) -> dict[str, str]:
    """Return the headers of a message that is signed at the Unix time `at`.

    Raises `ValueError` if the secret is not base64, with or without its prefix.
    """
    key = base64.b64decode(secret.reveal().removeprefix(PREFIX), validate=True)
    digest = hmac.new(key, f"{id}.{at}.".encode() + body, hashlib.sha256).digest()
    signature = base64.b64encode(digest).decode()
    return {"webhook-id": id, "webhook-timestamp": str(at), "webhook-signature": f"v1,{signature}"}

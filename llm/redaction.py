"""Remove secrets from texts of providers before they are stored or shown: some servers repeat the key (SEC17)."""

import re

from common.logs import MASK, scrub
from common.secrets import Secret

MAX_CHARACTERS = 500
_SPACE = re.compile(r"\s+")


def redact(text: str, key: Secret) -> str:
    """Return the text without line breaks, keys and anything that looks like a key, with at most 500 characters."""
    if key:
        text = text.replace(key.reveal(), MASK)
    return _SPACE.sub(" ", scrub(text)).strip()[:MAX_CHARACTERS]

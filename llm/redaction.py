"""Removes secrets from providers' texts before they are stored and shown: some servers repeat the key (SEC17)."""

import re

from common.logs import MASK, scrub
from common.secrets import Secret

MAX_CHARACTERS = 500
_SPACE = re.compile(r"\s+")


def redact(text: str, key: Secret) -> str:
    """Return the text as one line of at most 500 characters, without the key and without anything that looks like one."""
    if key:
        text = text.replace(key.reveal(), MASK)
    return _SPACE.sub(" ", scrub(text)).strip()[:MAX_CHARACTERS]

"""Provider texts made fit to be stored and shown: some servers repeat the key they were given (SEC17)."""

import re

from common.logs import STARS, scrub
from common.secrets import Secret

LIMIT = 500
_SPACE = re.compile(r"\s+")


def scrubbed(text: str, key: Secret) -> str:
    """One line of at most 500 characters, without the key and without anything that looks like one."""
    if key:
        text = text.replace(key.reveal(), STARS)
    return _SPACE.sub(" ", scrub(text)).strip()[:LIMIT]

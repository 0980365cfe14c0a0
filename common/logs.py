"""Remove secrets from log lines and from texts of other servers, and throttle warnings."""

import logging
import re
import time
from collections import OrderedDict
from threading import Lock

from common.spellings import find_spellings

MASK = "***"
PATTERNS = (
    (re.compile(r"\b(?:(?:sk|pk|rk|atl|xox[a-z]|gh[opsu])[-_]|AIza)[-_A-Za-z0-9]{8,}"), MASK),
    (re.compile(r"(?i)\b(bearer\s+)[-._~+/=A-Za-z0-9]{8,}"), rf"\1{MASK}"),
    (re.compile(r"(://[^/\s:@]*:)[^/\s@]+@"), rf"\1{MASK}@"),
)
# Shorter ones would be found by chance in ordinary words.
MIN_SECRET_LENGTH = 8
MAX_HIDDEN_SECRETS = 4096
LONGEST_SPELLING = 50_000
"""Characters of a secret of 4,000 characters that are each written as `&#x000021;` or JSON within JSON."""

_secrets: OrderedDict[str, None] = OrderedDict()
_lock = Lock()


def hide_secret(value: str) -> None:
    """Remove this text from every later log line of this process. Only the newest `MAX_HIDDEN_SECRETS` texts are remembered."""
    if len(value) < MIN_SECRET_LENGTH:
        return
    with _lock:
        _secrets[value] = None
        _secrets.move_to_end(value)
        if len(_secrets) > MAX_HIDDEN_SECRETS:
            _secrets.popitem(last=False)


def scrub(text: str) -> str:
    """Return the text without the secrets of `hide_secret`, and without what looks like a secret."""
    with _lock:
        found = [value for value in _secrets if value in text]
    # Longest first: a secret may be the beginning of another.
    for value in sorted(found, key=len, reverse=True):
        text = text.replace(value, MASK)
    return mask_keys(text)


def mask_keys(text: str) -> str:
    """Return the text without what looks like a key, whether or not this process knows it."""
    for pattern, replacement in PATTERNS:
        text = pattern.sub(replacement, text)
    return text


def redact_secrets(text: str, *secrets: str) -> str:
    """Return a text of another server without secrets that it was sent, in any spelling of `find_spellings`, and without what looks
    like a secret. A secret that the server has cut into pieces, encrypted or hashed is not found."""
    return redact_beginning(text, len(text), *secrets)


def redact_beginning(text: str, length: int, *secrets: str) -> str:
    """Return the first `length` characters of a text as `redact_secrets` does. A secret of which they have only a part is found by
    the characters after them; no others are read."""
    text = text[: length + LONGEST_SPELLING]
    shown: list[str] = []
    last = 0
    for start, end in find_spellings(text, secrets):
        if start >= length:
            break
        shown += (text[last:start], MASK)
        last = max(last, end)
        while text.startswith("=", last):  # the end of base64
            last += 1
    beginning = "".join((*shown, text[last:length]))
    scrubbed = scrub(beginning)
    if len(text) <= length:
        return scrubbed
    # What looks like a key is masked as a whole, too, if only a part of it is in the beginning.
    return scrub(beginning + text[max(last, length) :])[: len(scrubbed)]


class ScrubSecrets(logging.Filter):
    """Removes secrets from all log lines and tracebacks (SEC17)."""

    _formatter = logging.Formatter()

    def filter(self, record: logging.LogRecord) -> bool:
        text = record.getMessage()
        scrubbed = scrub(text)
        if scrubbed != text:
            record.msg, record.args = scrubbed, ()
        if record.exc_info and not record.exc_text:
            # A formatter uses `exc_text` as it is, if it is set.
            record.exc_text = self._formatter.formatException(record.exc_info)
        if record.exc_text:
            record.exc_text = scrub(record.exc_text)
        return True


class ThrottledWarning:
    """Logs a warning at most once in `INTERVAL_SECONDS`, with the number of those left out. For events that clients can cause."""

    INTERVAL_SECONDS = 10.0

    def __init__(self, logger: logging.Logger, message: str) -> None:
        self._logger = logger
        self._message = message
        self._next = 0.0
        self._left_out = 0

    def warn(self, reason: object) -> None:
        """Log the message with its reason, unless it was logged less than `INTERVAL_SECONDS` ago."""
        if time.monotonic() < self._next:
            self._left_out += 1
            return
        self._logger.warning("%s: %.200s (%d more since the last line)", self._message, reason, self._left_out)
        self._next, self._left_out = time.monotonic() + self.INTERVAL_SECONDS, 0

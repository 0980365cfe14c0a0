"""Remove secrets from log lines and from texts of other servers, and throttle warnings."""

import base64
import html
import logging
import re
import time
from collections import OrderedDict
from functools import lru_cache
from threading import Lock
from urllib.parse import quote, quote_plus

MASK = "***"
PATTERNS = (
    (re.compile(r"\b(?:(?:sk|pk|rk|atl|xox[a-z]|gh[opsu])[-_]|AIza)[-_A-Za-z0-9]{8,}"), MASK),
    (re.compile(r"(?i)\b(bearer\s+)[-._~+/=A-Za-z0-9]{8,}"), rf"\1{MASK}"),
    (re.compile(r"(://[^/\s:@]*:)[^/\s@]+@"), rf"\1{MASK}@"),
)
# Shorter ones would be found by chance in ordinary words.
MIN_SECRET_LENGTH = 8
MAX_HIDDEN_SECRETS = 4096

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


def redact_secret(text: str, secret: str) -> str:
    """Return a text of another server without a secret that it was sent, in any spelling of `_build_spellings`, and without what
    looks like a secret. A secret that the server has cut into pieces, encrypted or hashed is not found."""
    return scrub(_build_spellings(secret).sub(MASK, text) if secret else text)


@lru_cache(maxsize=256)
def _build_spellings(secret: str) -> re.Pattern[str]:
    """Return a pattern for a secret in capitals or not: each character as it is, in JSON, in HTML or in a URL, which servers mix as
    they like, or all of it in base64 or hex."""
    plain = secret.encode()
    in_base64 = [encode(plain).decode().rstrip("=") for encode in (base64.b64encode, base64.urlsafe_b64encode)]
    whole = [*(f"{re.escape(text)}=*" for text in in_base64), plain.hex()]
    parts = [_build_part_spellings(part) for part in re.findall(r"[A-Za-z0-9]+|\\+|.", secret, re.DOTALL)]
    return re.compile("|".join(["".join(parts), *whole]), re.IGNORECASE)


def _build_part_spellings(part: str) -> str:
    """Return the pattern of some letters and digits, of backslashes, or of another character. It never goes back in the text."""
    if part.isascii() and part.isalnum():
        return part
    if "\\" in part:
        return rf"(?:\\{{{len(part)},{4 * len(part)}}}+|{quote(part)}|(?:&#0*92;|&#x0*5c;){{{len(part)}}})"
    number, units = ord(part), part.encode("utf-16-be").hex()
    # JSON writes a backslash before some characters, and JSON within JSON several.
    in_json = "".join(rf"\\{{0,4}}+u{units[start : start + 4]}" for start in range(0, len(units), 4))
    others = {quote(part, safe=""), quote_plus(part), html.escape(part), "&apos;" if part == "'" else part, part}
    in_others = "|".join(map(re.escape, sorted(others, key=len, reverse=True)))
    return rf"(?:{in_json}|\\{{0,4}}+(?:&#0*{number};|&#x0*{number:x};|{in_others}))"


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

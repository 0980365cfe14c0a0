"""Find what looks like a key or a password in a text, to warn its author before other people get the text."""

import re

from common.logs import mask_keys

_KEYS = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----"
    r"|\bAKIA[0-9A-Z]{16}\b"  # of AWS
    r"|\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*"  # a JSON web token
    r"|\b(?:glpat-|hf_|github_pat_)\w{16,}"
    r"|\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{32,}\b"
    r"|\b(?=\w*\d\w*\d)(?=\w*[a-z])(?=\w*[A-Z])[A-Za-z0-9]{32,}\b"
)
_NAMED = re.compile(
    r"(?i)(?:pass(?:word|wd|phrase|code)|\bpwd|secret|\btoken|(?:api|access|private|auth)[ _-]?(?:key|token)"
    r"|密碼|密码|口令|金鑰|密钥|憑證|凭证)[\"'`*]*\s*(?:[:=：＝]|\bis\b|是|為|为)[\"'`*\s]*([^\s\"'`*,;，。；]{6,200})"
)
"""A word for a secret, and what is given as its value."""
_PLACEHOLDER = re.compile(r"[<{\[$%]|(?i:your|example|xxx|\.\.\.|…)")
_NO_LETTER = re.compile(r"[^a-zA-Z\u0080-\U0010ffff]")


def find_secret_lines(text: str) -> list[int]:
    """Return the numbers, from 1, of the lines that have something that looks like a key or a password.

    It is meant for warnings: it misses secrets that look like ordinary words, and finds some texts that are none.
    """
    return [number for number, line in enumerate(text.split("\n"), 1) if _has_secret(line)]


def _has_secret(line: str) -> bool:
    if mask_keys(line) != line or _KEYS.search(line):
        return True
    # "The password is required" names none: a value has a digit or a sign.
    values = (match[1] for match in _NAMED.finditer(line))
    return any(_NO_LETTER.search(value.rstrip(".:!?)")) and not _PLACEHOLDER.search(value) for value in values)

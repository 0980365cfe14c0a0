"""Extract the readable text of a page. This is the script of a separate process (see `page_pool`).

For 2 MiB of hostile HTML, trafilatura takes 23 s and 740 MB, and its parser, which is written in C, cannot be interrupted. So
it runs in a process that can be killed, with limited memory and without keys. The script imports none of our modules.

stdin: a line of JSON (`url`, `is_html`, `charset`, `start`, `length`, `size`), then `size` bytes. stdout: a line of
JSON. The process ends when stdin is closed, after `IDLE_SECONDS` without a job, and when it uses more than `MAX_RESIDENT_KIB`.
"""

import codecs
import json
import os
import re
import resource
import select
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from html import unescape
from typing import Any

MAX_MEMORY_BYTES = 1024**3
MAX_RESIDENT_KIB = 256 * 1024
"""Resident memory above which this process ends after a job."""
IDLE_SECONDS = 60.0
EXTRACTION_SECONDS = 6.0
"""Seconds for trafilatura, after which the text is extracted in a simpler way."""

_BOMS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
# Charset in a page → codec, as in browsers.
_CODECS = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "x-gbk": "gb18030",
    "big5": "big5hkscs",
    "big5-hkscs": "big5hkscs",
    "shift_jis": "cp932",
    "euc-kr": "cp949",
    "ks_c_5601-1987": "cp949",
    "iso-8859-1": "cp1252",
    "us-ascii": "cp1252",
}
_CHARSET = re.compile(r"(utf|iso|windows|cp|koi8|gb|big5|euc|shift|sjis|hz|ks_c|mac|tis|latin|us-ascii|x-gbk)[\w-]*")
_DECLARED = re.compile(
    rb"""(?:<meta[^>]{0,200}?charset|<\?xml[^>]{0,100}?encoding)\s*=\s*["']?\s*([\w-]{2,20})""", re.I
)
_TITLE = re.compile(r"<title[^>]{0,200}>([^<]{1,2000})", re.I)


class ExtractionTooSlow(BaseException):
    """trafilatura takes too long. Not an `Exception`, which trafilatura would catch."""


def extract_page(body: bytes, *, url: str, is_html: bool | None, charset: str) -> dict[str, str]:
    """Return `text` (Markdown with links), `title`, `site` and `published`, which are empty if they are unknown.

    `is_html` null: unknown. Raises `ValueError` for a body that is not text.
    """
    text = decode_body(body, charset)
    if "\x00" in text[:4096]:
        raise ValueError("It is not text.")
    if is_html or (is_html is None and re.search(r"<(!doctype html|html|head|body)\b", text[:1024], re.I)):
        return _read_html(text, url)
    return {"title": "", "site": "", "published": "", "text": text}


def decode_body(body: bytes, charset: str) -> str:
    """Decode a body: as UTF-8 if it is valid, else in the charset of the server, of the page, or in a guessed one, whichever
    fails for the fewest characters."""
    for bom, name in _BOMS.items():
        if body.startswith(bom):
            return body.decode(name, "replace")
    with suppress(UnicodeDecodeError):
        # An incomplete last character is left out: the body may be cut. If all others are ASCII, it may be of another charset.
        valid_text = codecs.getincrementaldecoder("utf-8")().decode(body)
        if body.isascii() or not valid_text.isascii():
            return valid_text
    declared = _DECLARED.search(body[:4096])
    names = (charset, declared[1].decode("ascii", "replace") if declared else "", _guess_charset(body))
    texts = [text for name in names if (text := _decode_as(body, name)) is not None]
    return min(texts, key=lambda text: text.count("\ufffd")) if texts else body.decode("utf-8", "replace")


def _decode_as(body: bytes, name: str) -> str | None:
    name = name.strip().lower()
    if not _CHARSET.fullmatch(name):  # Python has codecs that are not charsets
        return None
    try:
        return body.decode(_CODECS.get(name, name), "replace")
    except LookupError:
        return None


def _guess_charset(body: bytes) -> str:
    from charset_normalizer import from_bytes

    best = from_bytes(body[: 32 * 1024]).best()
    return best.encoding.replace("_", "-") if best else ""


def _read_html(html: str, url: str) -> dict[str, str]:
    from trafilatura import bare_extraction, html2txt

    found: Any = None
    try:
        with _limit_time(EXTRACTION_SECONDS):
            found = bare_extraction(
                html,
                url=url,
                with_metadata=True,
                include_links=True,
                include_formatting=True,
                include_comments=False,
                favor_recall=True,
                date_extraction_params={"original_date": True, "extensive_search": False},
            )
    except (ExtractionTooSlow, MemoryError, RecursionError):
        found = None
    text = (found and found.text) or html2txt(html)
    return {
        "title": (found and found.title) or (unescape(title[1]) if (title := _TITLE.search(html)) else ""),
        "site": (found and found.sitename) or "",
        "published": (found and found.date) or "",
        "text": text.strip(),
    }


@contextmanager
def _limit_time(seconds: float) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise ExtractionTooSlow

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _process_job(job: dict[str, Any], body: bytes) -> dict[str, Any]:
    try:
        page = extract_page(body, url=job["url"], is_html=job["is_html"], charset=job["charset"])
    except ValueError as error:
        return {"error": str(error)}
    text, start = page["text"], job["start"]
    return page | {"text": text[start : start + job["length"]], "total": len(text)}


def serve() -> None:
    """Answer jobs until stdin ends."""
    os.nice(5)  # runs have priority over the extraction of pages
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    stdin, stdout = sys.stdin.buffer, sys.stdout
    while select.select([stdin], [], [], IDLE_SECONDS)[0] and (line := stdin.readline()):
        job = json.loads(line)
        print(json.dumps(_process_job(job, stdin.read(job["size"]))), file=stdout, flush=True)
        if _get_peak_memory_kib() > MAX_RESIDENT_KIB:
            return


def _get_peak_memory_kib() -> int:
    """Return the peak resident memory of this process. (`ru_maxrss` includes that of the process which started this one.)"""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))


if __name__ == "__main__":
    serve()

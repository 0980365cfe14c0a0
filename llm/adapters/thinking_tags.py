"""Find the thinking at the start of an answer that a server sends as text, between tags such as `<think>` and `</think>`."""

from typing import Literal

TAGS = {"<think>": "</think>", "<thinking>": "</thinking>", "<thought>": "</thought>", "[THINK]": "[/THINK]"}
"""The end of each tag that models write before their thinking."""


class ThinkingTags:
    """Divides the text of one answer, which arrives in parts of any size, into thinking and text.

    Only a tag at the start of the answer counts, after white space. A tag may be split over parts, so `read` keeps what may be the
    beginning of one until the next part; `finish` returns it at the end of the answer.
    """

    def __init__(self) -> None:
        self._state: Literal["start", "thinking", "after", "text"] = "start"
        self._kept = ""
        self._end = ""

    @property
    def is_reading_text(self) -> bool:
        """Whether all further parts are text, as they are."""
        return self._state == "text"

    def read(self, part: str) -> tuple[str, str]:
        """Return the thinking and the text that this part completes; both may be empty."""
        if self._state == "text":
            return "", part
        thinking = ""
        self._kept += part
        if self._state == "start":
            beginning = self._kept.lstrip()
            if any(tag.startswith(beginning) and tag != beginning for tag in TAGS):  # also if it is empty
                return "", ""
            tag = next((tag for tag in TAGS if beginning.startswith(tag)), None)
            if tag is None:
                return "", self._stop()
            self._state, self._end, self._kept = "thinking", TAGS[tag], beginning.removeprefix(tag)
        if self._state == "thinking":
            found, end, rest = self._kept.partition(self._end)
            if not end:
                kept = _count_overlap(found, self._end)
                self._kept = found[len(found) - kept :]
                return found[: len(found) - kept], ""
            self._state, self._kept, thinking = "after", rest, found
        # The empty lines between the thinking and the answer belong to neither.
        self._kept = self._kept.lstrip()
        return thinking, self._stop() if self._kept else ""

    def finish(self) -> tuple[str, str]:
        """Return the thinking and the text that were kept until the end of the answer."""
        is_thinking = self._state == "thinking"
        kept = self._stop()
        return (kept, "") if is_thinking else ("", kept)

    def _stop(self) -> str:
        """Return what was kept. What follows is text."""
        self._state = "text"
        kept, self._kept = self._kept, ""
        return kept


def _count_overlap(text: str, tag: str) -> int:
    """Return how many characters at the end of the text may be the beginning of the tag."""
    return next((size for size in range(min(len(tag) - 1, len(text)), 0, -1) if tag.startswith(text[-size:])), 0)

"""Recognise messages that only acknowledge another one. Between agents they would wake each other for nothing."""

import re

from chats.mentions import replace_mentions

MAX_CHARACTERS = 80
WORDS = frozenset(
    "ok okay thanks thank thx noted understood agreed great perfect done got roger ack acknowledged received welcome cheers cool"
    " sure".split()
)
"""Words of which an acknowledgement has at least one."""
OTHER_WORDS = frozenset(
    "you it very much so many a lot will do sounds good yes no problem all clear and for the to my your".split()
)
"""Words that an acknowledgement may have besides."""
CHINESE = re.compile(
    "(?:好的|收到|了解|明白|谢谢|謝謝|多谢|多謝|感谢|感謝|没问题|沒問題|知道|不客气|不客氣|辛苦)(?:了|的|你|您|大家|啦|呢|哦|喔)*"
)
"""Chinese phrases that acknowledge. Chinese has no spaces between words; they are separated by punctuation here."""


def is_acknowledgement(text: str) -> bool:
    """Return whether a text says nothing but "ok" or "thanks" in English or Chinese, beside mentions and emoji."""
    if len(text) > MAX_CHARACTERS or "?" in text or "？" in text:
        return False
    words = re.findall(r"[^\W_]+", replace_mentions(text, lambda _: " ").lower())
    found = [word in WORDS or CHINESE.fullmatch(word) is not None for word in words]
    return any(found) and all(is_found or word in OTHER_WORDS for word, is_found in zip(words, found, strict=True))

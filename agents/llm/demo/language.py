"""Which language a text is in, as far as the demo model speaks it."""

import re
from collections.abc import Iterator

HAN = re.compile(r"[\u3400-\u9fff]")
_KANA = re.compile(r"[\u3040-\u30ff]")
# Common characters that only one of the two scripts writes so.
_HANT = frozenset(
    "這個們說話時間現東後國對發開關點會為從來嗎麼過還進與請問寫讀學習語簡單總結複號當應該讓給幾灣誰麼條聲"
)
_HANS = frozenset(
    "这个们说话时间现东后国对发开关点会为从来吗么过还进与请问写读学习语简单总结复号当应该让给几湾谁么条声"
)


def language_of(text: str, *, otherwise: str = "en") -> str:
    """`zh-hant`, `zh-hans`, `ja` or `en`. A Chinese text of characters that both scripts share counts as `otherwise`."""
    if _KANA.search(text):
        return "ja"
    if not HAN.search(text):
        return "en"
    shared = _HANT & _HANS
    hant = sum(char in _HANT - shared for char in text)
    hans = sum(char in _HANS - shared for char in text)
    if hant == hans:
        return otherwise if otherwise.startswith("zh") else "zh-hant"
    return "zh-hant" if hant > hans else "zh-hans"


_TOKENS = re.compile(r"[\u3000-\u9fff\uff00-\uffef]{1,2}|\s*[^\s\u3000-\u9fff\uff00-\uffef]+|\s+")


def spoken(text: str) -> Iterator[str]:
    """The text in the pieces in which a model would stream it: words, or one or two Chinese characters."""
    return (found[0] for found in _TOKENS.finditer(text))


def joined(sentences: list[str], language: str) -> str:
    """Sentences as one paragraph."""
    gap = "" if language.startswith(("zh", "ja")) else " "
    return gap.join(sentence.strip() for sentence in sentences if sentence.strip())

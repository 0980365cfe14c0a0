"""Embeddings of a concept map: words of the same meaning, in English and Chinese, have the same direction.

It stands for an embedding model in tests, and knows only the concepts of this list. All other words have directions of their own,
which depend on their letters, so that texts with the same words are near each other, too.
"""

import hashlib
import math
import operator
import re
from functools import lru_cache

from context.seeding_words import NAMES, ZH_NAMES

DIMENSIONS = 256
CONCEPT_WEIGHT = 3.0
CONCEPTS = (
    ("deposit", "down payment", "advance payment", "prepay", "訂金", "定金", "押金", "预付款"),
    ("dollar", "money", "price", "cost", "how much", "元", "多少"),
    ("suite", "apartment", "套房"),
    ("key", "鑰匙"),
    ("office", "workplace", "辦公室"),
    ("box", "container", "lies", "箱子", "收在"),
    ("chef", "cook", "kitchen", "廚師"),
    ("table", "guests", "桌"),
    ("nut", "allergy", "cannot eat", "過敏", "不能吃", "堅果"),
    ("garage", "parking", "車庫", "停車場"),
    ("street", "街"),
    ("code", "pin", "密碼"),
    ("contract", "agreement", "合約"),
    ("ends", " end", "expire", "terminate", "到期"),
    *((name.lower(), other) for name, other in zip(NAMES, ZH_NAMES, strict=True)),
)
_WORD = re.compile(r"[a-z0-9]+|[\u3400-\u9fff]")


def embed(text: str, dimensions: int = DIMENSIONS) -> list[float]:
    """Return the embedding of a text, of length 1."""
    lowered = text.lower()
    total = [0.0] * dimensions
    for number, concept in enumerate(CONCEPTS):
        if any(term in lowered for term in concept):
            _add(total, f"concept {number}", CONCEPT_WEIGHT)
    for word in _WORD.findall(lowered):
        _add(total, word, 1.0)
    length = math.sqrt(sum(number * number for number in total)) or 1.0
    return [round(number / length, 6) for number in total] if any(total) else [1.0] + [0.0] * (dimensions - 1)


def _add(total: list[float], name: str, weight: float) -> None:
    direction = _compute_direction(name, len(total), weight)
    total[:] = map(operator.add, total, direction)


@lru_cache(100_000)
def _compute_direction(name: str, dimensions: int, weight: float) -> tuple[float, ...]:
    """Return the direction of a name, which depends on nothing but its letters."""
    digest = hashlib.shake_256(name.encode()).digest(dimensions)
    return tuple(weight * (byte - 127.5) / 127.5 for byte in digest)

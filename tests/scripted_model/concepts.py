"""Embeddings of a concept map: words of the same meaning, in English and Chinese, have the same direction.

It stands for an embedding model in tests, and knows only the concepts of this list. All other words have directions of their own,
which depend on their letters, so that texts with the same words are near each other, too.
"""

import hashlib
import math
import re

DIMENSIONS = 64
CONCEPT_WEIGHT = 3.0
CONCEPTS = (
    ("deposit", "down payment", "advance payment", "prepay", "訂金", "定金", "押金", "预付款"),
    ("dollar", "money", "price", "cost", "how much", "元", "多少錢", "价钱"),
    ("suite", "apartment", "套房", "套间"),
    ("key", "spare key", "opens the door", "鑰匙", "钥匙"),
    ("office", "workplace", "bureau", "辦公室", "办公室"),
    ("box", "container", "crate", "箱子", "盒子"),
    ("chef", "cook", "kitchen", "廚師", "厨师"),
    ("table", "seat", "桌", "座位"),
    ("nut", "allergy", "cannot eat", "過敏", "过敏", "堅果", "坚果"),
    ("garage", "car park", "parking", "車庫", "车库", "停車"),
    ("code", "pin", "password", "密碼", "密码"),
    ("contract", "agreement", "deal", "合約", "合同"),
    ("expire", "ends", "run out", "terminate", "到期", "結束"),
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
    """Add the direction of a name, which depends on nothing but its letters."""
    digest = hashlib.shake_256(name.encode()).digest(len(total))
    for at, byte in enumerate(digest):
        total[at] += weight * (byte - 127.5) / 127.5

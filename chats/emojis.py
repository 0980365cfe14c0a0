"""Which texts are one emoji."""

import regex

MAX_EMOJI = 32
"""The longest emoji, in code points. The flag of Wales has 7, a family with skin tones 11."""

# The flags of England, Scotland and Wales. After other emojis nobody would see the tags.
_NATIONS = "|".join("".join(chr(0xE0000 + ord(letter)) for letter in name) for name in ("gbeng", "gbsct", "gbwls"))
_TAGGED_FLAG = f"\U0001f3f4(?:{_NATIONS})\U000e007f"
# ED-17 of Unicode Technical Standard 51: a flag, a keycap, or emojis joined by U+200D, each with a skin tone or a style.
_ELEMENT = rf"(?:\p{{RI}}\p{{RI}}|{_TAGGED_FLAG}|[0-9#*]\uFE0F\u20E3|\p{{Emoji}}(?:\p{{Emoji_Modifier}}|\uFE0F)?)"
_EMOJI = regex.compile(rf"{_ELEMENT}(?:\u200D{_ELEMENT})*")
# Digits, # and * are emojis only as keycaps.
_IS_DRAWN = regex.compile(r"\p{Extended_Pictographic}|\p{RI}{2}|[0-9#*]\uFE0F\u20E3")
_STYLED = regex.compile(r"(\p{Extended_Pictographic})\uFE0F?(?!\p{Emoji_Modifier})")
_IS_TEXT_BY_DEFAULT = regex.compile(r"\P{Emoji_Presentation}")


def find_emoji(text: str) -> str | None:
    """Return the text if it is exactly one emoji, else null.

    Each character that is a text by default, such as ❤, gets U+FE0F, with which it is drawn as an emoji, and no other one has it:
    what looks the same is the same reaction.
    """
    emoji = text.strip()
    is_one = len(emoji) <= MAX_EMOJI and _EMOJI.fullmatch(emoji) and regex.fullmatch(r"\X", emoji)
    if not is_one or not _IS_DRAWN.match(emoji):
        return None
    styled = _STYLED.sub(lambda match: match[1] + ("\ufe0f" if _IS_TEXT_BY_DEFAULT.match(match[1]) else ""), emoji)
    return styled if len(styled) <= MAX_EMOJI else None

"""Which texts are one emoji."""

import regex

MAX_EMOJI = 32
"""The longest emoji, in code points. The flag of Wales has 7, a family with skin tones 11."""

# ED-17 of Unicode Technical Standard 51: a flag, or emojis joined by U+200D, each with a skin tone, a style or tags.
_ELEMENT = r"(?:\p{RI}\p{RI}|\p{Emoji}(?:\p{Emoji_Modifier}|\uFE0F\u20E3?|[\U000E0020-\U000E007E]+\U000E007F)?)"
_EMOJI = regex.compile(rf"{_ELEMENT}(?:\u200D{_ELEMENT})*")
# Digits, # and * are emojis only as keycaps.
_IS_DRAWN = regex.compile(r"\p{Extended_Pictographic}|\p{RI}{2}|[0-9#*]\uFE0F\u20E3")
_IS_TEXT_BY_DEFAULT = regex.compile(r"(?!\p{Emoji_Presentation})\p{Extended_Pictographic}")


def find_emoji(text: str) -> str | None:
    """Return the text if it is exactly one emoji, else null.

    A character that is a text by default, such as ❤, gets U+FE0F, with which it is drawn as an emoji.
    """
    emoji = text.strip()
    if _IS_TEXT_BY_DEFAULT.fullmatch(emoji):
        emoji += "\ufe0f"
    is_one = len(emoji) <= MAX_EMOJI and _EMOJI.fullmatch(emoji) and regex.fullmatch(r"\X", emoji)
    return emoji if is_one and _IS_DRAWN.match(emoji) else None

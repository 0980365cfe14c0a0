"""The avatar of an actor: an emoji, or a letter on a colour. Null: the web app chooses one."""

import re
import unicodedata
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from events.row import Row

_EMOJI = (
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u21aa\u231a-\u23ff\u24c2\u25aa-\u27bf\u2934\u2935\u2b05-\u2b55"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
)
_PART = f"(?![\U0001f1e6-\U0001f1ff\U0001f3fb-\U0001f3ff]){_EMOJI}(?:[\U0001f3fb-\U0001f3ff]|\ufe0f)?"
_FLAG = "[\U0001f1e6-\U0001f1ff]{2}"
_REGION = "\U0001f3f4[\U000e0030-\U000e007a]{2,6}\U000e007f"
_KEYCAP = "[0-9#*]\ufe0f?\u20e3"
_ONE_EMOJI = re.compile(f"{_FLAG}|{_REGION}|{_KEYCAP}|{_PART}(?:\u200d{_PART}){{0,5}}")
"""One emoji (UTS #51): a flag, a keycap, or a sequence of emoji with joiners."""


def _check_emoji(text: str) -> str:
    if not _ONE_EMOJI.fullmatch(text):
        raise ValueError("It is not one emoji.")
    return text


def _check_letter(text: str) -> str:
    text = unicodedata.normalize("NFC", text)
    if len(text) != 1 or not text.isalnum():
        raise ValueError("It is not one letter or digit.")
    return text


class EmojiAvatar(Row):
    kind: Literal["emoji"]
    emoji: Annotated[str, Field(max_length=24), AfterValidator(_check_emoji)]


class LetterAvatar(Row):
    """A letter on a colour. `color` is the number of one of five colours of the web app."""

    kind: Literal["letter"]
    letter: Annotated[str, Field(max_length=8), AfterValidator(_check_letter)]
    color: Literal[1, 2, 3, 4, 5]


class AutomaticAvatar(Row):
    """In requests only: removes the avatar."""

    kind: Literal["automatic"]


Avatar = Annotated[EmojiAvatar | LetterAvatar, Field(discriminator="kind")]
NewAvatar = Annotated[EmojiAvatar | LetterAvatar | AutomaticAvatar, Field(discriminator="kind")]


def dump_avatar(avatar: NewAvatar | None) -> dict[str, Any] | None:
    """Return the value of the column: null for an actor without an avatar of its own."""
    return None if avatar is None or isinstance(avatar, AutomaticAvatar) else avatar.model_dump()

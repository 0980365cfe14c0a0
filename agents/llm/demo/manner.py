"""How to answer: simple instructions found in a prompt or a question. The rules are data; the last one said wins."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from agents.llm.demo.language import joined


@dataclass(frozen=True)
class Manner:
    """What the instructions ask for. `language` None: that of the question."""

    language: str | None = None
    sentences: int | None = None
    opening: str = ""
    closing: str = ""
    voice: str | None = None
    case: str | None = None
    bullets: bool = False


_LANGUAGES = {
    "zh-hant": r"traditional chinese|chinese \(traditional\)|繁體中文|繁体中文|正體中文|繁中|zh-hant|zh-tw",
    "zh-hans": r"simplified chinese|chinese \(simplified\)|簡體中文|简体中文|简中|簡中|zh-hans|zh-cn|mandarin",
    "en": r"english|英文|英語|英语",
    "fr": r"french|法文|法語|法语|français",
    "de": r"german|德文|德語|德语|deutsch",
    "es": r"spanish|西班牙文|西班牙語|西班牙语|español",
    "ja": r"japanese|日文|日語|日语|日本語",
    "zh": r"chinese|中文|漢語|汉语|國語|国语|普通話|普通话",
}
_VOICES = {
    "pirate": r"pirate|海盜|海盗",
    "robot": r"robot|機器人|机器人",
    "cat": r"\bcat\b|kitten|貓|猫",
    "knight": r"knight|shakespeare|medieval|騎士|骑士|莎士比亞|莎士比亚",
    "butler": r"butler|very formal|管家",
}
_NUMBERS = {
    "a single": 1,
    "a": 1,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "一": 1,
    "兩": 2,
    "两": 2,
    "二": 2,
    "三": 3,
}

_SAY = r"(?:answer|reply|respond|speak|talk|write|say|explain|tell|greet)\w*"
_ANSWER = r"(?:answer|reply|respond|speak|write|describe|explain|say it|tell me)\w*"
_ANSWER_ZH = r"(?:回答|回覆|回复|回應|回应|作答|答覆|答复)"
_SAY_ZH = r"(?:回答|回覆|回复|回應|回应|作答|答覆|答复|說|说|寫|写|講|讲|對話|对话|交談|交谈)"
_NOT = r"(?<!not )(?<!n't )(?<!never )(?<!不要)(?<!別)(?<!别)(?<!不用)(?<!勿)"
_EACH = (
    r"(?:every|each|all|your|the|any)(?:\s+\w+)?\s+(?:answers?|reply|replies|(?:response|message|sentence)s?)\s+"
    r"(?:with|by saying)"
)
_OPEN, _CLOSE = "\"“「『‘'`", "\"”」』’'`"
_QUOTED = rf"[{_OPEN}](?P<q>[^{_OPEN}{_CLOSE}\n]{{1,80}})[{_CLOSE}]"
_PHRASE = rf"(?:(?:the )?(?:words? |phrase )?{_QUOTED}|(?P<p>[^\n.。，,;；]{{1,60}}))"
_MUST_ZH = r"(?:都|一律|必須|必须|要|請|请)*(?:說|说|用|加上|加|寫|写|是)?\s*"

_Change = Callable[[re.Match[str]], dict[str, Any]]
_Rule = tuple[str, _Change]
# "End with a question" describes an end, it does not spell it.
_DESCRIBED = re.compile(r"^(?:an? |the |your |one |some |一個|一个|一句|一段)", re.IGNORECASE)
_EMOJI = re.compile(r"(?:an? )?(?:\w+ )?emojis?|(?:一個|一个)?表情(?:符號|符号)?", re.IGNORECASE)


def _set(**change: Any) -> _Change:
    return lambda _: change


def _number(found: re.Match[str]) -> dict[str, Any]:
    said = found["n"].lower()
    return {"sentences": _NUMBERS.get(said) or int(said)}


def _spelled(field: str) -> _Change:
    def change(found: re.Match[str]) -> dict[str, Any]:
        named = found.groupdict()
        text = (named.get("q") or named.get("p") or "").strip()
        if _EMOJI.fullmatch(text):
            return {field: "🙂"}
        text = re.sub(r"^the (?:words?|phrase) ", "", text, flags=re.IGNORECASE)
        return {} if not text or (not named.get("q") and _DESCRIBED.match(text)) else {field: text}

    return change


def _language_rules() -> Iterator[_Rule]:
    for language, names in _LANGUAGES.items():
        for pattern in (
            rf"{_NOT}\b{_SAY}\b[^.\n。;；]{{0,40}}?\b(?:in|only|using)\s+(?:\w+\s+)?(?:{names})",
            rf"{_NOT}\b{_SAY}\s+(?:only\s+)?(?:{names})(?!\s+(?:into|to)\b)",
            rf"{_NOT}(?:用|以|使用|改用|改成|說|说|講|讲)\s*(?:{names})",
            rf"{_NOT}^\s*(?:in|use|speak)\s+(?:{names})\b",
        ):
            yield pattern, _set(language=language)


def _voice_rules() -> Iterator[_Rule]:
    for voice, names in _VOICES.items():
        yield rf"\b(?:you are|you're|be|act as|like|as)\s+(?:an?\s+)?(?:\w+\s+)?(?:{names})", _set(voice=voice)
        yield (
            rf"(?:你是|扮演|像|當|当|作為|作为|成為|成为)[一個个隻只名位條条艘的\s]*\S{{0,4}}?(?:{names})",
            _set(voice=voice),
        )


def _length_rules() -> Iterator[_Rule]:
    number = r"(?P<n>a single|one|two|three|four|[1-9])\s+(?:short\s+)?sentences?"
    yield (
        rf"{_NOT}\b{_ANSWER}\b[^.\n]{{0,40}}?\b(?:in|with|using)\s+(?:only\s+|just\s+|at most\s+|exactly\s+)?{number}",
        _number,
    )
    yield rf"(?:at most|no more than|maximum of|only|just)\s+{number}", _number
    yield rf"(?P<n>[一兩两二三1-9])\s*(?:句話|句话|句)\s*(?:以內|以内)?(?:來|来)?{_ANSWER_ZH}", _number
    yield rf"{_ANSWER_ZH}(?:時|时)?(?:只|最多|不超過|不超过|限|要)+(?:用|有)?\s*(?P<n>[一兩两二三1-9])\s*句", _number


def _edge_rules() -> Iterator[_Rule]:
    for field, verbs, ends in (
        ("opening", "begin|start|open", "開頭|开头|開始|开始"),
        ("closing", "end|finish|close|conclude", "結尾|结尾|結束|结束|收尾"),
    ):
        change = _spelled(field)
        yield rf"\b(?:{verbs})\w*\s+{_EACH}\s+{_PHRASE}", change
        yield rf"\balways\s+(?:{verbs})\w*\s+(?:with|by saying)\s+{_PHRASE}", change
        yield rf"\b(?:{verbs})\w*\s+(?:with|by saying)\s+(?:the )?(?:words? |phrase )?{_QUOTED}", change
        yield rf"(?:以|用){_QUOTED}(?:作為|作为|來|来|為|为)?(?:{ends})", change
        yield rf"(?:以|用)(?P<q>[^以用，。、\s{_OPEN}{_CLOSE}]{{1,20}}?)(?:作為|作为|來|来|為|为)?(?:{ends})", change
    yield rf"(?:開頭|开头|句首|先){_MUST_ZH}{_QUOTED}", _spelled("opening")
    yield rf"(?:結尾|结尾|最後|最后|句尾|句末){_MUST_ZH}{_QUOTED}", _spelled("closing")
    yield rf"{_NOT}\buse\s+(?:\w+\s+)?emojis?\b|(?:使用|加上|多用|用)表情", _set(closing="🙂")


def _shape_rules() -> Iterator[_Rule]:
    upper = "capitals|capital letters|all caps|uppercase|upper case|block letters"
    yield rf"{_NOT}\b(?:in|use|using|write)\s+(?:\w+\s+)?(?:{upper})", _set(case="upper")
    yield rf"{_NOT}(?:大寫|大写)", _set(case="upper")
    yield rf"{_NOT}\b(?:lowercase|lower case|small letters)\b|小寫|小写", _set(case="lower")
    bullets = "條列|条列|列點|列点|項目符號|项目符号|用列表|以列表"
    yield rf"{_NOT}\b(?:bullet points?|bullets|bulleted list|as a list)\b|{bullets}", _set(bullets=True)


_RULES = [
    (re.compile(pattern, re.IGNORECASE | re.MULTILINE), change)
    for rules in (_language_rules, _voice_rules, _length_rules, _edge_rules, _shape_rules)
    for pattern, change in rules()
]


def manner_of(text: str, base: Manner | None = None) -> Manner:
    """The manner a text asks for, over that of `base`."""
    found = [
        # At the same place the longer match wins, and the rule that stands first: "traditional Chinese" over "Chinese".
        ((match.start(), match.end(), -order), change(match))
        for order, (pattern, change) in enumerate(_RULES)
        for match in pattern.finditer(text)
    ]
    manner = base or Manner()
    for _, changes in sorted(found, key=lambda item: item[0]):
        manner = replace(manner, **changes)
    return manner


# --- applying it --------------------------------------------------------------------------------------------------

_OPENINGS = {
    "pirate": {"en": "Arr!", "zh": "啊哈，水手！"},
    "robot": {"en": "Beep boop.", "zh": "嗶——"},
    "cat": {"en": "Meow!", "zh": "喵！"},
    "knight": {"en": "Hark!", "zh": "且聽我言："},
    "butler": {"en": "If I may:", "zh": "容我稟報："},
}
_CLOSINGS = {
    "pirate": {"en": "Aye, matey!", "zh": "乾杯，夥計！"},
    "robot": {"en": "End of transmission.", "zh": "傳輸完畢。"},
    "cat": {"en": "Purr.", "zh": "喵～"},
    "knight": {"en": "Fare thee well.", "zh": "後會有期。"},
    "butler": {"en": "At your service.", "zh": "隨時為您效勞。"},
}
_SPELLINGS = {
    "pirate": {"hello": "ahoy", "you": "ye", "your": "yer", "my": "me", "is": "be", "are": "be", "am": "be"},
    "knight": {"you": "thee", "your": "thy", "are": "art"},
}
_SIMPLIFIED = str.maketrans(
    "啊哈，水手嗶且聽我言容稟報乾杯夥計傳輸完畢後會隨時為您效勞",
    "啊哈，水手哔且听我言容禀报干杯伙计传输完毕后会随时为您效劳",
)


def styled(sentences: list[str], manner: Manner, language: str) -> str:
    """The sentences as the manner wants them."""
    kept = sentences[: manner.sentences] if manner.sentences else list(sentences)
    if manner.voice in _SPELLINGS and language == "en":
        kept = [_respelled(sentence, _SPELLINGS[manner.voice]) for sentence in kept]
    # With a number of sentences to keep to, the voice may color them, but not add any.
    opening = manner.opening or _said(_OPENINGS, manner.voice, language)
    closing = manner.closing or ("" if manner.sentences else _said(_CLOSINGS, manner.voice, language))
    body = "\n".join(f"- {sentence}" for sentence in kept) if manner.bullets else joined(kept, language)
    gap = "\n" if manner.bullets else " "
    text = gap.join(part for part in (opening, body, closing) if part)
    if manner.case:
        text = text.upper() if manner.case == "upper" else text.lower()
    return text


def _said(table: dict[str, dict[str, str]], voice: str | None, language: str) -> str:
    if voice is None or language[:2] not in ("en", "zh"):
        return ""
    text = table[voice][language[:2]]
    return text.translate(_SIMPLIFIED) if language == "zh-hans" else text


def _respelled(text: str, spellings: dict[str, str]) -> str:
    def one(found: re.Match[str]) -> str:
        word = found[0]
        other = spellings.get(word.lower(), word)
        return other.capitalize() if word[0].isupper() and other != word else other

    # What somebody else said, in quotes, and addresses stay as they are.
    parts = re.split(r"(“[^”]*”|https?://\S+)", text)
    return "".join(part if place % 2 else re.sub(r"[A-Za-z]+", one, part) for place, part in enumerate(parts))

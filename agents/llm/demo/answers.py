"""What the demo model answers: small skills, tried in order. Each gives sentences, or nothing when it does not apply."""

import ast
import json
import operator
import re
from collections.abc import Callable

from agents.llm.demo.calls import REVISE, TIME, wish_of
from agents.llm.demo.phrases import WEEKDAYS, phrase
from agents.llm.demo.situation import Situation
from agents.llm.exchange import ToolCall

Sentences = list[str] | None
_SHORT = 160


def sentences_for(situation: Situation) -> list[str]:
    """The answer, as sentences still to be styled."""
    return next(found for skill in SKILLS if (found := skill(situation)))


# --- skills -------------------------------------------------------------------------------------------------------

_MOMENT = re.compile(
    r"(?P<date>\d{4}-\d\d-\d\d)[ T](?P<time>\d\d:\d\d)(?::\d\d)?\s*\((?P<weekday>\w+)\),\s*(?P<zone>[\w/+-]+)"
)
_FAILED = re.compile(
    r"^\W*(?:error|failed|invalid|refused|there is no|not allowed|internal error|timeout)", re.IGNORECASE
)


# As web_fetch fences a page: its source, what is known of it, its text.
_PAGE = re.compile(
    r"^--- (?P<mark>page \w+) ---\n(?P<source>\[.*\]\(\S+\))\n(?:(?:Site|Published): .*\n)*"
    r"(?P<text>[\s\S]*)\n--- end of (?P=mark) ---$",
    re.MULTILINE,
)


def from_results(situation: Situation) -> Sentences:
    """What its tools said."""
    said = [line for call, result in situation.results for line in _from_result(call, result, situation.language)]
    return said or None


def _from_result(call: ToolCall, result: str, language: str) -> list[str]:
    if page := _PAGE.search(result):
        text = re.sub(r"^#.*$", "", page["text"], flags=re.MULTILINE)
        return phrase("page", language, source=page["source"], text=_shortened(text, 300))
    if moment := _MOMENT.search(result):
        return phrase("time", language, **_moment(moment, call.arguments, language))
    if call.name == REVISE:
        return _revised(result, language)
    key = "failed" if _FAILED.search(result) else "result"
    return phrase(key, language, tool=call.name, result=_shortened(result, 2000))


def _revised(result: str, language: str) -> list[str]:
    """What came of revising its own prompt (`agents/agent_tools.py`)."""
    if result.startswith("Your new prompt is a draft"):
        return phrase("revised", language)
    if "only an editor" in result:
        return phrase("editors_only", language)
    return phrase("revised_not", language, result=result.removeprefix("Nothing was changed: "))


def _moment(found: re.Match[str], arguments: str, language: str) -> dict[str, str]:
    place = found["zone"].rsplit("/", 1)[-1].replace("_", " ")
    weekday = found["weekday"]
    if language.startswith("zh"):
        place, weekday = _asked_place(arguments) or place, WEEKDAYS.get(weekday, weekday)
    return {"date": found["date"], "time": found["time"], "weekday": weekday, "place": place}


def _asked_place(arguments: str) -> str:
    """The place as it was asked for, when that was in Chinese."""
    try:
        place = str(next(iter(json.loads(arguments).values()), ""))
    except (ValueError, AttributeError):
        return ""
    return place if re.search(r"[\u4e00-\u9fff]", place) else ""


def not_enough_for_a_call(situation: Situation) -> Sentences:
    wish = wish_of(situation)
    if wish is None or not wish.missing:
        return None
    return phrase("missing", situation.language, tool=wish.tool.name, missing=", ".join(wish.missing))


def nothing(situation: Situation) -> Sentences:
    return None if situation.question else phrase("nothing", situation.language)


def repeat(situation: Situation) -> Sentences:
    """Says what it is told to say."""
    found = re.search(
        r"(?:^|\bplease )\s*(?:say|repeat|echo)(?: after me)?\s*[:：]?\s*[\"“「](?P<q>[^\"”」]+)[\"”」]|"
        r"(?:^|\bplease )\s*(?:repeat(?: after me)?|echo|say)\s*[:：]\s*(?P<p>.+)|"
        r"(?:重複|重复|複誦|复述|跟我說|跟我说|請說|请说|^說|^说)\s*[:：]?\s*「?(?P<z>[^」]+)」?",
        situation.question,
        re.IGNORECASE | re.DOTALL,
    )
    return [(found["q"] or found["p"] or found["z"]).strip()] if found else None


def who(situation: Situation) -> Sentences:
    asked = re.search(
        r"\bwho are you|\bwhat are you\b|\bwhat model|\bwhich model|\byour (?:name|prompt|instructions|model)\b|introduce yourself|"
        r"你是[誰谁]|你叫什[麼么]|什[麼么]模型|哪[個个]模型|自我介[紹绍]|你的(?:名字|提示詞|提示词|指示|模型)",
        situation.question,
        re.IGNORECASE,
    )
    prompt = _shortened(situation.prompt, 100) or "—"
    return phrase("who", situation.language, name=situation.name, prompt=prompt) if asked else None


_PLAIN = (
    ("help", r"^\W*help\W*$|\bhelp me\W*$|what can you do|how do you work|"
              r"你會什[麼么]|你会什[麼么]|能做什[麼么]|幫助|帮助|怎[麼么]用"),
    ("thanks", r"^\W*(?:thanks|thank you|thx|cheers|merci|danke|gracias)\b|謝謝|谢谢|感謝|感谢|多謝|多谢"),
    ("joke", r"\bjokes?\b|笑話|笑话"),
    ("hello", r"^\W*(?:hi|hello|hey|good (?:morning|evening|afternoon|day)|greetings|say hello|say hi|bonjour|hallo|hola)\b|"
              r"^\W*(?:你好|您好|哈囉|哈罗|嗨|早安|早上好|晚安|大家好|こんにちは)|greet"),
)  # fmt: skip


def plain(situation: Situation) -> Sentences:
    """Greetings and the like."""
    for key, pattern in _PLAIN:
        if re.search(pattern, situation.question, re.IGNORECASE):
            tools = ", ".join(tool.name for tool in situation.tools) or "–"
            return phrase(key, situation.language, name=situation.name, tools=tools)
    return None


def no_clock(situation: Situation) -> Sentences:
    asked = TIME.search(situation.question)
    return phrase("no_clock", situation.language) if asked and situation.tool("current_time") is None else None


_WORDS = {
    r"\bplus\b|加上|加": "+", r"\bminus\b|減去|减去|減|减": "-", r"\btimes\b|multiplied by|乘以|乘|×|✕": "*",
    r"divided by|除以|÷": "/", r"[，,](?=\d{3})": "", r"（": "(", r"）": ")", r"\^": "**",
}  # fmt: skip
_SUM = re.compile(r"[-(]*\d[\d.]*\s*(?:(?:\*\*|[-+*/%])\s*[-(]*\d[\d.]*[)\s]*)+")
_OPERATORS: dict[type[ast.AST], Callable[..., float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
}


def arithmetic(situation: Situation) -> Sentences:
    """Sums. Dates and versions are none: something must ask for it, or the sum stand alone."""
    text = situation.question
    for words, sign in _WORDS.items():
        text = re.sub(words, sign, text, flags=re.IGNORECASE)
    found = _SUM.search(text)
    if not found or re.search(r"\d{4}-\d\d-\d\d", text):
        return None
    written = found[0].strip().rstrip("=").strip()
    try:
        result = _value(ast.parse(written, mode="eval").body)
    except (SyntaxError, ValueError, ArithmeticError, KeyError):
        return None
    return phrase("sum", situation.language, sum=written, result=f"{result:.10g}")


def _value(node: ast.AST) -> float:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return node.value
    if isinstance(node, ast.UnaryOp):
        return _OPERATORS[type(node.op)](_value(node.operand))
    if isinstance(node, ast.BinOp):
        left, right = _value(node.left), _value(node.right)
        if isinstance(node.op, ast.Pow) and (abs(left) > 1000 or abs(right) > 20):
            raise ValueError("too large")
        return _OPERATORS[type(node.op)](left, right)
    raise ValueError("no sum")


def count(situation: Situation) -> Sentences:
    found = re.search(
        r"(?:how many (?:words|characters|letters)|count the (?:words|characters|letters))[^:：]*[:：]\s*(?P<text>.+)|"
        r"(?:字數|字数|幾個字|几个字|多少字)[^:：]*[:：]\s*(?P<zh>.+)",
        situation.question,
        re.IGNORECASE | re.DOTALL,
    )
    if not found:
        return None
    text = (found["text"] or found["zh"]).strip()
    words = len(re.findall(r"[\u4e00-\u9fff]|[^\s\u4e00-\u9fff]+", text))
    return phrase("count", situation.language, words=words, characters=len(text))


def summary(situation: Situation) -> Sentences:
    """Sums up the text that comes along, else the chat."""
    found = re.search(
        r"\b(?:summari[sz]e|sum up|tl;?dr|shorten)\b(?P<text>.*)|(?:總結|总结|摘要|概括|歸納|归纳)(?P<zh>.*)",
        situation.question,
        re.IGNORECASE | re.DOTALL,
    )
    if not found:
        return None
    _, colon, text = (found["text"] or found["zh"] or "").replace("：", ":").partition(":")
    if colon and text.strip():
        return phrase("summary", situation.language, text=_first_sentence(text))
    said = [_shortened(line, 60) for line in situation.said[:-1]][-5:]
    return phrase("chat", situation.language, text=" / ".join(said) or "–")


def translation(situation: Situation) -> Sentences:
    found = re.search(r"\btranslate\b|翻譯|翻译|譯成|译成", situation.question, re.IGNORECASE)
    return phrase("no_translation", situation.language, text=_shortened(situation.question, 60)) if found else None


def reflect(situation: Situation) -> Sentences:
    """Shows that it has read, and says once what it is."""
    asks = re.search(r"[?？]\s*$|[嗎吗呢]\W*$|^(?:what|who|where|when|why|how|which|can|could|is|are|do|does)\b",
                     situation.question, re.IGNORECASE)  # fmt: skip
    key = ("question" if asks else "statement") if situation.is_first else ("question" if asks else "again")
    return phrase(key, situation.language, text=_shortened(situation.question, _SHORT))


SKILLS: tuple[Callable[[Situation], Sentences], ...] = (
    from_results, nothing, not_enough_for_a_call, repeat, count, summary, translation, arithmetic, who, no_clock, plain,
    reflect,
)  # fmt: skip


def _shortened(text: str, limit: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _first_sentence(text: str) -> str:
    text = " ".join(text.split())
    found = re.match(r".+?(?:[.!?](?=\s|$)|[。！？])", text)
    return _shortened(found[0] if found else text, _SHORT)

"""What the demo model makes of a job's brief: it counts and quotes, where a model would understand; and it says so."""

import re

from agents.llm.demo.phrases import phrase
from agents.llm.exchange import Request

_LANGUAGES = {"Traditional Chinese": "zh-hant", "Simplified Chinese": "zh-hans"}
_SPOKEN = re.compile(r"^Answer in (?P<language>[^.\n]+)\.$", re.MULTILINE)
_FIELD = re.compile(r"^- (?P<name>[\w.-]+):", re.MULTILINE)
_LINE = re.compile(r"^(?P<sign>[+-])[ \t]*(?P<text>.*)$", re.MULTILINE)
LONGEST = 90


def answer_to_job(request: Request) -> str | None:
    """The answer to a brief of a shipped agent; nothing when the request is not one."""
    brief = request.turns[-1].text if request.turns else ""
    system = request.turns[0].text if len(request.turns) == 2 else ""
    if system.startswith("You are the Summarizer."):
        return _summary(brief)
    if system.startswith("You are the Merge agent."):
        return "I am the demo model and cannot merge texts."
    return None


def _summary(brief: str) -> str:
    spoken = _SPOKEN.search(brief)
    language = _LANGUAGES.get(spoken["language"], "en") if spoken else "en"
    lines = [(found["sign"], found["text"]) for found in _LINE.finditer(_part(brief, "prompt diff"))]
    fields = [found["name"] for found in _FIELD.finditer(_part(brief, "fields"))]
    added, removed = ([text for sign, text in lines if sign == which] for which in "+-")
    said: list[str] = []
    if lines:
        said += phrase("diff", language, added=len(added), removed=len(removed))
    if quoted := next((text for text in [*added, *removed] if text.strip()), ""):
        said += phrase("diff_line" if added else "diff_gone", language, text=_shortened(quoted.strip()))
    if fields:
        said += phrase("diff_fields", language, fields=("、" if language.startswith("zh") else ", ").join(fields))
    return ("" if language.startswith("zh") else " ").join(said or phrase("diff_none", language))


def _part(brief: str, name: str) -> str:
    """What stands between the marks of that name (`suggestions/briefs.py`)."""
    found = re.search(rf"<<<{name} (?P<key>\S+)>>>\n(?P<text>.*?)\n?<<<end of {name} (?P=key)>>>", brief, re.DOTALL)
    return found["text"] if found else ""


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"

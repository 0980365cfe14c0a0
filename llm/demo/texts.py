"""Build the answers of the demo model, in three languages."""

import json
import re

from llm.demo.proposals import build_proposal
from llm.demo.rules import DELEGATE, Call, DemoConversation, detect_language
from llm.messages import ModelRequest, ToolCall

# Sentences are separated by "|".
_TEXTS = {
    "en": {
        "hello": "Hello! I am {name}.| I am the demo model: change my prompt beside this chat and see what I make of it.",
        "echo": "I have read: “{text}”| I am the demo model: I know only the example questions and a few simple rules, and"
        " do not think.| For real answers, connect a model under Settings → Model.",
        "missing": "I would call {tool}, but I do not know what to put for {missing}.",
        "result": "I called {tool}, and this is what it says: {result}",
        "sub_agent": "I am the demo model, and I play {name}. ",
        "task": "{name} did the task, and says: {result}",
        "task_failed": "{name} could not do the task: {result}",
        "diff": "Counted by the demo model: lines added to the prompt: {added}, removed: {removed}.",
        "diff_line": " It now says “{text}”.",
        "diff_fields": " Changed beside the prompt: {fields}.",
        "diff_none": "The demo model finds no difference.",
        "summary_decided": "Decided",
        "summary_open": "Asked",
        "summary_facts": "Numbers and dates",
        "summary_said": "Said",
    },
    "zh-hant": {
        "hello": "你好！我是 {name}。|我是示範模型：在聊天室旁修改我的提示詞，看我怎麼做。",
        "echo": "我讀到了：「{text}」|我是示範模型，只認得範例問題和幾條簡單的規則，不會思考。"
        "|想要真正的回答，請到「設定 → 模型」連接模型。",
        "missing": "我想呼叫 {tool}，但不知道 {missing} 要填什麼。",
        "result": "我呼叫了 {tool}，它說：{result}",
        "sub_agent": "我是示範模型，扮演 {name}。",
        "task": "{name} 做了這項任務，它說：{result}",
        "task_failed": "{name} 沒有完成這項任務：{result}",
        "diff": "示範模型數出來的：提示詞新增 {added} 行、刪除 {removed} 行。",
        "diff_line": "現在寫著「{text}」。",
        "diff_fields": "提示詞以外的變更：{fields}。",
        "diff_none": "示範模型看不出差別。",
        "summary_decided": "已決定",
        "summary_open": "問過的事",
        "summary_facts": "數字與日期",
        "summary_said": "說過的話",
    },
    "zh-hans": {
        "hello": "你好！我是 {name}。|我是示范模型：在聊天室旁修改我的提示词，看我怎么做。",
        "echo": "我读到了：“{text}”|我是示范模型，只认得示例问题和几条简单的规则，不会思考。"
        "|想要真正的回答，请到“设置 → 模型”连接模型。",
        "missing": "我想调用 {tool}，但不知道 {missing} 要填什么。",
        "result": "我调用了 {tool}，它说：{result}",
        "sub_agent": "我是示范模型，扮演 {name}。",
        "task": "{name} 做了这项任务，它说：{result}",
        "task_failed": "{name} 没有完成这项任务：{result}",
        "diff": "示范模型数出来的：提示词新增 {added} 行、删除 {removed} 行。",
        "diff_line": "现在写着“{text}”。",
        "diff_fields": "提示词以外的变更：{fields}。",
        "diff_none": "示范模型看不出差别。",
        "summary_decided": "已决定",
        "summary_open": "问过的事",
        "summary_facts": "数字与日期",
        "summary_said": "说过的话",
    },
}


MAX_KEPT_SENTENCES = 24
"""Sentences of the previous summary of a chat that the next summary keeps."""
MAX_QUOTED_SENTENCES = 12
"""New messages that a summary of a chat quotes."""
# A section may have brackets: it ends at the one that closes it, or at the first if they are not in pairs.
_SENTENCE = re.compile(r"^\[(\d+(?:, \d+)*)\] \(((?:[^()\n]|\([^()\n]*\))*|[^\n]*?)\) (.+)$", re.M)
_MESSAGE = re.compile(r"^\[(\d+)\] \d{4}-\d\d-\d\d \d\d:\d\d ([^:\n]*): (.+)$", re.M)
_NOTABLE = {
    "decided": re.compile(r"\b(?:decided?|agreed?|we will|let's|shall)\b|決定|决定|同意|說好|说好", re.I),
    "open": re.compile(r"[?？]"),
    "facts": re.compile(r"\d"),
}


def _build_sentences(key: str, language: str, **facts: object) -> list[str]:
    return [sentence.format_map(facts) for sentence in _TEXTS[language][key].split("|")]


def build_answer(conversation: DemoConversation, incomplete_call: Call | None, *, specialist_text: str = "") -> str:
    """Return the answer in the form that the instructions ask for. `incomplete_call`: a call that lacks arguments.
    `specialist_text`: what came of the calls of the part that the model plays, which is the answer then."""
    question, language = conversation.question, conversation.language
    if specialist_text:
        label = "".join(_build_sentences("sub_agent", language, name=conversation.name))
        return f"{label}{_strip_labels(specialist_text)} {conversation.closing}".strip()
    sentences: list[str] = []
    for call, result in conversation.results:
        if call.name == DELEGATE:
            sentences += _build_task_sentences(call, result, language)
        else:
            sentences += _build_sentences("result", language, tool=call.name, result=_shorten(result, 2000))
    if not sentences:
        if incomplete_call:
            missing = ", ".join(incomplete_call.missing)
            sentences = _build_sentences("missing", language, tool=incomplete_call.tool.name, missing=missing)
        elif re.match(r"\W*(?:(?:hi|hello|hey)\b.{0,30}|[你您]好\W*|)$", question, re.I):  # a greeting, or no text
            sentences = _build_sentences("hello", language, name=conversation.name)
        else:
            sentences = _build_sentences("echo", language, text=_shorten(question, 160))
    sentences = sentences[: conversation.max_sentences]
    if conversation.is_sub_agent:
        sentences = [*_build_sentences("sub_agent", language, name=conversation.name), *sentences]
    text = "".join(sentences)
    return f"{text.strip()} {conversation.closing}".strip()


def _strip_labels(text: str) -> str:
    """Return the text of a lead without the labels of the demo model in the results of its team: its own label is enough."""
    for texts in _TEXTS.values():
        before, after = map(re.escape, texts["sub_agent"].split("{name}"))
        text = re.sub(rf"{before}[^\n.。]{{1,80}}{after}", "", text)
    return text


def _build_task_sentences(call: ToolCall, result: str, language: str) -> list[str]:
    """Return what came of a task that was given to a sub-agent (`runs/runtime/sub_agents.py`)."""
    try:
        name, outcome = json.loads(call.arguments)["name"], dict(json.loads(result))
    except (TypeError, ValueError, KeyError):
        return _build_sentences("result", language, tool=call.name, result=_shorten(result, 2000))
    if outcome.get("ok"):
        return _build_sentences("task", language, name=name, result=_shorten(str(outcome.get("summary", "")), 2000))
    return _build_sentences("task_failed", language, name=name, result=_shorten(str(outcome.get("error", "")), 400))


def build_job_answer(request: ModelRequest) -> str | None:
    """Return the answer to a job of a shipped agent, or null if the request is not one. The summary of a change of
    an agent counts the changed lines, quotes the first added one, and says that it comes from the demo model."""
    system = request.turns[0].text if len(request.turns) == 2 else ""
    if system.startswith("You are the Merge agent."):
        return "I am the demo model and cannot merge texts."
    if system.startswith("You are the Chat summarizer."):
        return _build_chat_summary(request.turns[-1].text)
    if system.startswith("You are the Prompt writer."):
        return build_proposal(_find_fenced_text(request.turns[-1].text, "sentence"))
    if not system.startswith("You are the Summarizer."):
        return None
    job_input = request.turns[-1].text
    language_line = re.search(r"^Answer in (Traditional|Simplified) Chinese\.$", job_input, re.M)
    language = {"Traditional": "zh-hant", "Simplified": "zh-hans"}[language_line[1]] if language_line else "en"
    lines = re.findall(r"^([+-])[ \t]*(.*)$", _find_fenced_text(job_input, "prompt diff"), re.M)
    fields = re.findall(r"^- ([\w.-]+):", _find_fenced_text(job_input, "fields"), re.M)
    added, removed = ([text for sign, text in lines if sign == which] for which in "+-")
    texts: list[str] = []
    if lines:
        texts += _build_sentences("diff", language, added=len(added), removed=len(removed))
    if quoted := next((text.strip() for text in added if text.strip()), ""):
        texts += _build_sentences("diff_line", language, text=_shorten(quoted, 90))
    if fields:
        texts += _build_sentences("diff_fields", language, fields=(", " if language == "en" else "、").join(fields))
    return "".join(texts or _build_sentences("diff_none", language)).strip()


def _build_chat_summary(job_input: str) -> str:
    """Return a summary of a chat: the sentences so far, as people have corrected them, and quotations of new messages: only
    those that say that something was decided, ask something, or have a number, or all if there are none of these."""
    sentences = _read_sentences(job_input, "summary")
    # A correction is added, and replaces what it is about, unless a sentence already has its text.
    texts = {text for _, _, text in sentences}
    corrections = [one for one in _read_sentences(job_input, "corrections") if one[2] not in texts]
    corrected = {(numbers, section) for numbers, section, _ in corrections}
    kept = [one for one in sentences if one[:2] not in corrected] + corrections
    found = _MESSAGE.findall(_find_fenced_text(job_input, "messages"))
    language = detect_language(" ".join(text for _, _, text in found))
    quoted: list[tuple[str, str, str]] = []
    for number, author, text in found:
        key = next((key for key, pattern in _NOTABLE.items() if pattern.search(text)), "")
        if key:
            section = "".join(_build_sentences(f"summary_{key}", language))
            quoted.append((number, section, f"{author}: {_shorten(text, 160)}"))
    if not quoted:
        section = "".join(_build_sentences("summary_said", language))
        quoted = [(number, section, f"{author}: {_shorten(text, 160)}") for number, author, text in found]
    # Older sentences are dropped: earlier summaries have them. Of the quotations, too, only the newest are kept.
    sentences = [*kept[-MAX_KEPT_SENTENCES:], *quoted[-MAX_QUOTED_SENTENCES:]]
    entries = [
        {"section": section, "text": text, "from": [int(number) for number in numbers.split(", ")]}
        for numbers, section, text in sentences
    ]
    return json.dumps({"sentences": entries}, ensure_ascii=False)


def _read_sentences(job_input: str, name: str) -> list[tuple[str, str, str]]:
    """Return the numbers, sections and texts of the sentences between these marks (`context/services/summaries.py`)."""
    return _SENTENCE.findall(_find_fenced_text(job_input, name))


def _find_fenced_text(job_input: str, name: str) -> str:
    """Return the text between the marks with this name (`suggestions/job_inputs.py`)."""
    found = re.search(rf"<<<{name} (?P<key>\S+)>>>\n(?P<text>.*?)\n?<<<end of {name} (?P=key)>>>", job_input, re.S)
    return found["text"] if found else ""


def _shorten(text: str, limit: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= limit else f"{text[: limit - 1]}…"

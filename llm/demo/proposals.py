"""The agent that the demo model proposes for a sentence, in three languages: a pattern, which the sentence is put into."""

import json
import re

from llm.demo.rules import detect_language
from llm.demo.scripts import list_questions

MAX_TASK = 1_000
"""Characters of the sentence that the prompt repeats."""
MAX_DESCRIPTION = 200

_PROMPTS = {
    "en": "You are {name}. Your task: {task}\n\n# How to work\n{rule}- Ask for what is missing before you begin, all at once.\n"
    "- Keep to what you are given. Say what you do not know, and invent nothing.\n\n# How to answer\n- The result first, and the"
    " reasons only if somebody asks.\n- Short, and in the language of the question.",
    "zh-hant": "你是{name}。你的任務：{task}\n\n# 如何進行\n{rule}- 開始前一次問清楚缺少的資料。\n"
    "- 只依照給你的內容；不知道的直接說明，不要編造。\n\n# 如何回答\n- 先給結果，有人問起才說明理由。\n- 簡短，並用提問者的語言。",
    "zh-hans": "你是{name}。你的任务：{task}\n\n# 如何进行\n{rule}- 开始前一次问清楚缺少的资料。\n"
    "- 只依照给你的内容；不知道的直接说明，不要编造。\n\n# 如何回答\n- 先给结果，有人问起才说明理由。\n- 简短，并用提问者的语言。",
}

# What the sentence is about, and the name and the rule that follow from it. The first that is found counts.
_SUBJECTS: tuple[tuple[str, dict[str, tuple[str, str]]], ...] = (
    (
        r"\btranslat|翻譯|翻译",
        {
            "en": ("Translator", "- Keep names, numbers and line breaks as they are."),
            "zh-hant": ("譯者", "- 名字、數字和分行照原樣保留。"),
            "zh-hans": ("译者", "- 名字、数字和分行照原样保留。"),
        },
    ),
    (
        r"\bcustomers?\b|\bcomplain|\brefund|\bsupport\b|客[人戶户服]|[顧顾]客|退款",
        {
            "en": ("Support", "- Promise no refund, no date and no exception. Name what a person has to decide."),
            "zh-hant": ("客服", "- 不承諾退款、日期或例外；需要真人決定的事要指出來。"),
            "zh-hans": ("客服", "- 不承诺退款、日期或例外；需要真人决定的事要指出来。"),
        },
    ),
    (
        r"\bplan|\btrips?\b|\bschedul|\borgani[sz]|安排|行程|[計计][畫划]|[規规][劃划]",
        {
            "en": ("Planner", "- Write steps in their order: who does what, and by when."),
            "zh-hant": ("企劃", "- 步驟依先後寫出：誰做什麼、何時完成。"),
            "zh-hans": ("策划", "- 步骤按先后写出：谁做什么、何时完成。"),
        },
    ),
    (
        r"\breview|\bproofread|\bcheck|\bfeedback\b|[審审][閱阅稿查]|校[對对]|[檢检]查",
        {
            "en": ("Reviewer", "- Name first what matters most, and propose the better words."),
            "zh-hant": ("審閱者", "- 先說最重要的一點，並提出更好的寫法。"),
            "zh-hans": ("审阅者", "- 先说最重要的一点，并提出更好的写法。"),
        },
    ),
    (
        r"\bsummar|\bminutes\b|\bmeetings?\b|\bnotes?\b|摘要|[會会][議议]|[筆笔][記记]",
        {
            "en": ("Note keeper", "- Keep names, numbers, dates and decisions."),
            "zh-hant": ("紀錄員", "- 保留名字、數字、日期和決定。"),
            "zh-hans": ("记录员", "- 保留名字、数字、日期和决定。"),
        },
    ),
    (
        r"\bresearch|\bcompar|\bsearch|\bfind\b|研究|比[較较]|查找|搜[尋寻索]",
        {
            "en": ("Researcher", "- Say where each statement is from, and what you could not find."),
            "zh-hant": ("研究員", "- 註明每項說法的出處，以及找不到的內容。"),
            "zh-hans": ("研究员", "- 注明每项说法的出处，以及找不到的内容。"),
        },
    ),
    (
        r"\bwrit|\bdraft|\bletters?\b|\bposts?\b|\be?-?mails?\b|撰[寫写]|[寫写]|文案|信",
        {
            "en": ("Writer", "- Keep the facts as they are given."),
            "zh-hant": ("撰稿人", "- 事實照原樣保留。"),
            "zh-hans": ("撰稿人", "- 事实照原样保留。"),
        },
    ),
)
_HELPER = {"en": ("Helper", ""), "zh-hant": ("幫手", ""), "zh-hans": ("帮手", "")}


def build_proposal(sentence: str) -> str:
    """Return the proposed agent as JSON (`AgentProposal`)."""
    language = detect_language(sentence)
    subjects = (subject for pattern, subject in _SUBJECTS if re.search(pattern, sentence, re.I))
    name, rule = next(subjects, _HELPER)[language]
    task = " ".join(sentence.split())
    task = f"{task[: MAX_TASK - 1]}…" if len(task) > MAX_TASK else task
    if not re.search(r"[.!?。！？…]$", task):
        task += "." if language == "en" else "。"
    proposal = {
        "name": name,
        "description": f"{task[: MAX_DESCRIPTION - 1]}…" if len(task) > MAX_DESCRIPTION else task,
        "prompt": _PROMPTS[language].format(name=name, task=task, rule=f"{rule}\n" if rule else ""),
        "questions": list_questions("blank", language),
    }
    return json.dumps(proposal, ensure_ascii=False)

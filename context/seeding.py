"""Make long chats for measurements and tests: messages in English and Chinese, and facts with the questions that ask for them."""

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import accumulate
from typing import Any
from uuid import UUID

from django.db import connection, transaction

from chats.models import Chat, ChatActor
from chats.services import lock_chat
from common.clock import now
from common.ids import new_id
from context.seeding_words import CHINESE, ENGLISH, NAMES, SYLLABLES, ZH_NAMES
from llm.tokens import estimate_tokens

TEMPLATES = (
    (
        "The deposit for the {name} suite is {value} dollars.",
        "How much is the deposit for the {name} suite?",
        "{other}套房要先付多少押金？",
    ),
    (
        "I put the spare key of the {name} office into box {value}.",
        "In which box is the spare key of the {name} office?",
        "{other}辦公室的鑰匙收在哪裡？",
    ),
    (
        "The chef of {name} said that table {value} has a nut allergy.",
        "Which table at {name} has a nut allergy?",
        "{other}哪一桌的客人不能吃堅果？",
    ),
    (
        "The code for the garage at {name} street is {value}.",
        "What is the code for the garage at {name} street?",
        "{other}街的停車場要輸入什麼密碼？",
    ),
    (
        "Our contract with {name} ends after {value} days.",
        "After how many days does our contract with {name} end?",
        "{other}的合約還有多久到期？",
    ),
)
"""Facts, the questions that ask for them, and the same questions in other words, which share none with the fact."""
ZH_TEMPLATES = (
    ("{name}套房的訂金是 {value} 元。", "{name}套房的訂金是多少？", "What must we prepay for the {other} apartment?"),
    (
        "{name}辦公室的備用鑰匙放在 {value} 號箱子裡。",
        "{name}辦公室的備用鑰匙在幾號箱子？",
        "Who knows where the {other} office key lies?",
    ),
    (
        "{name}的廚師說第 {value} 桌對堅果過敏。",
        "{name}的哪一桌對堅果過敏？",
        "Which guests of {other} cannot eat nuts?",
    ),
    ("{name}街車庫的密碼是 {value}。", "{name}街車庫的密碼是什麼？", "Which PIN opens the parking at {other} street?"),
    (
        "我們和{name}的合約 {value} 天後到期。",
        "我們和{name}的合約幾天後到期？",
        "When does the agreement with {other} terminate?",
    ),
)
MAX_FACTS = 100


@dataclass(frozen=True)
class Fact:
    """A message that answers a question. `in_other_words`: the same question in the other language; the fact has no word of it.
    `value`: what only this message says."""

    text: str
    question: str
    in_other_words: str
    value: str


def build_facts(count: int, seed: int = 1) -> list[Fact]:
    """Return facts, half of them in Chinese, each with a value of its own. Raises `ValueError` for more than `MAX_FACTS`."""
    if count > MAX_FACTS:
        raise ValueError(f"There are at most {MAX_FACTS} facts.")
    generator = random.Random(seed)
    values = generator.sample(range(10_000, 99_999), count)
    facts: list[Fact] = []
    for number, value in enumerate(values):
        templates, names, others = ((TEMPLATES, NAMES, ZH_NAMES), (ZH_TEMPLATES, ZH_NAMES, NAMES))[number % 2]
        text, question, in_other_words = templates[number // 2 % len(templates)]
        # Without the 12, each fact in Chinese would be about the same thing as the one before it, in English.
        at = (number // 2 + 12 * (number % 2)) % len(names)
        facts.append(
            Fact(
                text.format(name=names[at], value=value),
                question.format(name=names[at]),
                in_other_words.format(other=others[at]),
                str(value),
            )
        )
    return facts


def build_texts(count: int, seed: int = 1) -> Iterator[str]:
    """Yield texts of talk: half of them English, four tenths Chinese, the rest mixed. Few words are frequent, many are rare. One in
    a hundred is about the things and names of the facts without being one."""
    generator = random.Random(seed)
    rare = ["".join(generator.choices(SYLLABLES, k=3)) for _ in range(20_000)]
    words = [*ENGLISH, *rare]
    weights = list(accumulate(1 / (rank + 8) for rank in range(len(words))))
    zh_weights = list(accumulate(1 / (rank + 20) for rank in range(len(CHINESE))))
    for _ in range(count):
        kind = generator.random()
        if kind < 0.01:
            # Words before the question tell it from the request: a message that equals the request is never found.
            if kind < 0.005:
                name = generator.choice(["our", "the other", *NAMES])
                yield f"Does somebody know: {generator.choice(TEMPLATES)[1].format(name=name)}"
            else:
                name = generator.choice(["另一個", *ZH_NAMES])
                yield f"有人知道嗎：{generator.choice(ZH_TEMPLATES)[1].format(name=name)}"
            continue
        text = ""
        if kind < 0.6:
            text = (
                " ".join(generator.choices(words, cum_weights=weights, k=generator.randint(4, 22))).capitalize() + "."
            )
        if kind >= 0.5:
            text += "".join(generator.choices(CHINESE, cum_weights=zh_weights, k=generator.randint(3, 14))) + "。"
        yield text


def create_messages(chat_id: UUID, count: int, *, facts: Sequence[Fact] = (), seed: int = 1) -> None:
    """Append messages by random participants of the chat, with the facts at random positions among the older ones; and update
    PostgreSQL's statistics. They wake no agent, and nobody is notified. Each participant has read them.

    Raises `Chat.DoesNotExist`.
    """
    generator = random.Random(seed)
    positions = dict(zip(sorted(generator.sample(range(int(count * 0.95)), len(facts))), facts, strict=True))
    with transaction.atomic():
        lock_chat(chat_id)
        chat = Chat.objects.get(pk=chat_id)
        authors = list(chat.participants.filter(ended_at=None).order_by("pk").values_list("actor_id", flat=True))
        first, newest_at = chat.version + 1, now()
        sql = "COPY chats_message (id, chat_id, seq, version, author_id, type, payload, tokens, created_at) FROM STDIN"
        with connection.cursor() as cursor, cursor.copy(sql) as copy:
            for number, text in enumerate(build_texts(count, seed)):
                fact = positions.get(number)
                text = fact.text if fact else text
                payload: dict[str, Any] = {"text": text, "mentions": [], "wake": "nobody"}
                at = newest_at - timedelta(seconds=count - number)
                seq, author = first + number, generator.choice(authors)
                copy.write_row(
                    (
                        new_id(),
                        chat_id,
                        seq,
                        seq,
                        author,
                        "TEXT_MESSAGE",
                        json.dumps(payload, ensure_ascii=False),
                        estimate_tokens(text),
                        at,
                    )
                )
        Chat.objects.filter(pk=chat_id).update(version=first + count - 1)
        ChatActor.objects.filter(chat=chat_id).update(last_read_seq=first + count - 1)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE chats_message")

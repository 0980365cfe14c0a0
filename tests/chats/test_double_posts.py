"""MSG1 over HTTP: the same message posted many times at once, to two web processes, is one message."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from threading import Barrier

import httpx
import pytest

from chats.models import Message
from common.ids import new_id
from tests.chaos import IS_CHAOS
from tests.serving import run_web_process

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.stack]

CONCURRENT_POSTS = 50
ROUNDS = 20 if IS_CHAOS else 1


def test_MSG1_fifty_identical_posts_to_two_web_processes_are_one_message(team, monkeypatch):
    for limit in ("REQUESTS", "POSTS", "WORKSPACE_POSTS"):
        monkeypatch.setenv(f"ATELIER_RATE_{limit}", "0,0")  # twenty rounds are more than one person may post
    with ExitStack() as opened:
        webs = [opened.enter_context(run_web_process()) for _ in range(2)]
        clients = [
            opened.enter_context(
                httpx.Client(base_url=web.url, headers={"X-Session-Token": web.sign_in(team.alice)}, timeout=60)
            )
            for web in webs
        ]
        for number in range(ROUNDS):
            body = {"id": str(new_id()), "text": f"hello {number}"}
            start = Barrier(CONCURRENT_POSTS)

            def post(which: int, body=body, start=start) -> httpx.Response:
                start.wait()
                return clients[which % 2].post(f"/api/v1/chats/{team.chat.id}/messages", json=body)

            with ThreadPoolExecutor(CONCURRENT_POSTS) as threads:
                answers = list(threads.map(post, range(CONCURRENT_POSTS)))
            assert Counter(answer.status_code for answer in answers) == {200: CONCURRENT_POSTS - 1, 201: 1}
            assert all(answer.json() == answers[0].json() for answer in answers)
            assert Message.objects.filter(pk=body["id"]).count() == 1
        for client in clients:
            other = client.post(f"/api/v1/chats/{team.chat.id}/messages", json=body | {"text": "something else"})
            assert (other.status_code, other.json()["error"]["code"]) == (409, "id_taken")
    assert Message.objects.filter(chat=team.chat, type="TEXT_MESSAGE", author=team.alice).count() == ROUNDS

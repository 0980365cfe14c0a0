"""Wakes of agents whose program runs outside, and the webhooks that tell the program."""

import asyncio
import base64
import hashlib
import hmac
import json
import time
from datetime import timedelta

import pytest
from django.db.models import Sum
from django.utils import timezone

from chats import services as chats
from chats.models import Message
from common.clock import now
from common.egress import HostRefused, close_sessions
from common.errors import Code, Forbidden, LimitReached, NotFound
from common.ids import get_lowest_id_at
from notifications.models import Notification
from runs.models import Run
from tests.api.client import Api
from tests.factories.webhooks import SECRET, make_delivery, make_webhook
from tests.people import make_agent, make_team
from webhooks import services as webhooks
from webhooks import tasks
from webhooks.models import AgentWake, Delivery, Webhook
from webhooks.services import deliveries
from webhooks.services.deliveries import WAITS
from webhooks.services.webhooks import MAX_WEBHOOKS
from worker import engine as engines

pytestmark = pytest.mark.django_db(transaction=True)


def post(delivering):
    """Post as the event loop of a worker does."""

    async def run():
        try:
            await delivering
        finally:
            await close_sessions()

    asyncio.run(run())


def deliver_due():
    """Post what is due. Return how many tries were made."""
    before = Delivery.objects.aggregate(tries=Sum("tries"))["tries"] or 0
    post(webhooks.deliver_due())
    return (Delivery.objects.aggregate(tries=Sum("tries"))["tries"] or 0) - before


@pytest.fixture
def robin(team):
    """A client with a token of Robin, for whom a program answers."""
    webhooks.set_access(team.alice, team.robin.id, runs_outside=True)
    api = Api()
    _, api.bearer = webhooks.create_agent_token(team.alice, team.robin.id, name="Bot", days=None, scope="full")
    return api


def test_a_message_makes_an_unread_wake_and_no_run(team, robin):
    first = chats.post_message(team.bob, team.chat.id, text="hello")[0]
    second = chats.post_message(team.bob, team.chat.id, text="@robin hello")[0]
    chats.post_message(team.bob, team.chat.id, text="psst", wake="nobody")
    assert not Run.objects.exists()
    found = robin.ok("GET", "agents/me/wakes")["results"]
    assert [(wake["message_ids"], wake["why"]) for wake in found] == [
        ([str(first.id)], "always"),
        ([str(second.id)], "mention"),
    ]
    after = robin.ok("GET", f"agents/me/wakes?after={found[0]['id']}")["results"]
    assert after == found[1:]
    robin.ok("PUT", f"chats/{team.chat.id}/read", {"seq": first.seq})
    assert robin.ok("GET", "agents/me/wakes")["results"] == found[1:]
    robin.ok("PUT", f"chats/{team.chat.id}/read", {"seq": second.seq})
    assert robin.ok("GET", "agents/me/wakes")["results"] == []


def test_a_program_is_told_of_a_chat_that_its_agent_is_added_to(team, robin, receiver):
    make_webhook(team.robin, receiver.url("/wake"))
    here = make_agent(team.workspace, team.alice, "Scribe")
    created = chats.create_chat(team.alice, team.workspace.id, title="New", actor_ids=[team.robin.id, here.id])
    other = chats.create_chat(team.alice, team.workspace.id, title="Other", actor_ids=[])
    chats.add_participant(team.alice, other.id, team.robin.id)
    found = robin.ok("GET", "agents/me/wakes")["results"]
    assert [(wake["chat_id"], wake["why"]) for wake in found] == [(str(created.id), "added"), (str(other.id), "added")]
    joined = Message.objects.get(pk=found[1]["message_ids"][0])
    assert (joined.type, joined.payload["target_id"]) == ("MEMBER_JOINED", str(team.robin.id))
    assert (AgentWake.objects.count(), Run.objects.count(), deliver_due()) == (2, 0, 2)
    robin.ok("PUT", f"chats/{other.id}/read", {"seq": joined.seq})
    assert robin.ok("GET", "agents/me/wakes")["results"] == found[:1]


def test_the_answer_of_the_program_wakes_nobody_again(team, robin):
    chats.post_message(team.robin, team.chat.id, text="@robin and @alice: done")
    assert not AgentWake.objects.exists()


def test_an_agent_that_answers_here_has_no_wakes(team):
    make_webhook(team.robin)
    chats.post_message(team.bob, team.chat.id, text="hello")
    assert (Run.objects.count(), AgentWake.objects.count(), Delivery.objects.count()) == (1, 0, 0)


def test_a_wake_is_posted_with_a_signature_and_stored(team, robin, receiver):
    webhook = make_webhook(team.robin, receiver.url("/wake"))
    message = chats.post_message(team.bob, team.chat.id, text="a secret of the chat")[0]
    assert deliver_due() == 1
    [(path, headers, body)] = receiver.posts
    wake = AgentWake.objects.get()
    assert path == "/wake"
    event = json.loads(body)
    assert (event["type"], event["data"]) == (
        "agent.woken",
        {
            "id": str(wake.id),
            "agent_id": str(team.robin.id),
            "chat_id": str(team.chat.id),
            "message_ids": [str(message.id)],
            "why": "always",
        },
    )
    delivery = Delivery.objects.get()
    signed = f"{delivery.id}.{headers['webhook-timestamp']}.{body}".encode()
    key = base64.b64decode(SECRET.reveal().removeprefix("whsec_"))
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    assert (headers["webhook-id"], headers["webhook-signature"]) == (str(delivery.id), f"v1,{expected}")
    assert (delivery.state, delivery.tries, delivery.status) == ("delivered", 1, 200)
    assert deliver_due() == 0
    assert b"secret" not in Webhook.objects.get(pk=webhook.pk).encrypted_secret.encode()


def test_a_failed_delivery_is_tried_five_times_with_growing_waits(team, receiver):
    receiver.status = 500
    delivery = make_delivery(make_webhook(team.robin, receiver.url("/wake")))
    for number, wait in enumerate([*WAITS, None], 1):
        before = now()
        assert deliver_due() == 1
        delivery.refresh_from_db()
        assert (delivery.tries, delivery.status, delivery.error) == (number, 500, "HTTP 500")
        if wait is None:
            assert (delivery.state, delivery.next_at) == ("failed", None)
        else:
            assert delivery.next_at is not None
            assert delivery.next_at - before >= wait
            assert deliver_due() == 0
            Delivery.objects.update(next_at=now())
    assert deliver_due() == 0
    assert timedelta(minutes=50) < sum(WAITS, timedelta()) < timedelta(minutes=70)
    assert len(receiver.posts) == 5


def test_a_webhook_that_fails_for_days_is_switched_off_and_the_editors_are_notified(team, receiver):
    receiver.status = 500
    webhook = make_webhook(team.robin, receiver.url("/wake"))
    Webhook.objects.update(failing_since=timezone.now() - timedelta(days=4))
    make_delivery(webhook)
    deliver_due()
    webhook.refresh_from_db()
    assert not webhook.is_enabled
    assert list(Notification.objects.values_list("person__name", "type", "agent_name")) == [
        ("Alice", "webhook_disabled", "Robin")
    ]
    make_delivery(webhook)
    assert deliver_due() == 0
    webhooks.set_enabled(team.alice, team.robin.id, webhook.id, is_enabled=True)
    receiver.status = 200
    Delivery.objects.update(next_at=now(), state="waiting")
    assert deliver_due() == 2
    assert Webhook.objects.get().failing_since is None


def test_FAIR2_a_silent_server_delays_no_run_and_no_other_tenant(environment, engine, receiver, settings, monkeypatch):
    """A webhook gets one delivery at a time, and a workspace has few at once."""
    monkeypatch.setattr(engines, "_engine", engine)
    settings.ALLOW_PRIVATE_HOSTS = {receiver.host, environment.model.host}
    team, other = environment.team, make_team("-b")
    second = make_agent(team.workspace, team.alice, "Second")
    silent = [make_webhook(agent, receiver.url(f"/{n}")) for n in range(4) for agent in (team.robin, second)]
    receiver.silent_paths = {f"/{n}" for n in range(4)}
    for webhook in silent * 3:
        make_delivery(webhook)
    quick = [make_delivery(make_webhook(other.robin, receiver.url("/quick"))) for _ in range(2)]
    before = time.monotonic()
    for _ in range(8):
        tasks.deliver_due()
    environment.wait(lambda: Delivery.objects.filter(pk__in=[row.pk for row in quick], state="delivered").count() == 2)
    tasks.deliver(str(make_delivery(make_webhook(other.robin, receiver.url("/test")), tries=4).pk))
    environment.wait(lambda: Delivery.objects.filter(webhook__url=receiver.url("/test"), state="delivered").exists())
    environment.post("hello")
    assert environment.wait_until_idle()[0].state == "completed"
    assert time.monotonic() - before < deliveries.TIMEOUT_SECONDS - 5
    assert sum(receiver.open.values()) == deliveries.MAX_OF_WORKSPACE
    # Only what is being posted is claimed: nothing waits longer than its lease, and is posted twice.
    assert Delivery.objects.filter(webhook__in=silent, next_at__gt=now()).count() == deliveries.MAX_OF_WORKSPACE


def test_a_webhook_gets_one_delivery_after_the_other_and_each_once(team, receiver, monkeypatch):
    monkeypatch.setattr(deliveries, "TIMEOUT_SECONDS", 0.2)
    receiver.silent_paths = {"/silent"}
    webhook = make_webhook(team.robin, receiver.url("/silent"))
    made = [make_delivery(webhook) for _ in range(4)]

    async def deliver_twice():
        await asyncio.gather(webhooks.deliver_due(), webhooks.deliver_due())

    post(deliver_twice())
    assert [headers["webhook-id"] for _, headers, _ in receiver.posts] == [str(row.pk) for row in made]
    assert {(row.tries, row.state) for row in Delivery.objects.all()} == {(1, "waiting")}


@pytest.mark.parametrize(
    "url",
    [
        "https://127.0.0.1/",
        "https://localhost/",
        "https://[::1]/",
        "https://169.254.169.254/latest",
        "https://10.0.0.1/",
        "https://user:password@bot.example.com/",
        "https://bot.example.com:8443/",
        "http://bot.example.com/",
        "ftp://bot.example.com/",
        "javascript:alert(1)",
    ],
)
def test_SEC12_private_and_unsafe_urls_are_refused(team, url):
    with pytest.raises(HostRefused):
        webhooks.create_webhook(team.alice, team.robin.id, url=url)
    assert not Webhook.objects.exists()


def test_SEC12_a_private_host_that_the_operator_names_with_a_path_is_for_model_servers_only(team, receiver, settings):
    settings.ALLOW_PRIVATE_HOSTS = [f"{receiver.host}/openai/v1"]
    for path in ("/admin", "/openai/v1"):
        with pytest.raises(HostRefused):
            webhooks.create_webhook(team.alice, team.robin.id, url=receiver.url(path))
    make_delivery(make_webhook(team.robin, receiver.url("/openai/v1")))
    assert deliver_due() == 1
    assert receiver.posts == []


def test_SEC12_a_url_that_became_private_is_not_posted_to(team):
    delivery = make_delivery(make_webhook(team.robin, "https://127.0.0.1/"))
    deliver_due()
    delivery.refresh_from_db()
    assert (delivery.tries, delivery.status) == (1, None)
    assert "not on the public internet" in delivery.error


def test_SEC12_a_redirect_is_not_followed(team, receiver):
    receiver.status, receiver.location = 302, "http://127.0.0.1:1/internal"
    delivery = make_delivery(make_webhook(team.robin, receiver.url("/wake")))
    deliver_due()
    delivery.refresh_from_db()
    assert (delivery.state, delivery.status, delivery.error) == (
        "waiting",
        302,
        "The server redirects; that is not followed.",
    )
    assert len(receiver.posts) == 1


def test_only_editors_have_webhooks_and_each_sees_those_of_the_agent(team):
    for person, error in ((team.bob, Forbidden), (team.charlie, NotFound), (team.robin, Forbidden)):
        with pytest.raises(error):
            webhooks.create_webhook(person, team.robin.id, url="https://bot.example.com/")
    assert not Webhook.objects.exists()
    for _ in range(MAX_WEBHOOKS):
        webhooks.create_webhook(team.alice, team.robin.id, url="https://bot.example.com/")
    with pytest.raises(LimitReached) as refusal:
        webhooks.create_webhook(team.alice, team.robin.id, url="https://bot.example.com/")
    assert refusal.value.code == Code.QUOTA_REACHED


def test_a_rotated_secret_signs_the_next_delivery(team, receiver):
    webhook = make_webhook(team.robin, receiver.url("/wake"))
    _, secret = webhooks.rotate_secret(team.alice, team.robin.id, webhook.id)
    assert secret != SECRET
    make_delivery(webhook, body="{}")
    deliver_due()
    [(_, headers, _)] = receiver.posts
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.{{}}".encode()
    key = base64.b64decode(secret.reveal().removeprefix("whsec_"))
    assert headers["webhook-signature"].endswith(
        base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    )


def test_a_test_is_tried_once_and_a_delivery_is_sent_again_with_the_same_id(team, receiver):
    receiver.status = 500
    webhook = make_webhook(team.robin, receiver.url("/wake"))
    test = webhooks.send_test(team.alice, team.robin.id, webhook.id)
    post(webhooks.deliver(test.id))
    test.refresh_from_db()
    assert (test.event, test.state, test.to_row().tries) == ("test", "failed", 1)
    receiver.status = 200
    webhooks.send_again(team.alice, team.robin.id, webhook.id, test.id)
    post(webhooks.deliver(test.id))
    test.refresh_from_db()
    assert (test.state, test.to_row().tries) == ("delivered", 2)
    receiver.status = 500
    webhooks.send_again(team.alice, team.robin.id, webhook.id, test.id)
    post(webhooks.deliver(test.id))
    test.refresh_from_db()
    assert (test.state, test.to_row().tries) == ("failed", 3)
    assert [headers["webhook-id"] for _, headers, _ in receiver.posts] == [str(test.id)] * 3


def test_old_wakes_and_deliveries_are_deleted(team, robin, settings):
    webhook = make_webhook(team.robin)
    chats.post_message(team.bob, team.chat.id, text="hello")
    old = get_lowest_id_at(now() - timedelta(days=settings.WAKE_DAYS, minutes=1))
    AgentWake.objects.update(id=old)
    Delivery.objects.update(id=old)
    chats.post_message(team.bob, team.chat.id, text="hello again")
    webhooks.delete_old_wakes_and_deliveries()
    assert not AgentWake.objects.filter(pk=old).exists()
    assert not Delivery.objects.filter(pk=old).exists()
    assert (AgentWake.objects.count(), Delivery.objects.count(), Webhook.objects.get()) == (1, 1, webhook)

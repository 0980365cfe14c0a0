"""Messages of long chats are embedded by workers: incrementally, in the ledger, within budgets. No answer waits for it."""

from datetime import timedelta

import pytest

from chats import services as chats
from chats.models import Message
from common.clock import now
from common.tenants import get_current_tenant
from common.writing import RowUpdate
from context.retrieval import Vector, find_messages
from embeddings import services as embeddings
from embeddings.models import EmbeddedChat, EmbeddingModel, MessageEmbedding
from embeddings.selectors import build_embedding_model_row, find_vector_request
from embeddings.services import embedding, request_vectors
from embeddings.services.embedding import DELAY_SECONDS, MAX_DELAY_SECONDS, claim_due_chats
from embeddings.vectors import MAX_DIMENSIONS, format_vector
from llm.context_window import DEFAULT_BUDGET
from llm.embeddings import embed_texts
from tests.embeddings.conftest import add_messages, embed_all, embed_chat, list_sent_texts, set_embedding_model
from tests.factories.embeddings import EmbeddedChatFactory
from tests.factories.usage import BudgetFactory, ModelPriceFactory
from tests.people import make_team
from tests.scripted_model.concepts import DIMENSIONS, embed
from usage.models import LLMCall, Reservation
from workspaces import services as workspaces
from workspaces.models import Workspace

pytestmark = pytest.mark.django_db(transaction=True)


QUESTION = "How much is the advance payment for the apartment?"


def list_embedded():
    return set(MessageEmbedding.objects.values_list("message_id", flat=True))


def save_text(message, **payload):
    row = Message.objects.get(pk=message.pk)
    chats.save_changes(row.chat_id, [RowUpdate(row).set(payload=row.payload | payload, edited_at=now())])


def find(team, text, chat=None):
    """Return the texts that are found by meaning and by words."""
    vector = Vector(EmbeddingModel.objects.get().generation, format_vector(embed(text)))
    chat = chat or team.chat
    return [one.text for one in find_messages(chat.id, text, before_seq=10**9, vector=vector)]


def test_the_messages_of_a_chat_are_embedded_once(environment, embedding_model):
    team = environment.team
    first = add_messages(team, "The deposit is 2,000.", "The code is 4711.")
    embed_chat(team)
    assert list_embedded() == {row.id for row in first}
    assert list_sent_texts(environment.model) == [["The deposit is 2,000.", "The code is 4711."]]
    second = add_messages(team, "The key is in box 7.")
    embed_chat(team)
    assert list_sent_texts(environment.model)[1:] == [["The key is in box 7."]]
    assert list_embedded() == {row.id for row in first + second}
    row = build_embedding_model_row(team.workspace)
    assert (row.dimensions, row.chats, row.due_chats, row.failure_code) == (DIMENSIONS, 1, 0, "")


def test_only_the_answer_in_use_has_an_embedding(environment, embedding_model):
    team = environment.team
    first, other = add_messages(team, "The deposit is 2,000.", "The deposit is 28,000.")
    embed_chat(team)
    for row, is_unused in ((first, True), (other, False), (first, False), (other, True)):
        row = Message.objects.get(pk=row.pk)
        chats.save_changes(team.chat.id, [RowUpdate(row).set(is_unused=is_unused)])
        if row.pk == other.pk:
            embed_chat(team)
            in_use = Message.objects.filter(pk__in=[first.pk, other.pk], is_unused=False)
            assert list_embedded() == set(in_use.values_list("pk", flat=True))


def test_a_chat_grows_without_a_run(environment, embedding_model):
    team = environment.team
    embed_chat(team)
    add_messages(team, "The deposit is 2,000.")
    embed_all()
    assert not list_embedded()  # too few
    add_messages(team, *[f"note {number}" for number in range(20)])
    embed_all()
    assert len(list_embedded()) == 21


def test_many_messages_need_several_requests(environment, embedding_model, monkeypatch):
    monkeypatch.setattr("embeddings.services.embedding.BATCH_SIZE", 4)
    monkeypatch.setattr("embeddings.services.embedding.BATCHES_PER_TURN", 2)
    rows = add_messages(environment.team, *[f"note {number}" for number in range(22)])
    embed_chat(environment.team)
    assert [len(texts) for texts in list_sent_texts(environment.model)] == [4, 4, 4, 4, 4, 2]
    assert list_embedded() == {row.id for row in rows}
    assert EmbeddedChat.objects.get().lease_until is None


def test_a_slow_server_gets_smaller_batches_and_keeps_them(environment, embedding_model, monkeypatch):
    """What was embedded before a request that took too long is not embedded again."""
    monkeypatch.setattr("embeddings.services.embedding.REQUEST_SECONDS", 0.3)
    team = environment.team
    rows = add_messages(team, *[f"note {number:02}" for number in range(20)])
    environment.model.script(match="note 09", first=30, times=1)
    environment.model.script(match="note 19", first=30, times=1)
    embed_chat(team)
    assert [len(texts) for texts in list_sent_texts(environment.model)] == [20, 10, 5, 5, 5, 5]
    assert list_embedded() == {row.id for row in rows}
    model = EmbeddingModel.objects.get()
    assert (model.batch_size, model.failure_code) == (5, "")
    more = add_messages(team, *[f"later {number}" for number in range(7)])
    embed_chat(team)
    assert [len(texts) for texts in list_sent_texts(environment.model)][6:] == [5, 2]
    assert list_embedded() == {row.id for row in rows + more}


def test_a_server_that_is_too_slow_for_one_text_has_failed(environment, embedding_model, monkeypatch):
    monkeypatch.setattr("embeddings.services.embedding.REQUEST_SECONDS", 0.2)
    add_messages(environment.team, "note 1", "note 2")
    environment.model.script(match="note 1", first=30)
    embed_chat(environment.team)
    assert [len(texts) for texts in list_sent_texts(environment.model)] == [2, 1]
    assert EmbeddingModel.objects.get().failure_code == "timeout_total"


def test_MSG11_an_edited_message_is_embedded_anew_and_a_deleted_one_no_more(environment, embedding_model):
    team = environment.team
    edited, deleted, kept = add_messages(team, "The deposit is 2,000.", "The code is 4711.", "Lunch is at noon.")
    embed_chat(team)
    chats.edit_message(edited.author, edited.id, text="The contract ends in May.", edited_at=None)
    chats.delete_message(team.alice, deleted.id)
    assert list_embedded() == {kept.id}  # what was embedded of the others is gone at once
    save_text(kept, mentions=[str(team.alice.id)])
    embed_chat(team)
    assert list_sent_texts(environment.model)[1:] == [["The contract ends in May."]]
    assert list_embedded() == {edited.id, kept.id}
    assert find(team, "When does the agreement terminate?")[0] == "The contract ends in May."
    assert "The code is 4711." not in find(team, "PIN")


def test_MSG11_a_message_that_changes_while_it_is_embedded_keeps_no_embedding_of_the_earlier_text(
    environment, embedding_model, monkeypatch
):
    team = environment.team
    edited, deleted, kept = add_messages(team, "The deposit is 2,000.", "The code is 4711.", "Lunch is at noon.")

    def change():
        if Message.objects.get(pk=deleted.pk).deleted_at is None:
            chats.edit_message(edited.author, edited.id, text="The contract ends in May.", edited_at=None)
            chats.delete_message(team.alice, deleted.id)

    async def embed_and_change(batch):
        vectors = await embed_batch(batch)
        await embedding.run_in_thread(change)
        return vectors

    embed_batch = embedding._embed_texts
    monkeypatch.setattr(embedding, "_embed_texts", embed_and_change)
    embed_chat(team)
    assert list_embedded() == {edited.id, kept.id}
    assert list_sent_texts(environment.model)[1:] == [["The contract ends in May."]]


def test_messages_are_found_by_meaning_in_their_chat_only(environment, embedding_model):
    team = environment.team
    other = environment.open_chat("Private")
    add_messages(team, "套房的訂金是 2,000 元。", "Lunch is at noon.")
    add_messages(team, "The down payment of the other apartment is 9,999.", chat=other)
    embed_chat(team)
    embed_chat(team, other)
    question = "How much is the advance payment for the apartment?"
    assert find(team, question)[0] == "套房的訂金是 2,000 元。"
    assert all("9,999" not in text for text in find(team, question))
    assert "9,999" in find(team, question, chat=other)[0]


def test_a_text_that_is_repeated_takes_the_place_of_no_other(environment, embedding_model):
    team = environment.team
    add_messages(team, "套房的訂金是 2,000 元。", *["How much is the advance payment for an apartment?"] * 90)
    embed_chat(team)
    found = find(team, QUESTION)
    assert len(found) == 2
    assert "套房的訂金是 2,000 元。" in found


def test_another_model_embeds_all_messages_again(environment, embedding_model):
    team = environment.team
    rows = add_messages(team, "The deposit is 2,000.", "Lunch is at noon.")
    embed_chat(team)
    environment.model.script(match="deposit", count=8)  # another number of dimensions
    set_embedding_model(environment, "others", revision=1)
    assert find(team, "advance payment") == []  # those of another model are not compared
    embed_all()
    assert len(list_sent_texts(environment.model)) == 2
    generation = EmbeddingModel.objects.get().generation
    assert list_embedded() == {row.id for row in rows}
    assert set(MessageEmbedding.objects.values_list("generation", flat=True)) == {generation}
    assert EmbeddingModel.objects.get().dimensions == 8


def test_without_the_model_the_embeddings_are_deleted(environment, embedding_model):
    team = environment.team
    add_messages(team, "The deposit is 2,000.")
    embed_chat(team)
    embeddings.delete_embedding_model(team.alice, team.workspace.id)
    embed_all()
    assert not MessageEmbedding.objects.exists()
    assert not EmbeddedChat.objects.exists()
    embed_chat(team)
    assert not EmbeddedChat.objects.exists()


def test_a_failed_request_is_shown_and_made_again_later(environment, embedding_model):
    team = environment.team
    rows = add_messages(team, "The deposit is 2,000.")
    environment.model.script(mode="status", status=503, match="deposit", times=1)
    embed_chat(team)
    row = build_embedding_model_row(team.workspace)
    assert (row.failure_code, row.due_chats) == ("server", 1)
    chat = EmbeddedChat.objects.get()
    assert (chat.failures, chat.lease_until) == (1, None)
    assert chat.due_at is not None
    assert timedelta(0) < chat.due_at - now() <= timedelta(seconds=DELAY_SECONDS)
    embed_all()
    assert len(list_sent_texts(environment.model)) == 1  # not yet
    EmbeddedChat.objects.update(due_at=now(), failures=30)
    environment.model.script(mode="status", status=503, match="deposit", times=1)
    embed_all()
    chat.refresh_from_db()
    assert chat.due_at - now() <= timedelta(seconds=MAX_DELAY_SECONDS)
    EmbeddedChat.objects.update(due_at=now())
    embed_all()
    assert list_embedded() == {row.id for row in rows}
    assert build_embedding_model_row(team.workspace).failure_code == ""
    assert EmbeddedChat.objects.get().failures == 0


def test_a_message_that_the_server_cannot_read_is_left_out(environment, embedding_model):
    team = environment.team
    _, bad, _ = rows = add_messages(team, "The deposit is 2,000.", "unreadable", "The code is 4711.")
    environment.model.script(mode="status", status=400, match="unreadable")
    embed_chat(team)
    assert list_embedded() == {row.id for row in rows} - {bad.id}
    assert EmbeddedChat.objects.get().due_at is None


def test_a_wrong_model_needs_two_requests_leaves_out_no_message_and_is_shown(environment, embedding_model):
    team = environment.team
    rows = add_messages(team, *[f"note {number}" for number in range(64)])
    environment.model.script(mode="status", status=400, model="concepts")
    embed_chat(team)
    assert [len(texts) for texts in list_sent_texts(environment.model)] == [64, 1]
    assert build_embedding_model_row(team.workspace).failure_code == "bad_request"
    assert LLMCall.objects.count() == 2
    environment.model.reset()
    EmbeddedChat.objects.update(due_at=now())
    embed_all()
    assert list_embedded() == {row.id for row in rows}
    assert build_embedding_model_row(team.workspace).failure_code == ""


def test_a_server_that_refuses_one_text_after_the_other_is_shown_as_failed(environment, embedding_model):
    team = environment.team
    rows = add_messages(team, *[f"unreadable {number}" for number in range(64)])
    environment.model.script(mode="status", status=400, match="unreadable")
    embed_chat(team)
    assert len(list_sent_texts(environment.model)) < 30
    assert build_embedding_model_row(team.workspace).failure_code == "bad_request"
    assert EmbeddedChat.objects.get().through_version < rows[0].version


def test_a_text_that_is_too_long_for_the_model_is_embedded_by_its_beginning(environment, embedding_model):
    long, short = add_messages(environment.team, "deposit " + "lorem ipsum " * 300 + "unreadable", "Lunch is at noon.")
    environment.model.script(mode="status", status=413, match="unreadable")
    embed_chat(environment.team)
    assert list_embedded() == {long.id, short.id}


def test_too_many_dimensions_are_a_failure_after_one_paid_request(environment, embedding_model):
    team = environment.team
    add_messages(team, *[f"note {number}" for number in range(10)])
    environment.model.script(model="concepts", count=MAX_DIMENSIONS + 1)
    embed_chat(team)
    assert len(list_sent_texts(environment.model)) == 1
    assert not list_embedded()
    call = LLMCall.objects.get()
    assert call.input_tokens > 0
    assert not call.tokens_estimated
    row = build_embedding_model_row(team.workspace)
    assert (row.failure_code, row.due_chats) == ("garbled", 1)


def test_only_a_chat_with_embeddings_is_searched_by_meaning(environment, embedding_model):
    team = environment.team
    add_messages(team, "The deposit is 2,000.")
    other = environment.open_chat("Room")
    embed_chat(team)
    assert find_vector_request(team.chat.id, None, "deposit") is not None
    assert find_vector_request(other.id, None, "deposit") is None


def test_workspaces_take_turns(environment, embedding_model):
    team = environment.team
    busy = [
        EmbeddedChatFactory.create(chat=environment.open_chat(f"Room {number}"), due_at=now() - timedelta(hours=1))
        for number in range(170)
    ]
    others = [EmbeddedChatFactory.create(chat=make_team(f" {name}").chat, due_at=now()) for name in ("Two", "Three")]
    claimed = claim_due_chats()
    assert {chat.id for chat in claimed} == {busy[0].id, *(row.id for row in others)}
    EmbeddedChat.objects.update(lease_until=None)
    assert claim_due_chats([others[0].chat.workspace_id, team.workspace.id])[0].id == others[1].id


def test_requests_are_in_the_ledger(environment, embedding_model):
    team = environment.team
    ModelPriceFactory.create(
        workspace=team.workspace, provider="openai_compatible", model="concepts", input_micro=1_000_000, output_micro=0
    )
    add_messages(team, "The deposit is 2,000.")
    embed_chat(team)
    call = LLMCall.objects.get()
    assert (call.workspace, call.chat_id, call.on_behalf_of, call.model) == (
        team.workspace,
        team.chat.id,
        team.alice,
        "concepts",
    )
    assert (call.input_tokens, call.output_tokens, call.tokens_estimated, call.cost_micro) == (6, 0, False, 6)


def test_a_used_up_budget_stops_requests_before_they_are_sent(environment, embedding_model):
    team = environment.team
    ModelPriceFactory.create(
        workspace=team.workspace, provider="openai_compatible", model="concepts", input_micro=1_000_000, output_micro=0
    )
    budget = BudgetFactory.create(workspace=team.workspace, limit_micro=1)
    add_messages(team, "The deposit is 2,000.")
    embed_chat(team)
    assert list_sent_texts(environment.model) == []
    assert build_embedding_model_row(team.workspace).failure_code == "budget_used_up"
    assert not LLMCall.objects.exists()
    type(budget).objects.update(limit_micro=1_000)
    EmbeddedChat.objects.update(due_at=now())
    embed_all()
    assert MessageEmbedding.objects.count() == 1
    assert not Reservation.objects.exists()


def test_the_purge_of_a_workspace_deletes_its_embeddings(environment, embedding_model, monkeypatch):
    team = environment.team
    add_messages(team, "The deposit is 2,000.")
    embed_chat(team)
    workspaces.delete_workspace(team.alice, team.workspace.id, name=team.workspace.name)
    Workspace.objects.update(deleted_at=now() - timedelta(days=15))
    while workspaces.purge_workspace(team.workspace.id):
        pass
    for model in (EmbeddingModel, MessageEmbedding, EmbeddedChat):  # the model with its key
        assert not model._default_manager.exists()


# --- runs -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def long_chat(environment):
    """A chat of 200 messages of about 25 tokens each, for models that read 2,000."""
    Workspace.objects.update(context_max_tokens=2_000, context_strategy="retrieve")
    texts = [f"note {number}: " + "lorem ipsum dolor " * 5 for number in range(200)]
    texts[20] = "套房的訂金是 4711 元。"
    assert DEFAULT_BUDGET > 2_000
    return add_messages(environment.team, *texts)


def ask(environment):
    environment.model.script(text="It is 4711.", match="advance payment")
    environment.post(QUESTION)
    environment.wait_until_idle()
    return environment.log("TEXT_MESSAGE")[-1]


def list_found(answer):
    return {one["message_id"] for one in answer.payload["stamp"]["context"]["found"]}


def test_a_run_finds_messages_by_meaning(environment, long_chat, embedding_model, engine, monkeypatch):
    answer = ask(environment)
    assert str(long_chat[20].id) not in list_found(answer)
    embed_chat(environment.team)
    tenants = []

    def embed_for_tenant(*args, **kwargs):
        tenants.append(get_current_tenant())
        return embed_texts(*args, **kwargs)

    monkeypatch.setattr(request_vectors, "embed_texts", embed_for_tenant)
    answer = ask(environment)
    assert tenants == [(str(environment.team.workspace.id), str(environment.team.alice.id))]
    assert answer.payload["text"] == "It is 4711."
    assert str(long_chat[20].id) in list_found(answer)
    body = next(one.body for one in reversed(environment.model.requests) if "messages" in one.body)
    assert "套房的訂金是 4711 元。" in body["messages"][0]["content"]


@pytest.mark.parametrize("script", [{"first": 30.0}, {"mode": "status", "status": 500}, {"count": 5}])
def test_an_answer_does_not_depend_on_the_embedding_server(
    environment, long_chat, embedding_model, engine, script, monkeypatch
):
    embed_chat(environment.team)
    monkeypatch.setattr(request_vectors, "SECONDS", 0.3)
    environment.model.script(text="It is 4711.", match="advance payment")
    environment.model.script(match="advance payment", model="concepts", **script)
    environment.post(QUESTION)
    environment.wait_until_idle()
    answer = environment.log("TEXT_MESSAGE")[-1]
    assert answer.payload["text"] == "It is 4711."
    assert str(long_chat[20].id) not in list_found(answer)


def test_a_run_in_a_long_chat_has_its_messages_embedded(environment, long_chat, embedding_model, engine, monkeypatch):
    sent = []
    monkeypatch.setattr(
        "embeddings.services.embedding.current_app.send_task", lambda name, arguments: sent.append((name, arguments))
    )
    ask(environment)
    team = environment.team
    assert sent == [("worker.tasks.embed_messages", [str(team.chat.id), str(team.alice.id)])]
    Workspace.objects.update(context_strategy="truncate")
    ask(environment)
    assert len(sent) == 1

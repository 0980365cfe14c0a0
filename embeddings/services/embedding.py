"""Embed the messages of long chats, a batch at a time, on the event loop of a worker. No run waits for it.

A chat is embedded up to one of its versions. New, edited and deleted messages have a later version, so one read finds them all.
"""

import asyncio
import hashlib
import logging
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeVar
from uuid import UUID

from celery import current_app
from django.db import connection, connections, transaction
from django.db.models import F, Q

from chats.hooks import MessageChange
from chats.models import Message
from common.clock import now
from common.ids import new_id
from common.tenants import set_current_tenant
from embeddings.models import BATCH_SIZE, EmbeddedChat, EmbeddingModel, MessageEmbedding
from embeddings.services.settings import build_endpoint
from embeddings.vectors import MAX_DIMENSIONS, format_vector
from events.publish import publish_workspace_list_changed
from llm.embeddings import Embedded, build_embedding_request, embed_texts
from llm.protocol import LLMError
from llm.tokens import estimate_tokens
from usage import services as usage
from usage.errors import BudgetRefused
from usage.owners import ResolvedModel, UsageOwner
from usage.rules import read_rules, resolve_model

logger = logging.getLogger(__name__)

MAX_BATCH_TOKENS = 40_000
MAX_TEXT_TOKENS = 2_000
"""Tokens of a message that are embedded: its beginning."""
SHORT_TEXT_TOKENS = 400
"""The same after the server has refused a request: most models read 512 tokens."""
PROBE = "Hello."
"""A text that every embedding model reads."""
MAX_REFUSED = 8
"""If so many single texts were refused and none was accepted, the request counts as failed."""
MAX_MESSAGES = 100_000
"""The newest messages of a chat that are embedded."""
MIN_NEW = 20
"""Changes of a chat after which it is embedded further without a run."""
REQUEST_SECONDS = 30.0
LEASE_SECONDS = 120
BATCHES_PER_TURN = 20
CHATS_AT_ONCE = 8
MAX_DELAY_SECONDS = 3_600.0
DELAY_SECONDS = 15.0
"""The wait after a failed request. It is doubled with each further failure, up to `MAX_DELAY_SECONDS`."""
BUDGET_DELAY_SECONDS = 600.0
DELETED_AT_ONCE = 1_000
_REFUSED = ("bad_request", "context_too_long")
_STORE = """
INSERT INTO embeddings_messageembedding (message_id, chat_id, seq, generation, digest, vector)
SELECT m.id, m.chat_id, m.seq, %s, new.digest, new.vector::halfvec
FROM unnest(%s::uuid[], %s::bigint[], %s::bytea[], %s::text[]) AS new (id, version, digest, vector)
JOIN chats_message m ON m.id = new.id AND m.version = new.version
ON CONFLICT (message_id) DO UPDATE
SET generation = excluded.generation, digest = excluded.digest, vector = excluded.vector
"""

T = TypeVar("T")


class RunInThread(Protocol):
    """Runs a function that uses the database in a thread."""

    def __call__(self, work: Callable[..., T], /, *args: Any, **kwargs: Any) -> Coroutine[Any, Any, T]: ...


@dataclass(frozen=True)
class EmbeddingBatch:
    """Texts of a chat to embed. `through`: the version up to which the chat is embedded with them. `ids`, `versions`, `texts`: the
    messages whose text has no embedding yet; `removed`: those without a text any more."""

    chat: EmbeddedChat
    workspace_id: UUID
    generation: UUID
    model: ResolvedModel
    owner: UsageOwner
    through: int
    is_last: bool
    ids: list[UUID] = field(default_factory=list)
    versions: list[int] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    removed: list[UUID] = field(default_factory=list)


def mark_chat_due(chat_id: UUID, person_id: UUID | None) -> None:
    """Note that the messages of a chat are to be embedded now, for this person. Nothing happens if the chat is due already, also if
    it waits after a failure, or if its workspace has no embedding model."""
    if not EmbeddingModel.objects.filter(workspace__chats=chat_id).exists():
        return
    due = {"due_at": now(), "person_id": person_id}
    row, is_new = EmbeddedChat.objects.get_or_create(chat_id=chat_id, defaults=due)
    if not is_new and row.due_at is None:
        EmbeddedChat.objects.filter(pk=row.pk, due_at=None).update(**due)


def remove_embedding(change: MessageChange) -> None:
    """Delete the embedding of a message that was edited or deleted, and have its present text embedded. A listener of
    `message_changed`."""
    deleted, _ = MessageEmbedding.objects.filter(message=change.message).delete()
    if deleted:
        mark_chat_due(change.chat.id, change.actor.id)
        send_embedding_task_on_commit(change.chat.id, change.actor.id)


def send_embedding_task_on_commit(chat_id: UUID, person_id: UUID | None) -> None:
    """Send the task that embeds the messages of a chat when this transaction is committed. If it is lost, the next run sends it."""
    arguments = [str(chat_id), str(person_id) if person_id else None]
    send = partial(current_app.send_task, "worker.tasks.embed_messages", arguments)
    transaction.on_commit(send, robust=True)


class DueChat(NamedTuple):
    """A chat whose messages a process embeds, by the id of its row, and for whom."""

    id: UUID
    workspace_id: UUID
    person_id: UUID | None


_must_look: asyncio.Event | None = None
"""Set when a chat may have become due since this process looked for due chats; null if the process embeds none."""


async def embed_due_chats() -> None:
    """Embed the messages of the chats that are due, in turns between workspaces. If this process already does so, have it look for
    due chats again."""
    global _must_look
    if _must_look is not None:
        _must_look.set()
        return
    _must_look = must_look = asyncio.Event()
    served: list[UUID] = []
    embedding: dict[asyncio.Task[None], DueChat] = {}
    try:
        while True:
            must_look.clear()
            for chat in await run_in_thread(claim_due_chats, served, list(embedding.values())):
                served.append(chat.workspace_id)
                embedding[asyncio.create_task(_embed_chat(chat))] = chat
            if not embedding and not must_look.is_set():
                return
            look = asyncio.create_task(must_look.wait())
            done, _ = await asyncio.wait([look, *embedding], return_when=asyncio.FIRST_COMPLETED)
            look.cancel()
            for task in [task for task in embedding if task in done]:
                del embedding[task]
                task.result()
    finally:
        _must_look = None
        for task in embedding:
            task.cancel()


async def run_in_thread(work: Callable[..., T], /, *args: Any, **kwargs: Any) -> T:
    """Run a function in a thread, and close its connections."""

    def run() -> T:
        try:
            return work(*args, **kwargs)
        finally:
            connections.close_all()

    return await asyncio.to_thread(run)


def claim_due_chats(served: Iterable[UUID] = (), embedding: Sequence[DueChat] = ()) -> list[DueChat]:
    """Lease the chats that this process embeds now beside those that it is `embedding`, and return them: at most one of each
    workspace, and one for each person. `served`: the workspaces that have had a turn, in that order. Chats of workspaces without a
    turn come first, then those whose turn was longest ago."""
    at = now()
    is_due = Q(due_at__lte=at) | Q(due_at=None, chat__version__gte=F("through_version") + MIN_NEW)
    is_free = Q(lease_until=None) | Q(lease_until__lte=at)
    by_time = F("due_at").asc(nulls_last=True)
    people = {chat.person_id for chat in embedding if chat.person_id is not None}
    first_of_each = (
        EmbeddedChat.objects.filter(is_due, is_free, chat__workspace__deleted_at=None)
        .exclude(chat__workspace_id__in={chat.workspace_id for chat in embedding})
        .exclude(person_id__in=people)
        .order_by("chat__workspace_id", by_time, "pk")
        .distinct("chat__workspace_id")
    )
    rows = EmbeddedChat.objects.filter(pk__in=first_of_each.values("pk")).order_by(by_time, "pk")
    turns = {workspace_id: turn for turn, workspace_id in enumerate(served)}
    found = [DueChat(*row) for row in rows.values_list("pk", "chat__workspace_id", "person_id")]
    claimed: list[DueChat] = []
    for chat in sorted(found, key=lambda chat: turns.get(chat.workspace_id, -1)):
        if len(claimed) + len(embedding) == CHATS_AT_ONCE:
            break
        if chat.person_id in people:
            continue
        # `due_at` is set also for a chat with only `MIN_NEW` changes: if this process dies, another one embeds what is left.
        lease = {"lease_until": at + timedelta(seconds=LEASE_SECONDS), "due_at": at}
        if EmbeddedChat.objects.filter(is_free, pk=chat.id).update(**lease):
            claimed.append(chat)
            if chat.person_id is not None:
                people.add(chat.person_id)
    return claimed


async def _embed_chat(chat: DueChat) -> None:
    with set_current_tenant(chat.workspace_id, chat.person_id):
        try:
            for _ in range(BATCHES_PER_TURN):
                if not await embed_batch(chat.id):
                    return
            await run_in_thread(_release, chat.id, due_at=now())
        except MemoryError:
            raise
        except Exception:
            logger.exception("The messages of the embedded chat %s could not be embedded.", chat.id)
            await run_in_thread(_release, chat.id, due_at=now() + timedelta(seconds=MAX_DELAY_SECONDS))


async def embed_batch(row_id: UUID) -> bool:
    """Embed the next messages of a chat. Return whether to go on: not if no messages are left, or if the batch failed, which
    is repeated later."""
    batch = await run_in_thread(read_batch, row_id, BATCH_SIZE)
    if batch is None:
        return False
    try:
        vectors = await _embed_texts(batch) if batch.texts else {}
    except LLMError as error:
        if error.code == "timeout_total" and len(batch.texts) > 1:
            # A slow server: what was embedded before is stored, and the next batch is smaller.
            await run_in_thread(_reduce_batch_size, batch)
            return True
        await run_in_thread(_record_failure, batch, error)
        return False
    return await run_in_thread(_store, batch, vectors)


async def _embed_texts(batch: EmbeddingBatch) -> dict[int, list[float]]:
    """Return the embedding of each text of a batch by its index, without the texts that the server refuses.

    When it refuses the batch, one short text is sent. If that is refused, too, the server refuses every request, for example
    because the model is wrong. Otherwise halves are sent, down to single texts, with only the beginning of each text.
    Raises `LLMError`, also if the first `MAX_REFUSED` texts are refused.
    """
    try:
        return dict(enumerate(await _request_vectors(batch, batch.texts)))
    except LLMError as error:
        if error.code not in _REFUSED:
            raise
    await _request_vectors(batch, [PROBE])
    texts = [_cut(text, SHORT_TEXT_TOKENS) for text in batch.texts]
    vectors: dict[int, list[float]] = {}
    # A single text that was short already would be refused again.
    pending = _halve(list(range(len(texts)))) if len(texts) > 1 or texts != batch.texts else []
    refused = 0
    while pending:
        indexes = pending.pop()
        try:
            found = await _request_vectors(batch, [texts[index] for index in indexes])
            vectors |= zip(indexes, found, strict=True)
        except LLMError as error:
            is_slow = error.code == "timeout_total" and len(indexes) > 1
            if error.code not in _REFUSED and not is_slow:
                raise
            if len(indexes) > 1:
                pending += _halve(indexes)
                continue
            refused += 1
            if refused == MAX_REFUSED and not vectors:
                raise
    return vectors


def _halve(indexes: list[int]) -> list[list[int]]:
    """Return the second half and the first half, because `pop` takes the last one. One index is not divided."""
    middle = len(indexes) // 2
    return [half for half in (indexes[middle:], indexes[:middle]) if half]


async def _request_vectors(batch: EmbeddingBatch, texts: list[str]) -> list[list[float]]:
    """Request the embeddings of texts, with an entry in the ledger. Raises `LLMError`, also for a budget that is used up."""
    holder_id = new_id()
    request = build_embedding_request(batch.model.name, texts)
    try:
        await run_in_thread(usage.reserve, batch.model, request, holder_id=holder_id, attempt=0)
    except BudgetRefused as error:
        raise LLMError(error.code.value, error.message, retry_after=BUDGET_DELAY_SECONDS) from error
    try:
        result = await embed_texts(batch.model.endpoint, batch.model.name, texts, seconds=REQUEST_SECONDS)
    except LLMError as error:
        await run_in_thread(_record_request, batch, holder_id, error)
        raise
    await run_in_thread(_record_request, batch, holder_id, result)
    if len(result.vectors[0]) > MAX_DIMENSIONS:
        raise LLMError("garbled", f"Embeddings of more than {MAX_DIMENSIONS:,} numbers cannot be stored.")
    return result.vectors


def read_batch(row_id: UUID, size: int) -> EmbeddingBatch | None:
    """Return the next messages of a chat to embed, at most `size`. With another model than before, begin anew.

    Return null if the workspace is deleted, if all are embedded, after storing this, or if the workspace has no embedding model
    any more, after deleting the embeddings of the chat.
    """
    row = EmbeddedChat.objects.select_related("chat").filter(pk=row_id, chat__workspace__deleted_at=None).first()
    if row is None:
        return None
    workspace_id = row.chat.workspace_id
    model = EmbeddingModel.objects.filter(workspace=workspace_id).first()
    if model is None:
        _delete_embeddings(Q(chat=row.chat_id))
        row.delete()
        return None
    if row.generation != model.generation:
        row.generation, row.through_version = model.generation, _find_start(row.chat_id)
        row.save(update_fields=["generation", "through_version"])
    elif row.through_version >= row.chat.version:
        _finish(row)
        return None
    size = min(size, model.batch_size)
    owner = UsageOwner(workspace_id, row.person_id, chat_id=row.chat_id)
    resolved = resolve_model(build_endpoint(model), model.default_model, owner, read_rules(workspace_id))
    texts = Message.objects.filter(
        chat=row.chat_id, version__gt=row.through_version, type="TEXT_MESSAGE", metadata__isnull=True
    ).order_by("version")
    messages = list(texts.only("id", "version", "payload", "is_unused")[:size])
    stored = MessageEmbedding.objects.filter(message__in=messages, generation=model.generation)
    digests = {id: bytes(digest) for id, digest in stored.values_list("message_id", "digest")}
    batch = EmbeddingBatch(row, workspace_id, model.generation, resolved, owner, row.chat.version, is_last=True)
    through, tokens, is_last = row.through_version, 0, len(messages) < size
    for message in messages:
        text = _cut(message.text.strip())
        if not text or message.payload.get("is_deleted") or message.is_unused:
            batch.removed.append(message.id)
        elif digests.get(message.id) != compute_digest(text):
            tokens += estimate_tokens(text)
            if batch.texts and tokens > MAX_BATCH_TOKENS:
                is_last = False
                break
            batch.ids.append(message.id)
            batch.versions.append(message.version)
            batch.texts.append(text)
        through = message.version
    return batch if is_last else replace(batch, through=through, is_last=False)


def compute_digest(text: str) -> bytes:
    """Return the digest by which a changed text is recognised."""
    return hashlib.sha256(text.encode()).digest()[:16]


def _cut(text: str, limit: int = MAX_TEXT_TOKENS) -> str:
    while (tokens := estimate_tokens(text)) > limit:
        text = text[: len(text) * limit // tokens]
    return text


def _find_start(chat_id: UUID) -> int:
    """Return the version of the chat after which its newest `MAX_MESSAGES` messages begin; their `seq` is such a version."""
    texts = Message.objects.filter(chat=chat_id, type="TEXT_MESSAGE", metadata__isnull=True, is_unused=False)
    older = texts.order_by("-seq").values_list("seq", flat=True)[MAX_MESSAGES : MAX_MESSAGES + 1]
    return next(iter(older), 0)


@transaction.atomic
def _store(batch: EmbeddingBatch, vectors: Mapping[int, list[float]]) -> bool:
    """Store the embeddings of a batch. The keys of `vectors` are the indexes of the texts. Return whether there are more messages.
    Nothing is stored of a message that has changed meanwhile: it is read again. If the embedding model has changed, nothing is
    stored at all, and the chat is due again without its lease."""
    model = EmbeddingModel.objects.select_for_update(no_key=True).filter(generation=batch.generation).first()
    if model is None:
        _release(batch.chat.pk, due_at=now())
        return False
    is_last = batch.is_last
    if vectors:
        [dimensions, *others] = {len(vector) for vector in vectors.values()}
        if others or model.dimensions not in (None, dimensions):
            error = LLMError("garbled", "The server's embeddings have another number of dimensions than before.")
            _record_failure(batch, error)
            return False
        if model.dimensions is None or model.failure_code:
            model.dimensions = dimensions
            model.failed_at, model.failure_code, model.failure_message = None, "", ""
            model.save(update_fields=["dimensions", "failed_at", "failure_code", "failure_message"])
            publish_workspace_list_changed(batch.workspace_id, "context")
        ids = [batch.ids[index] for index in vectors]
        versions = [batch.versions[index] for index in vectors]
        digests = [compute_digest(batch.texts[index]) for index in vectors]
        formatted = [format_vector(vector) for vector in vectors.values()]
        with connection.cursor() as cursor:
            cursor.execute(_STORE, [batch.generation, ids, versions, digests, formatted])
            is_last = is_last and cursor.rowcount == len(ids)
    # A refused text has no embedding, but that of the text before an edit may still be stored.
    refused = [id for index, id in enumerate(batch.ids) if index not in vectors]
    if batch.removed or refused:
        MessageEmbedding.objects.filter(message__in=[*batch.removed, *refused]).delete()
    row = batch.chat
    row.through_version, row.failures = batch.through, 0
    row.lease_until = now() + timedelta(seconds=LEASE_SECONDS)  # kept for the next batch
    row.save(update_fields=["through_version", "failures", "lease_until"])
    if is_last:
        _finish(row)
    return not is_last


def _finish(row: EmbeddedChat) -> None:
    """Store that all messages of a chat are embedded, and delete the embeddings of other models."""
    _delete_embeddings(Q(chat=row.chat_id) & ~Q(generation=row.generation))
    _release(row.pk, due_at=None)
    publish_workspace_list_changed(row.chat.workspace_id, "context")


def _release(row_id: UUID, *, due_at: datetime | None) -> None:
    EmbeddedChat.objects.filter(pk=row_id).update(lease_until=None, due_at=due_at)


def _delete_embeddings(condition: Q) -> None:
    rows = MessageEmbedding.objects.filter(condition)
    while ids := list(rows.values_list("pk", flat=True)[:DELETED_AT_ONCE]):
        MessageEmbedding.objects.filter(pk__in=ids).delete()


@transaction.atomic
def _record_request(batch: EmbeddingBatch, holder_id: UUID, result: Embedded | LLMError) -> None:
    """Record a request in the ledger, and extend the lease of the chat for the next request."""
    usage.record_embeddings(batch.owner, batch.model, holder_id, result)
    EmbeddedChat.objects.filter(pk=batch.chat.pk).update(lease_until=now() + timedelta(seconds=LEASE_SECONDS))


def _reduce_batch_size(batch: EmbeddingBatch) -> None:
    """Halve the most messages of a request to this model, which also later requests keep."""
    size = max(1, len(batch.texts) // 2)
    EmbeddingModel.objects.filter(generation=batch.generation, batch_size__gt=size).update(batch_size=size)
    EmbeddedChat.objects.filter(pk=batch.chat.pk).update(lease_until=now() + timedelta(seconds=LEASE_SECONDS))


def _record_failure(batch: EmbeddingBatch, error: LLMError) -> None:
    """Store why a request failed, and when the next one is made."""
    failures = batch.chat.failures + 1
    delay = min(MAX_DELAY_SECONDS, max(error.retry_after or 0.0, DELAY_SECONDS * 2 ** min(failures - 1, 10)))
    EmbeddedChat.objects.filter(pk=batch.chat.pk).update(
        failures=failures, lease_until=None, due_at=now() + timedelta(seconds=delay)
    )
    failure = {"failed_at": now(), "failure_code": error.code[:40], "failure_message": error.message[:600]}
    EmbeddingModel.objects.filter(generation=batch.generation).update(**failure)
    publish_workspace_list_changed(batch.workspace_id, "context")

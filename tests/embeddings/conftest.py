"""Fixtures of a worker, a scripted model, and an embedding model of the workspace."""

import asyncio

import pytest

from chats import services as chats
from chats.models import Message
from common.egress import close_sessions
from embeddings import services as embeddings
from tests.runs.fixtures import _scripted_model, engine, environment, model, order_server, start_worker

__all__ = ["_scripted_model", "engine", "environment", "model", "order_server", "start_worker"]


@pytest.fixture
def embedding_model(environment):
    """The scripted model as the embedding model of the team."""
    return set_embedding_model(environment)


def set_embedding_model(environment, name="concepts", revision=0):
    team = environment.team
    return embeddings.set_embedding_model(
        team.alice,
        team.workspace.id,
        provider="openai_compatible",
        api_base=environment.model.api_base,
        default_model=name,
        revision=revision,
    )


def add_messages(team, *texts, chat=None):
    chat = chat or team.chat
    rows = [
        Message(
            chat=chat,
            author=team.bob,
            type="TEXT_MESSAGE",
            payload={"text": text, "mentions": [], "wake": "nobody"},
            created_at=chat.created_at,
        )
        for text in texts
    ]
    chats.save_changes(chat.id, rows)
    return rows


def embed_all():
    """Embed the messages of all chats that are due, as a worker does."""

    async def embed():
        try:
            await embeddings.embed_due_chats()
        finally:
            await close_sessions()

    asyncio.run(embed())


def embed_chat(team, chat=None):
    embeddings.mark_chat_due((chat or team.chat).id, team.alice.id)
    embed_all()


def list_sent_texts(model):
    """Return the texts of each request for embeddings."""
    return [one.body["input"] for one in model.requests if one.target.endswith("/embeddings")]

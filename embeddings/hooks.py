"""The hooks of embeddings, which call functions of the apps above. `config/hooks.py` lists these functions."""

from actors.models import Actor
from common.hooks import Hook
from embeddings.models import EmbeddingModel

# Called when the texts of a workspace's long chats go to another provider or host from now on, with the actor who set the model.
embedding_server_changed: Hook[[EmbeddingModel, Actor]] = Hook("embedding_server_changed")

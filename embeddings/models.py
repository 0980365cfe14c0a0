"""The embedding models of workspaces, the chats whose messages are embedded, and the embeddings."""

from uuid import UUID

from django.db import models
from django.utils.translation import gettext_lazy as _

from actors.models import Actor
from chats.models import Chat, Message
from common.ids import new_id
from common.model_settings import ModelSettings
from common.models import Identified, build_display_name
from workspaces.models import Workspace

BATCH_SIZE = 64
"""Messages of one request, unless the server is too slow for so many."""


class EmbeddingModel(Identified, ModelSettings):
    """The model that computes the embeddings of a workspace's messages. `default_model` is its name.

    `generation` changes with the provider, the server and the model: embeddings of another generation cannot be compared with
    those of this one, and are computed again. `dimensions`: how many numbers an embedding has; null until the first one is
    computed. `batch_size`: the most messages of a request, halved when the server has not answered in time. `failed_at`: the last
    request, if it failed.
    """

    PURPOSE = "embedding-key"

    workspace = models.OneToOneField(
        Workspace, verbose_name=_("workspace"), on_delete=models.CASCADE, related_name="embedding_model"
    )
    generation = models.UUIDField(_("generation"), default=new_id)
    dimensions = models.PositiveIntegerField(_("dimensions"), null=True)
    batch_size = models.PositiveSmallIntegerField(_("messages of a request"), db_default=BATCH_SIZE)
    failed_at = models.DateTimeField(_("failed at"), null=True)
    failure_code = models.CharField(_("failure code"), max_length=40, blank=True, default="")
    failure_message = models.CharField(_("failure message"), max_length=600, blank=True, default="")

    class Meta:
        verbose_name = _("embedding model")
        verbose_name_plural = _("embedding models")

    def __str__(self) -> str:
        return f"{build_display_name(self, 'workspace')} · {self.default_model}"

    @property
    def owner_id(self) -> UUID:
        return self.workspace_id


class EmbeddedChat(Identified):
    """A long chat whose messages are embedded, up to its version `through_version`.

    `person`: the person of the run that last made the chat due; the requests are made for this person. `due_at`: when messages are
    embedded next; null: none are left. `failures`: failed requests in a row. `lease_until`: until then, one process embeds.
    """

    chat = models.OneToOneField(Chat, verbose_name=_("chat"), on_delete=models.CASCADE, related_name="embedded_chat")
    person = models.ForeignKey(Actor, verbose_name=_("person"), null=True, on_delete=models.SET_NULL, related_name="+")
    generation = models.UUIDField(_("generation"), null=True)
    through_version = models.BigIntegerField(_("through version"), default=0)
    due_at = models.DateTimeField(_("due at"), null=True)
    failures = models.PositiveIntegerField(_("failures"), default=0)
    lease_until = models.DateTimeField(_("lease until"), null=True)

    class Meta:
        verbose_name = _("embedded chat")
        verbose_name_plural = _("embedded chats")
        indexes = [models.Index(fields=["due_at"], name="embedded_chats_due")]

    def __str__(self) -> str:
        return build_display_name(self, "chat")


class MessageEmbedding(models.Model):
    """The embedding of a message. The numbers are in the column `vector` of type `halfvec`, which only a database with the
    extension `vector` has, so it is no field (`embeddings/vectors.py`).

    `digest`: of the text that was embedded. `seq`: that of the message.
    """

    message = models.OneToOneField(
        Message, verbose_name=_("message"), on_delete=models.CASCADE, related_name="embedding", primary_key=True
    )
    chat = models.ForeignKey(Chat, verbose_name=_("chat"), on_delete=models.CASCADE, related_name="+", db_index=False)
    seq = models.BigIntegerField(_("seq"))
    generation = models.UUIDField(_("generation"))
    digest = models.BinaryField(_("digest"))

    class Meta:
        verbose_name = _("embedding of a message")
        verbose_name_plural = _("embeddings of messages")
        indexes = [models.Index(fields=["chat", "generation", "seq"], name="embeddings_of_chat")]

    def __str__(self) -> str:
        return build_display_name(self, "message")

"""The draft of an agent in a chat."""

from collections.abc import Callable
from typing import ClassVar
from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.views import APIView

from agents.api.bodies import DraftBody, RebaseBody, RevisionBody, SaveBody, WishBody
from agents.models import Draft
from agents.services import drafts
from common.errors import Invalid
from common.paging import PAGED, answer_page, rows_of
from common.rest import Page, Request, answer, read, view_of_deed
from events.rows import DraftRow, DraftWishRow, EarlierTextRow, SpecRow


class OneDraft(APIView):
    @extend_schema(operation_id="read_draft", responses=DraftRow)
    def get(self, request: Request, chat_id: UUID, agent_id: UUID) -> HttpResponse:
        return answer(drafts.read_draft(actor=request.user, chat_id=chat_id, agent_id=agent_id).row())

    @extend_schema(operation_id="write_draft", request=DraftBody, responses=DraftRow)
    def put(self, request: Request, chat_id: UUID, agent_id: UUID) -> HttpResponse:
        body = read(request, DraftBody)
        if body.revision is None:
            draft = drafts.take_draft(actor=request.user, chat_id=chat_id, agent_id=agent_id, content=body.content)
            return answer(draft.row())
        if body.content is None:
            raise Invalid("Say what to write.", hints=["content: the whole spec"])
        draft = drafts.write_draft(
            actor=request.user, chat_id=chat_id, agent_id=agent_id, content=body.content, revision=body.revision,
            caret=body.caret,
        )  # fmt: skip
        return answer(draft.row())


class Save(APIView):
    @extend_schema(operation_id="save_draft", request=SaveBody, responses=SpecRow)
    def post(self, request: Request, chat_id: UUID, agent_id: UUID) -> HttpResponse:
        body = read(request, SaveBody)
        spec = drafts.save_draft(
            actor=request.user, chat_id=chat_id, agent_id=agent_id, revision=body.revision,
            base_version=body.base_version, message=body.message,
        )  # fmt: skip
        return answer(spec.row())


class Rebase(APIView):
    @extend_schema(operation_id="rebase_draft", request=RebaseBody, responses=DraftRow)
    def post(self, request: Request, chat_id: UUID, agent_id: UUID) -> HttpResponse:
        body = read(request, RebaseBody)
        draft = drafts.rebase_draft(
            actor=request.user, chat_id=chat_id, agent_id=agent_id, revision=body.revision, merge=body.merge
        )
        return answer(draft.row())


class EarlierTexts(APIView):
    @extend_schema(operation_id="list_earlier_texts", parameters=PAGED, responses=Page[EarlierTextRow])
    def get(self, request: Request, chat_id: UUID, agent_id: UUID) -> HttpResponse:
        texts = drafts.earlier_texts(actor=request.user, chat_id=chat_id, agent_id=agent_id)
        return answer_page(request, texts, by="-revision", shown=rows_of)


class Wish(APIView):
    @extend_schema(operation_id="read_draft_wish", responses=DraftWishRow)
    def get(self, request: Request, chat_id: UUID, agent_id: UUID) -> HttpResponse:
        return answer(drafts.read_wish(actor=request.user, chat_id=chat_id, agent_id=agent_id).row())

    @extend_schema(operation_id="set_draft_wish", request=WishBody, responses=DraftWishRow)
    def put(self, request: Request, chat_id: UUID, agent_id: UUID) -> HttpResponse:
        is_waiting = read(request, WishBody).is_waiting
        wish = drafts.set_wish(actor=request.user, chat_id=chat_id, agent_id=agent_id, is_waiting=is_waiting)
        return answer(wish.row())


class Ask(APIView):
    @extend_schema(operation_id="ask_for_draft", request=None, responses=DraftWishRow)
    def post(self, request: Request, chat_id: UUID, agent_id: UUID) -> HttpResponse:
        return answer(drafts.ask_for_draft(actor=request.user, chat_id=chat_id, agent_id=agent_id).row())


class Deed(APIView):
    """What is done to a draft as it stands at a revision."""

    deed: ClassVar[Callable[..., Draft]]

    def post(self, request: Request, chat_id: UUID, agent_id: UUID) -> HttpResponse:
        revision = read(request, RevisionBody).revision
        done = type(self).deed(actor=request.user, chat_id=chat_id, agent_id=agent_id, revision=revision)
        return answer(done.row())


def on_revision(operation_id: str, deed: Callable[..., Draft]) -> type[Deed]:
    """The view of one such deed."""
    return view_of_deed(Deed, operation_id, deed, request=RevisionBody, responses=DraftRow)


Apply = on_revision("apply_draft", drafts.apply_draft)
Discard = on_revision("discard_draft", drafts.discard_draft)
Release = on_revision("release_draft", drafts.release_draft)

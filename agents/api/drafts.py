"""The draft of an agent in a chat."""

from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.views import APIView

from agents.api.bodies import DraftBody, RevisionBody, SaveBody
from agents.services import drafts
from common.errors import Invalid
from common.rest import Request, answer, read
from events.rows import DraftRow, SpecRow


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


class Apply(APIView):
    @extend_schema(operation_id="apply_draft", request=RevisionBody, responses=DraftRow)
    def post(self, request: Request, chat_id: UUID, agent_id: UUID) -> HttpResponse:
        body = read(request, RevisionBody)
        return answer(
            drafts.apply_draft(actor=request.user, chat_id=chat_id, agent_id=agent_id, revision=body.revision).row()
        )


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
    @extend_schema(operation_id="rebase_draft", request=RevisionBody, responses=DraftRow)
    def post(self, request: Request, chat_id: UUID, agent_id: UUID) -> HttpResponse:
        body = read(request, RevisionBody)
        return answer(
            drafts.rebase_draft(actor=request.user, chat_id=chat_id, agent_id=agent_id, revision=body.revision).row()
        )


class Discard(APIView):
    @extend_schema(operation_id="discard_draft", request=RevisionBody, responses=DraftRow)
    def post(self, request: Request, chat_id: UUID, agent_id: UUID) -> HttpResponse:
        body = read(request, RevisionBody)
        return answer(
            drafts.discard_draft(actor=request.user, chat_id=chat_id, agent_id=agent_id, revision=body.revision).row()
        )


class Release(APIView):
    @extend_schema(operation_id="release_draft", request=RevisionBody, responses=DraftRow)
    def post(self, request: Request, chat_id: UUID, agent_id: UUID) -> HttpResponse:
        body = read(request, RevisionBody)
        return answer(
            drafts.release_draft(actor=request.user, chat_id=chat_id, agent_id=agent_id, revision=body.revision).row()
        )

"""The draft of an agent in a chat, and votes on it."""

from functools import partial
from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.views import APIView

from agents import selectors
from agents.api.bodies import DraftBody, HandOverBody, LockWaiterBody, RebaseBody, RevisionBody, SaveBody, VoteBody
from agents.services import drafts
from agents.services.votes import cast_vote
from common.errors import Invalid
from common.paging import MAX_LARGE_ROWS, PAGE_PARAMETERS, answer_page
from common.rest import Page, Request, build_response, read
from events.rows import DraftRow, DraftSnapshotRow, DraftTrialRow, LockedDraftRow, LockWaiterRow, MessageRow, SpecRow


class LockedDrafts(APIView):
    @extend_schema(operation_id="list_locked_drafts", parameters=PAGE_PARAMETERS, responses=Page[LockedDraftRow])
    def get(self, request: Request, workspace_id: UUID) -> HttpResponse:
        """List the locked drafts of a workspace."""
        rows = selectors.list_locked_drafts(request.user, workspace_id)
        serialize = partial(selectors.build_locked_draft_rows, request.user)
        return answer_page(request, rows, by="-created_at", serialize=serialize)


class OneDraft(APIView):
    @extend_schema(operation_id="read_draft", responses=DraftRow)
    def get(self, request: Request, chat_id: UUID, agent_id: UUID) -> HttpResponse:
        """Read the draft of an agent in a chat."""
        return build_response(selectors.get_draft(request.user, chat_id, agent_id).to_row())

    @extend_schema(operation_id="write_draft", request=DraftBody, responses=DraftRow)
    def put(self, request: Request, chat_id: UUID, agent_id: UUID) -> HttpResponse:
        """Start a draft, acquire its lock, or write its content."""
        body = read(request, DraftBody)
        if body.revision is None:
            return build_response(drafts.claim_draft(request.user, chat_id, agent_id, content=body.content).to_row())
        if body.content is None:
            raise Invalid("The text is missing.", hints=["content: the whole spec"])
        draft = drafts.write_draft(
            request.user, chat_id, agent_id, content=body.content, revision=body.revision, caret=body.caret
        )
        return build_response(draft.to_row())


class DraftSnapshots(APIView):
    @extend_schema(operation_id="list_draft_snapshots", parameters=PAGE_PARAMETERS, responses=Page[DraftSnapshotRow])
    def get(self, request: Request, chat_id: UUID, agent_id: UUID) -> HttpResponse:
        """List the snapshots of a draft."""
        rows = selectors.list_draft_snapshots(request.user, chat_id, agent_id)
        return answer_page(request, rows, by="-revision", max_rows=MAX_LARGE_ROWS)


class DraftTrial(APIView):
    @extend_schema(operation_id="read_draft_trial", responses=DraftTrialRow)
    def get(self, request: Request, chat_id: UUID, agent_id: UUID) -> HttpResponse:
        """Read whether the content of a draft is applied and has answered."""
        return build_response(selectors.get_draft_trial(request.user, chat_id, agent_id))


class OneLockWaiter(APIView):
    @extend_schema(operation_id="read_lock_waiter", responses=LockWaiterRow)
    def get(self, request: Request, chat_id: UUID, agent_id: UUID) -> HttpResponse:
        """Read whether the reader waits for the lock of a draft."""
        return build_response(selectors.get_lock_waiter(request.user, chat_id, agent_id).to_row())

    @extend_schema(operation_id="set_lock_waiter", request=LockWaiterBody, responses=LockWaiterRow)
    def put(self, request: Request, chat_id: UUID, agent_id: UUID) -> HttpResponse:
        """Set whether the reader is notified when the lock of a draft is free."""
        wants_notice = read(request, LockWaiterBody).wants_notice
        return build_response(
            drafts.set_wants_notice(request.user, chat_id, agent_id, wants_notice=wants_notice).to_row()
        )


class RequestDraft(APIView):
    @extend_schema(operation_id="request_draft", request=None, responses=LockWaiterRow)
    def post(self, request: Request, chat_id: UUID, agent_id: UUID) -> HttpResponse:
        """Request a draft from the holder of its lock."""
        return build_response(drafts.request_draft(request.user, chat_id, agent_id).to_row())


class HandOverDraft(APIView):
    @extend_schema(operation_id="hand_over_draft", request=HandOverBody, responses=DraftRow)
    def post(self, request: Request, chat_id: UUID, agent_id: UUID) -> HttpResponse:
        """Hand the lock of a draft over to a person who has requested it."""
        body = read(request, HandOverBody)
        draft = drafts.hand_over_draft(request.user, chat_id, agent_id, revision=body.revision, to=body.to)
        return build_response(draft.to_row())


class ApplyDraft(APIView):
    @extend_schema(operation_id="apply_draft", request=RevisionBody, responses=DraftRow)
    def post(self, request: Request, chat_id: UUID, agent_id: UUID) -> HttpResponse:
        """Apply a draft: the agent answers with it in this chat only."""
        body = read(request, RevisionBody)
        return build_response(drafts.apply_draft(request.user, chat_id, agent_id, revision=body.revision).to_row())


class SaveDraft(APIView):
    @extend_schema(operation_id="save_draft", request=SaveBody, responses=SpecRow)
    def post(self, request: Request, chat_id: UUID, agent_id: UUID) -> HttpResponse:
        """Save a draft as the next version of its agent."""
        body = read(request, SaveBody)
        spec = drafts.save_draft(
            request.user,
            chat_id,
            agent_id,
            revision=body.revision,
            base_version=body.base_version,
            message=body.message,
            unused_suggestions=body.unused_suggestions,
        )
        return build_response(spec.to_row())


class RebaseDraft(APIView):
    @extend_schema(operation_id="rebase_draft", request=RebaseBody, responses=DraftRow)
    def post(self, request: Request, chat_id: UUID, agent_id: UUID) -> HttpResponse:
        """Base a draft on the present production version."""
        body = read(request, RebaseBody)
        draft = drafts.rebase_draft(
            request.user, chat_id, agent_id, revision=body.revision, merge_production=body.merge_production
        )
        return build_response(draft.to_row())


class DiscardDraft(APIView):
    @extend_schema(operation_id="discard_draft", request=RevisionBody, responses=DraftRow)
    def post(self, request: Request, chat_id: UUID, agent_id: UUID) -> HttpResponse:
        """Discard a draft: production answers in the chat again."""
        body = read(request, RevisionBody)
        return build_response(drafts.discard_draft(request.user, chat_id, agent_id, revision=body.revision).to_row())


class ReleaseDraft(APIView):
    @extend_schema(operation_id="release_draft", request=RevisionBody, responses=DraftRow)
    def post(self, request: Request, chat_id: UUID, agent_id: UUID) -> HttpResponse:
        """Release the lock of a draft. Its content stays."""
        body = read(request, RevisionBody)
        return build_response(drafts.release_draft(request.user, chat_id, agent_id, revision=body.revision).to_row())


class CastVote(APIView):
    @extend_schema(operation_id="vote", request=VoteBody, responses=MessageRow)
    def post(self, request: Request, chat_id: UUID, comparison_id: UUID) -> HttpResponse:
        """Vote for a side of a comparison, or withdraw the vote."""
        choice = read(request, VoteBody).choice
        return build_response(cast_vote(request.user, chat_id, comparison_id, choice=choice).to_row())

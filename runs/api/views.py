"""Views of runs and of comparisons."""

from functools import partial
from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.views import APIView

from actors.rates import Bucket
from agents.selectors import get_version
from chats.permissions import ChatVerb
from chats.services.posting_limits import get_posting_buckets, remember_workspace
from common.paging import PAGE_PARAMETERS, answer_page, get_page, serialize_rows
from common.rest import Page, Request, build_list_response, build_query_parameters, build_response, read, read_query
from events.rows import LLMCallRow, MessageRow, ReplyRow, RunRow
from runs.api.bodies import (
    AgentProposalBody,
    AgentProposalRow,
    ComparisonBody,
    ProposedAgentRow,
    RunDetailRow,
    RunsQuery,
    StepRow,
)
from runs.kinds.agent_proposal import AgentProposal
from runs.models import Run
from runs.permissions import get_run_for
from runs.selectors import build_reply_rows, count_runs_ahead, list_replies_of_version, list_runs
from runs.services import agent_proposals, comparisons, other_answers, runs
from usage.selectors import list_calls_of_run


class Runs(APIView):
    @extend_schema(operation_id="list_runs", parameters=build_query_parameters(RunsQuery), responses=Page[RunRow])
    def get(self, request: Request, chat_id: UUID) -> HttpResponse:
        """List the runs of a chat. Without `state`, only the active ones."""
        query = read_query(request, RunsQuery)
        found, more = get_page(list_runs(request.user, chat_id, query.state), query, by="-created_at")
        return build_list_response(serialize_rows(found), more)


class OneRun(APIView):
    @extend_schema(operation_id="read_run", responses=RunDetailRow)
    def get(self, request: Request, run_id: UUID) -> HttpResponse:
        """Read a run with its steps."""
        run = get_run_for(request.user, run_id, ChatVerb.SEE)
        steps = run.steps.order_by("number", "kind", "index")
        rows = [StepRow.model_validate(step, from_attributes=True) for step in steps]
        return build_response(RunDetailRow(run=run.to_row(), steps=rows, runs_ahead=count_runs_ahead(run)))


class Calls(APIView):
    @extend_schema(operation_id="list_run_calls", responses=Page[LLMCallRow])
    def get(self, request: Request, run_id: UUID) -> HttpResponse:
        """List the requests of a run to models."""
        run = get_run_for(request.user, run_id, ChatVerb.SEE)
        return build_list_response(list_calls_of_run(run.id))


class AgentProposals(APIView):
    person_buckets = ("jobs",)

    @extend_schema(operation_id="propose_agent", request=AgentProposalBody, responses={202: AgentProposalRow})
    def post(self, request: Request, workspace_id: UUID) -> HttpResponse:
        """Have a model propose an agent for a sentence. No agent is created; read the proposal until it is completed."""
        sentence = read(request, AgentProposalBody).sentence
        return build_response(
            _build_proposal_row(agent_proposals.propose_agent(request.user, workspace_id, sentence=sentence)), 202
        )


class OneAgentProposal(APIView):
    @extend_schema(operation_id="read_agent_proposal", responses=AgentProposalRow)
    def get(self, request: Request, workspace_id: UUID, proposal_id: UUID) -> HttpResponse:
        """Read a proposal of an agent that the reader has asked for."""
        return build_response(
            _build_proposal_row(agent_proposals.get_agent_proposal(request.user, workspace_id, proposal_id))
        )


def _build_proposal_row(run: Run) -> AgentProposalRow:
    stamp = run.stamp or {}
    agent = AgentProposal.model_validate_json(run.answer) if run.answer else None
    return AgentProposalRow(
        id=run.id,
        state=run.state,
        agent=ProposedAgentRow(**agent.model_dump()) if agent else None,
        provider=stamp.get("provider", ""),
        model=stamp.get("model", ""),
        error_code=run.error_code,
        error=run.error,
    )


class Stop(APIView):
    @extend_schema(operation_id="stop_run", request=None, responses=RunRow)
    def post(self, request: Request, run_id: UUID) -> HttpResponse:
        """Stop a run and the runs that work for it."""
        return build_response(runs.stop_run(request.user, run_id).to_row())


class Retry(APIView):
    person_buckets = ("jobs",)

    @extend_schema(operation_id="retry_run", request=None, responses={201: RunRow})
    def post(self, request: Request, run_id: UUID) -> HttpResponse:
        """Retry a run that failed or was stopped."""
        return build_response(runs.retry_run(request.user, run_id).to_row(), 201)


class OtherAnswer(APIView):
    person_buckets = ("jobs",)

    @extend_schema(operation_id="request_other_answer", request=None, responses={201: RunRow})
    def post(self, request: Request, run_id: UUID) -> HttpResponse:
        """Ask the agent of a run that has answered for another answer to the same message."""
        return build_response(other_answers.request_other_answer(request.user, run_id).to_row(), 201)


class ChosenAnswer(APIView):
    person_buckets = ("posts",)  # a choice writes a line

    @extend_schema(operation_id="choose_answer", request=None, responses=RunRow)
    def put(self, request: Request, run_id: UUID) -> HttpResponse:
        """Choose the answer of a run instead of the other answers to the same message. Agents read the chosen one."""
        return build_response(other_answers.choose_answer(request.user, run_id).to_row())


class Replies(APIView):
    @extend_schema(operation_id="list_version_replies", parameters=PAGE_PARAMETERS, responses=Page[ReplyRow])
    def get(self, request: Request, agent_id: UUID, number: int) -> HttpResponse:
        """List the runs in which a version of an agent answered."""
        replies = list_replies_of_version(get_version(request.user, agent_id, number), request.user)
        return answer_page(request, replies, by="-created_at", serialize=partial(build_reply_rows, request.user))


class Comparisons(APIView):
    person_buckets = ("jobs",)

    def buckets(self, request: Request) -> list[Bucket]:
        return get_posting_buckets(request.user.pk, self.kwargs["chat_id"])

    @extend_schema(
        operation_id="start_comparison", request=ComparisonBody, responses={200: MessageRow, 201: MessageRow}
    )
    def post(self, request: Request, chat_id: UUID, agent_id: UUID) -> HttpResponse:
        """Have production and the applied draft of an agent answer the same text."""
        body = read(request, ComparisonBody)
        message, is_new = comparisons.start_comparison(request.user, chat_id, agent_id, **body.model_dump())
        remember_workspace(request.user.pk, chat_id, message.chat.workspace_id)
        return build_response(message.to_row(), 201 if is_new else 200)

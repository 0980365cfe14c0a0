"""Agents, their versions, what they can start from."""

from uuid import UUID

from django.db import transaction
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.views import APIView

from actors.models import Actor
from agents.api.bodies import AgentBody, NewAgentBody, NewAgentRow, TemplateRow, TemplatesQuery
from agents.permissions import AgentVerb, agents_visible_to, get_agent_for
from agents.rows import agent_row
from agents.selectors import agent_rows
from agents.services import specs
from agents.templates import TEMPLATES
from common.access import person_of
from common.paging import PAGED, Paged
from common.rest import Page, Request, answer, answer_list, nothing, query_parameters, read, read_query
from events.rows import AgentRow, ToolRow
from tools.registry import tool_rows
from workspaces.permissions import WorkspaceVerb, get_workspace_for

_AGENTS: Paged[Actor] = Paged(
    lambda person_id, workspace_id: agents_visible_to(person_of(person_id)).filter(workspace=workspace_id),
    UUID,
    UUID,
    by="name",
)


class Agents(APIView):
    @extend_schema(operation_id="list_agents", parameters=PAGED, responses=Page[AgentRow])
    def get(self, request: Request, workspace_id: UUID) -> HttpResponse:
        workspace = get_workspace_for(request.user, workspace_id, WorkspaceVerb.SEE)
        return _AGENTS.answer(request, request.user.pk, workspace.pk, shown=agent_rows)

    @extend_schema(operation_id="create_agent", request=NewAgentBody, responses={201: NewAgentRow})
    @transaction.atomic
    def post(self, request: Request, workspace_id: UUID) -> HttpResponse:
        body = read(request, NewAgentBody)
        workspace = get_workspace_for(request.user, workspace_id, WorkspaceVerb.CREATE_AGENT)
        agent = specs.create_agent(
            workspace=workspace, creator=request.user, name=body.name, description=body.description,
            handle=body.handle, template_key=body.template, prompt=body.prompt, tools=body.tools,
        )  # fmt: skip
        chat = None
        if body.open_chat:
            chat = specs.open_first_chat(
                agent=agent, workspace=workspace, creator=request.user, template_key=body.template
            )
        row = agent_row(get_agent_for(request.user, agent.id, AgentVerb.SEE))
        return answer(NewAgentRow(**dict(row), chat_id=chat.id if chat else None), 201)


class OneAgent(APIView):
    @extend_schema(operation_id="read_agent", responses=AgentRow)
    def get(self, request: Request, agent_id: UUID) -> HttpResponse:
        agent = get_agent_for(request.user, agent_id, AgentVerb.SEE)
        return answer(next(agent_rows([agent])))

    @extend_schema(operation_id="rename_agent", request=AgentBody, responses=AgentRow)
    @transaction.atomic
    def patch(self, request: Request, agent_id: UUID) -> HttpResponse:
        body = read(request, AgentBody)
        agent = get_agent_for(request.user, agent_id, AgentVerb.RENAME)
        specs.rename_agent(agent=agent, actor=request.user, name=body.name, description=body.description,
                           revision=body.revision)  # fmt: skip
        return answer(agent_row(agent))

    @extend_schema(operation_id="delete_agent", responses={204: None})
    @transaction.atomic
    def delete(self, request: Request, agent_id: UUID) -> HttpResponse:
        agent = get_agent_for(request.user, agent_id, AgentVerb.DELETE)
        specs.delete_agent(agent=agent, actor=request.user)
        return nothing()


class Templates(APIView):
    @extend_schema(
        operation_id="list_agent_templates", parameters=query_parameters(TemplatesQuery), responses=Page[TemplateRow]
    )
    def get(self, request: Request) -> HttpResponse:
        language = read_query(request, TemplatesQuery).language
        plans = [texts[language] for texts in TEMPLATES.values()]
        return answer_list(
            TemplateRow(key=plan.key, name=plan.name, description=plan.description, prompt=plan.prompt,
                        greeting=plan.greeting, tools=list(plan.tools))
            for plan in plans
        )  # fmt: skip


class Tools(APIView):
    @extend_schema(operation_id="list_tools", responses=Page[ToolRow])
    def get(self, request: Request) -> HttpResponse:
        return answer_list(tool_rows())

"""Create, list, read and delete agents, and change their profiles; list the templates and tools of new agents."""

from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.views import APIView

from agents import selectors
from agents.api.bodies import (
    AgentBody,
    AgentTemplateRow,
    AgentTemplatesQuery,
    AgentThumbsQuery,
    NewAgentBody,
    NewAgentRow,
    ParentBody,
)
from agents.rows import build_agent_row
from agents.services import agents, tree
from agents.specs.templates import AGENT_TEMPLATES
from common.paging import PAGE_PARAMETERS, answer_page, get_page
from common.rest import (
    Page,
    Request,
    build_empty_response,
    build_list_response,
    build_query_parameters,
    build_response,
    read,
    read_query,
)
from events.rows import AgentRow, AgentThumbRow, EmojiAvatar, ListedAgentRow, ThumbCountsRow, ToolRow
from tools.registry import build_tool_rows


class Agents(APIView):
    @extend_schema(operation_id="list_agents", parameters=PAGE_PARAMETERS, responses=Page[ListedAgentRow])
    def get(self, request: Request, workspace_id: UUID) -> HttpResponse:
        """List the agents of a workspace."""
        rows = selectors.list_agents(request.user, workspace_id)
        return answer_page(request, rows, by="name", serialize=selectors.build_listed_agent_rows)

    @extend_schema(operation_id="create_agent", request=NewAgentBody, responses={201: NewAgentRow})
    def post(self, request: Request, workspace_id: UUID) -> HttpResponse:
        """Create an agent with its first version."""
        body = read(request, NewAgentBody)
        new = agents.create_agent(request.user, workspace_id, **dict(body))
        return build_response(
            NewAgentRow(**dict(build_agent_row(new.agent)), chat_id=new.chat.id if new.chat else None), 201
        )


class ToolAgents(APIView):
    @extend_schema(operation_id="list_agents_with_tool", parameters=PAGE_PARAMETERS, responses=Page[ListedAgentRow])
    def get(self, request: Request, tool_id: UUID) -> HttpResponse:
        """List the agents that have a tool of a tool server."""
        rows = selectors.list_agents_with_tool(request.user, tool_id)
        return answer_page(request, rows, by="name", serialize=selectors.build_listed_agent_rows)


class OneAgent(APIView):
    @extend_schema(operation_id="read_agent", responses=AgentRow)
    def get(self, request: Request, agent_id: UUID) -> HttpResponse:
        """Read an agent with its production version."""
        return build_response(selectors.get_agent_row(request.user, agent_id))

    @extend_schema(operation_id="update_agent_profile", request=AgentBody, responses=AgentRow)
    def patch(self, request: Request, agent_id: UUID) -> HttpResponse:
        """Change the name, description, avatar, handle or role of an agent."""
        body = read(request, AgentBody)
        return build_response(build_agent_row(agents.update_agent_profile(request.user, agent_id, **dict(body))))

    @extend_schema(operation_id="delete_agent", responses={204: None})
    def delete(self, request: Request, agent_id: UUID) -> HttpResponse:
        """Delete an agent. It leaves its chats, where its messages stay."""
        agents.delete_agent(request.user, agent_id)
        return build_empty_response()


class AgentThumbs(APIView):
    @extend_schema(
        operation_id="list_agent_thumbs",
        parameters=build_query_parameters(AgentThumbsQuery),
        responses=Page[AgentThumbRow],
    )
    def get(self, request: Request, agent_id: UUID) -> HttpResponse:
        """List the thumbs on the answers of an agent in chats that the reader may read, the newest first."""
        query = read_query(request, AgentThumbsQuery)
        rows = selectors.list_agent_thumbs(request.user, agent_id, value=query.value)
        page, cursor = get_page(rows, query, by="-created_at")
        return build_list_response(selectors.build_agent_thumb_rows(request.user, page), cursor)


class AgentThumbCounts(APIView):
    @extend_schema(operation_id="count_agent_thumbs", responses=ThumbCountsRow)
    def get(self, request: Request, agent_id: UUID) -> HttpResponse:
        """Count the thumbs on the answers of an agent, also in chats that the reader may not read."""
        return build_response(selectors.count_agent_thumbs(request.user, agent_id))


class AgentParent(APIView):
    @extend_schema(operation_id="move_agent", request=ParentBody, responses=AgentRow)
    def put(self, request: Request, agent_id: UUID) -> HttpResponse:
        """Set the agent that an agent reports to."""
        body = read(request, ParentBody)
        return build_response(build_agent_row(tree.move_agent(request.user, agent_id, body.parent_id)))


class AgentTemplates(APIView):
    @extend_schema(
        operation_id="list_agent_templates",
        parameters=build_query_parameters(AgentTemplatesQuery),
        responses=Page[AgentTemplateRow],
    )
    def get(self, request: Request) -> HttpResponse:
        """List the templates of new agents."""
        language = read_query(request, AgentTemplatesQuery).language
        return build_list_response(
            AgentTemplateRow(
                key=template.key,
                name=template.name,
                description=template.description,
                prompt=template.prompt,
                greeting=template.greeting,
                tools=list(template.available_tools),
                avatar=EmojiAvatar(kind="emoji", emoji=template.emoji),
            )
            for template in (texts[language] for texts in AGENT_TEMPLATES.values())
        )


class SystemTools(APIView):
    @extend_schema(operation_id="list_tools", responses=Page[ToolRow])
    def get(self, request: Request) -> HttpResponse:
        """List the tools that come with Atelier."""
        return build_list_response(build_tool_rows())

"""List the templates of teams, and create a team from one."""

from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.views import APIView

from agents.api.bodies import AgentTemplatesQuery, NewTeamBody, NewTeamRow, TeamMemberRow, TeamTemplateRow
from agents.rows import build_agent_row
from agents.services import team_templates as teams
from agents.specs.templates import TEAM_TEMPLATES, AgentTemplate
from common.rest import Page, Request, build_list_response, build_query_parameters, build_response, read, read_query
from events.rows import EmojiAvatar


class TeamTemplates(APIView):
    @extend_schema(
        operation_id="list_team_templates",
        parameters=build_query_parameters(AgentTemplatesQuery),
        responses=Page[TeamTemplateRow],
    )
    def get(self, request: Request) -> HttpResponse:
        """List the templates of teams."""
        language = read_query(request, AgentTemplatesQuery).language
        return build_list_response(
            TeamTemplateRow(
                key=template.key,
                name=template.name,
                description=template.description,
                lead=_build_member_row(template.lead),
                members=[_build_member_row(member) for member in template.members],
            )
            for template in (texts[language] for texts in TEAM_TEMPLATES.values())
        )


class Teams(APIView):
    @extend_schema(operation_id="create_team", request=NewTeamBody, responses={201: NewTeamRow})
    def post(self, request: Request, workspace_id: UUID) -> HttpResponse:
        """Create the agents of a team, and a chat with all of them."""
        body = read(request, NewTeamBody)
        new = teams.create_team_from_template(request.user, workspace_id, template=body.template)
        return build_response(
            NewTeamRow(
                lead=build_agent_row(new.lead),
                members=[build_agent_row(member) for member in new.members],
                chat_id=new.chat.id,
            ),
            201,
        )


def _build_member_row(template: AgentTemplate) -> TeamMemberRow:
    return TeamMemberRow(name=template.name, role=template.role, avatar=EmojiAvatar(kind="emoji", emoji=template.emoji))

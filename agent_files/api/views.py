"""Export and import of agents as files."""

from typing import Any, Literal
from uuid import UUID

from django.http import HttpResponse, JsonResponse
from django.utils.http import content_disposition_header
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.views import APIView

from agent_files import services
from agent_files.specs import MAX_FILE, AgentFile, Format
from agents.rows import build_agent_row
from common.request_types import Handle, Name, Version
from common.rest import Body, Request, build_query_parameters, build_response, read, read_query
from events.rows import AgentRow, Row


class FileQuery(Body):
    """`version` is the number of a version; without it, production is exported."""

    format: Format = "yaml"
    version: Version | None = None


class ImportBody(Body):
    text: str = Field(json_schema_extra={"maxLength": MAX_FILE})
    """The content of a YAML or JSON file."""
    name: Name | None = None
    """The name of the agent instead of that in the file."""
    handle: Handle | None = None
    """The handle of the agent instead of that in the file."""
    is_trial: bool = False
    """Create nothing; the answer shows what would be."""


class MissingRow(Row):
    """A tool, model or setting that the file names and that does not exist here. `text` says what replaces it."""

    kind: Literal["tool", "model", "setting", "member"]
    name: str
    text: str


class ImportRow(Row):
    """The result of an import. `agent` and `chat_id` are null after a trial. `content` is the spec as it is stored here, without
    what is missing. `name` and `description` are those of the file."""

    agent: AgentRow | None
    chat_id: UUID | None
    name: str
    description: str
    content: dict[str, Any]
    missing: list[MissingRow]


class ExportAgent(APIView):
    @extend_schema(
        operation_id="export_agent",
        parameters=build_query_parameters(FileQuery),
        responses={(200, "application/yaml"): OpenApiTypes.OBJECT, (200, "application/json"): OpenApiTypes.OBJECT},
    )
    def get(self, request: Request, agent_id: UUID) -> HttpResponse:
        """Download a version of an agent as a file."""
        query = read_query(request, FileQuery)
        file = services.export_agent(request.user, agent_id, format=query.format, version=query.version)
        return HttpResponse(
            file.text,
            content_type=f"application/{query.format}; charset=utf-8",
            headers={"Content-Disposition": content_disposition_header(True, file.name)},
        )


class ImportAgent(APIView):
    @extend_schema(operation_id="import_agent", request=ImportBody, responses={200: ImportRow, 201: ImportRow})
    def post(self, request: Request, workspace_id: UUID) -> HttpResponse:
        """Create an agent from a file, or check the file."""
        body = read(request, ImportBody)
        result = services.import_agent(request.user, workspace_id, **dict(body))
        created = result.created
        row = ImportRow(
            agent=build_agent_row(created.agent) if created else None,
            chat_id=created.chat.id if created and created.chat else None,
            name=result.file.name,
            description=result.file.description,
            content=result.content.as_json(),
            missing=[MissingRow(kind=item.kind, name=item.name, text=item.text) for item in result.missing],
        )
        return build_response(row, 201 if created else 200)


class FileSchema(APIView):
    @extend_schema(operation_id="read_agent_file_schema", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request) -> HttpResponse:
        """Read the JSON schema of agent files."""
        return JsonResponse(AgentFile.model_json_schema())

"""Agents as files: taking one away, bringing one in."""

from typing import Any, Literal
from uuid import UUID

from django.core.exceptions import SuspiciousFileOperation
from django.db import transaction
from django.http import HttpResponse, JsonResponse
from django.utils.http import content_disposition_header
from django.utils.text import get_valid_filename
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.views import APIView

from actors.models import Actor
from agents.files import AgentFile, Format, read_file, written
from agents.permissions import AgentVerb, get_agent_for
from agents.rows import agent_row
from agents.services import files
from agents.services.versions import get_version
from common.rest import Body, Request, answer, query_parameters, read, read_query
from events.rows import AgentRow, Row
from workspaces.permissions import WorkspaceVerb, get_workspace_for


class FileQuery(Body):
    """`version` is a number; without it, production."""

    format: Format = "yaml"
    version: int | None = None


class ImportBody(Body):
    """`text` is the file, YAML or JSON. With `is_trial` nothing is made: the answer says what would come of it."""

    text: str
    name: str | None = None
    handle: str | None = None
    is_trial: bool = False


class MissingRow(Row):
    """What the file asks for and this place does not have; `text` says what becomes of it."""

    what: Literal["tool", "model", "setting"]
    name: str
    text: str


class ImportRow(Row):
    """What came, or would come, of a file. `agent` and `chat_id` are null after a trial; `content` is the spec as it fits
    here; `name` and `description` are what the file says."""

    agent: AgentRow | None
    chat_id: UUID | None
    name: str
    description: str
    content: dict[str, Any]
    missing: list[MissingRow]


class Export(APIView):
    @extend_schema(
        operation_id="export_agent", parameters=query_parameters(FileQuery),
        responses={(200, "application/yaml"): OpenApiTypes.STR},
    )  # fmt: skip
    def get(self, request: Request, agent_id: UUID) -> HttpResponse:
        query = read_query(request, FileQuery)
        agent = get_agent_for(request.user, agent_id, AgentVerb.SEE)
        spec = agent.current_spec if query.version is None else get_version(agent, query.version)
        assert spec is not None
        text = written(files.file_of(agent, spec), query.format)
        name = f"{_file_name(agent)}.v{spec.number}.{query.format}"
        return HttpResponse(
            text,
            content_type=f"application/{query.format}; charset=utf-8",
            headers={"Content-Disposition": content_disposition_header(True, name)},
        )


def _file_name(agent: Actor) -> str:
    try:
        return get_valid_filename(agent.name)
    except SuspiciousFileOperation:
        return agent.handle


class Import(APIView):
    @extend_schema(operation_id="import_agent", request=ImportBody, responses={200: ImportRow, 201: ImportRow})
    @transaction.atomic
    def post(self, request: Request, workspace_id: UUID) -> HttpResponse:
        body = read(request, ImportBody)
        workspace = get_workspace_for(request.user, workspace_id, WorkspaceVerb.CREATE_AGENT)
        file = read_file(body.text)
        fitted = files.fit(file, workspace)
        facts: dict[str, Any] = {
            "name": file.name, "description": file.description, "content": fitted.content.as_json(),
            "missing": [MissingRow(what=one.what, name=one.name, text=one.text) for one in fitted.missing],
        }  # fmt: skip
        if body.is_trial:
            return answer(ImportRow(agent=None, chat_id=None, **facts))
        agent, chat = files.import_agent(
            workspace=workspace, creator=request.user, file=file, content=fitted.content, name=body.name,
            handle=body.handle,
        )  # fmt: skip
        row = agent_row(get_agent_for(request.user, agent.id, AgentVerb.SEE))
        return answer(ImportRow(agent=row, chat_id=chat.id, **facts), 201)


class Shape(APIView):
    @extend_schema(operation_id="read_agent_file_schema", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request) -> HttpResponse:
        return JsonResponse(AgentFile.model_json_schema())

"""Files: uploading, listing, downloading, and showing them in a chat."""

from urllib.parse import quote
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet
from django.db.models.fields.files import FieldFile
from django.http import FileResponse, HttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from pydantic import ValidationError
from rest_framework.parsers import MultiPartParser
from rest_framework.views import APIView

from chats.permissions import ChatVerb, get_chat_for
from common.errors import Invalid, NotFound
from common.paging import get_page
from common.rest import (
    Page,
    Request,
    build_empty_response,
    build_invalid_error,
    build_list_response,
    build_query_parameters,
    build_response,
    read,
    read_query,
)
from events.rows import FileRow, MessageRow
from files import services as files
from files.api.bodies import FilesQuery, FileTextRow, PostFileBody, UploadBody, WorkspaceFilesQuery
from files.models import File
from files.permissions import FileVerb, files_visible_to, get_file_for
from files.selectors import search_files
from workspaces.permissions import WorkspaceVerb, get_workspace_for

UPLOAD = {
    "multipart/form-data": {
        "type": "object",
        "properties": {
            "file": {"type": "string", "format": "binary"},
            "id": {"type": "string", "format": "uuid"},
        },
        "required": ["file"],
        "additionalProperties": False,
    }
}
"""The body of an upload, for the schema."""
IMMUTABLE = "private, max-age=31536000, immutable"
"""The content of a file never changes; a shared cache must not keep it."""


def _answer_page(found: QuerySet[File], query: FilesQuery) -> HttpResponse:
    """Return the page of these files that the query asks for, the newest first."""
    if query.kind is not None:
        found = found.filter(kind=query.kind)
    if query.q:
        found = search_files(found, query.q)
    page, next = get_page(found.select_related("uploaded_by").defer("text"), query, by="-created_at")
    return build_list_response([file.to_row() for file in page], next)


def _upload(request: Request, *, chat_id: UUID | None = None, workspace_id: UUID | None = None) -> HttpResponse:
    uploads = request.FILES.getlist("file")
    if len(uploads) != 1 or len(request.FILES) != 1:
        raise Invalid("An upload has one file.", hints=["Send it as the field `file` of a form (multipart/form-data)."])
    try:
        body = UploadBody.model_validate(request.POST.dict())
    except ValidationError as error:
        raise build_invalid_error(error) from error
    file, is_new = files.upload_file(
        request.user,
        content=uploads[0],
        name=uploads[0].name or "",
        chat_id=chat_id,
        workspace_id=workspace_id,
        id=body.id,
    )
    return build_response(file.to_row(), 201 if is_new else 200)


class WorkspaceFiles(APIView):
    parser_classes = [MultiPartParser]

    @extend_schema(
        operation_id="list_files", parameters=build_query_parameters(WorkspaceFilesQuery), responses=Page[FileRow]
    )
    def get(self, request: Request, workspace_id: UUID) -> HttpResponse:
        """List the files of a workspace that the reader may see."""
        query = read_query(request, WorkspaceFilesQuery)
        get_workspace_for(request.user, workspace_id, WorkspaceVerb.SEE)
        visible = files_visible_to(request.user, workspace_id)
        return _answer_page(visible.filter(chat=None) if query.of_workspace else visible, query)

    @extend_schema(operation_id="upload_workspace_file", request=UPLOAD, responses={200: FileRow, 201: FileRow})
    def post(self, request: Request, workspace_id: UUID) -> HttpResponse:
        """Upload a file to a workspace, outside of chats."""
        return _upload(request, workspace_id=workspace_id)


class ChatFiles(APIView):
    parser_classes = [MultiPartParser]

    @extend_schema(
        operation_id="list_chat_files", parameters=build_query_parameters(FilesQuery), responses=Page[FileRow]
    )
    def get(self, request: Request, chat_id: UUID) -> HttpResponse:
        """List the files of a chat."""
        query = read_query(request, FilesQuery)
        chat = get_chat_for(request.user, chat_id, ChatVerb.SEE)
        posted = chat.files.filter(deleted_at=None, posted_at__isnull=False)
        return _answer_page(posted, query)

    @extend_schema(operation_id="upload_file", request=UPLOAD, responses={200: FileRow, 201: FileRow})
    def post(self, request: Request, chat_id: UUID) -> HttpResponse:
        """Upload a file to a chat. Its message is posted separately."""
        return _upload(request, chat_id=chat_id)


class OneFile(APIView):
    @extend_schema(operation_id="read_file", responses=FileRow)
    def get(self, request: Request, file_id: UUID) -> HttpResponse:
        """Read the row of a file."""
        return build_response(get_file_for(request.user, file_id, FileVerb.SEE).to_row())

    @extend_schema(operation_id="delete_file", responses={204: None})
    def delete(self, request: Request, file_id: UUID) -> HttpResponse:
        """Delete a file. Its message stays and says so."""
        files.delete_file(request.user, file_id)
        return build_empty_response()


class PostedFile(APIView):
    @extend_schema(operation_id="post_file", request=PostFileBody, responses={200: MessageRow, 201: MessageRow})
    def post(self, request: Request, file_id: UUID) -> HttpResponse:
        """Post a message with an uploaded file in its chat."""
        body = read(request, PostFileBody)
        message, is_new = files.post_file(request.user, file_id, reply_to=body.reply_to, wake=body.wake)
        return build_response(message.to_row(), 201 if is_new else 200)


class FileText(APIView):
    @extend_schema(operation_id="read_file_text", responses=FileTextRow)
    def get(self, request: Request, file_id: UUID) -> HttpResponse:
        """Read the text of a file, as agents read it."""
        file = get_file_for(request.user, file_id, FileVerb.SEE)
        return build_response(FileTextRow(text=file.text, is_cut=file.text_is_cut, state=file.state))


class FileContent(APIView):
    @extend_schema(operation_id="download_file", responses={(200, "*/*"): OpenApiTypes.BINARY})
    def get(self, request: Request, file_id: UUID) -> HttpResponseBase:
        """Download the content of a file.

        It is always a download: what a person has uploaded is never shown by the browser as a page of ours."""
        file = get_file_for(request.user, file_id, FileVerb.SEE)
        return _serve(file.content, content_type=file.content_type, name=file.name)


class FileThumbnail(APIView):
    @extend_schema(operation_id="read_file_thumbnail", responses={(200, "image/webp"): OpenApiTypes.BINARY})
    def get(self, request: Request, file_id: UUID) -> HttpResponseBase:
        """Download the thumbnail of a picture."""
        file = get_file_for(request.user, file_id, FileVerb.SEE)
        if not file.thumbnail:
            raise NotFound("This file has no thumbnail.")
        return _serve(file.thumbnail, content_type="image/webp")


def _serve(content: FieldFile, *, content_type: str, name: str = "") -> HttpResponseBase:
    """Return the response with stored content; with a name, as a download of that name.

    Where `FILES_ACCEL_PATH` is set, the proxy sends the content itself.
    """
    response: HttpResponseBase
    if settings.FILES_ACCEL_PATH:
        response = HttpResponse(content_type=content_type)
        response["X-Accel-Redirect"] = f"{settings.FILES_ACCEL_PATH}{quote(str(content.name))}"
    else:
        try:
            response = FileResponse(content.open("rb"), content_type=content_type)
        except FileNotFoundError as error:
            raise NotFound("The content of this file is missing.") from error
        response["Content-Length"] = content.size
    if name:
        response["Content-Disposition"] = f"attachment; filename*=UTF-8''{quote(name, safe='')}"
    else:
        response["Content-Disposition"] = "inline"
    response["Cache-Control"] = IMMUTABLE
    response["Content-Security-Policy"] = "sandbox; default-src 'none'"
    response["X-Content-Type-Options"] = "nosniff"
    return response

"""Chats and messages."""

from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.views import APIView

from actors.rates import Bucket
from chats import services as chats
from chats.api.bodies import (
    ChatBody,
    DeletionQuery,
    DirectChatBody,
    EditBody,
    MessageBody,
    MessagePageRow,
    MessagesQuery,
    MuteBody,
    NewChatBody,
    NewParticipantBody,
    ReadBody,
    ReadRow,
    ResponseBody,
    SearchQuery,
)
from chats.permissions import (
    ChatVerb,
    get_chat_for,
    get_message_for,
    get_message_to_list_revisions,
    list_readable_chats,
)
from chats.selectors import (
    MessageFilter,
    build_found_message,
    build_listed_chats,
    build_preview_rows,
    get_listed_chat,
    list_chats_between_agents,
    list_chats_with_activity,
    list_messages,
    list_other_answers,
    list_pinned_messages,
    load_titles,
    rank_messages,
    search_messages,
)
from chats.services.posting_limits import get_posting_buckets, remember_workspace
from common.database import use_custom_plans
from common.errors import NotFound
from common.paging import MAX_LARGE_ROWS, PAGE_PARAMETERS, answer_page, get_page
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
from common.text import to_storable
from events.payloads import FoundMessage
from events.rows import ListedChatRow, MessageRevisionRow, MessageRow, ParticipantRow
from workspaces.permissions import WorkspaceVerb, get_workspace_for


def _get_listed_chat(request: Request, chat_id: UUID) -> ListedChatRow:
    """Return the row of a chat for the list of chats. Raises `NotFound` if the reader may not see it."""
    row = get_listed_chat(actor=request.user, chat_id=chat_id)
    if row is None:
        raise NotFound("There is no such chat, or you may not see it.")
    return row


class Chats(APIView):
    agent_methods = ("GET",)

    @extend_schema(operation_id="list_chats", parameters=PAGE_PARAMETERS, responses=Page[ListedChatRow])
    def get(self, request: Request, workspace_id: UUID) -> HttpResponse:
        """List the reader's chats in a workspace."""
        get_workspace_for(request.user, workspace_id, WorkspaceVerb.SEE)
        rows = list_chats_with_activity(request.user, workspace_id)
        return answer_page(request, rows, by="-spoken_at", serialize=build_listed_chats)

    @extend_schema(operation_id="create_chat", request=NewChatBody, responses={201: ListedChatRow})
    def post(self, request: Request, workspace_id: UUID) -> HttpResponse:
        """Create a chat with people and agents."""
        body = read(request, NewChatBody)
        chat = chats.create_chat(request.user, workspace_id, title=body.title, actor_ids=body.actor_ids)
        return build_response(_get_listed_chat(request, chat.id), 201)


class DirectChats(APIView):
    @extend_schema(
        operation_id="open_direct_chat", request=DirectChatBody, responses={200: ListedChatRow, 201: ListedChatRow}
    )
    def post(self, request: Request, workspace_id: UUID) -> HttpResponse:
        """Open the direct chat of two, and create it if there is none."""
        body = read(request, DirectChatBody)
        chat, is_new = chats.open_direct_chat(request.user, workspace_id, body.actor_id, agent_id=body.agent_id)
        return build_response(_get_listed_chat(request, chat.id), 201 if is_new else 200)


class ChatsBetweenAgents(APIView):
    @extend_schema(operation_id="list_chats_between_agents", parameters=PAGE_PARAMETERS, responses=Page[ListedChatRow])
    def get(self, request: Request, workspace_id: UUID) -> HttpResponse:
        """List the chats between agents of a workspace."""
        get_workspace_for(request.user, workspace_id, WorkspaceVerb.SEE)
        rows = list_chats_between_agents(request.user, workspace_id)
        return answer_page(request, rows, by="-spoken_at", serialize=build_listed_chats)


class Hidden(APIView):
    @extend_schema(operation_id="hide_chat", request=None, responses={204: None})
    def put(self, request: Request, chat_id: UUID) -> HttpResponse:
        """Hide a direct chat from the reader's list until its next message."""
        chats.hide_direct_chat(request.user, chat_id)
        return build_empty_response()


class Muted(APIView):
    @extend_schema(operation_id="mute_chat", request=MuteBody, responses={204: None})
    def put(self, request: Request, chat_id: UUID) -> HttpResponse:
        """Mute a chat for the reader."""
        chats.mute_chat(request.user, chat_id, until=read(request, MuteBody).until)
        return build_empty_response()

    @extend_schema(operation_id="unmute_chat", responses={204: None})
    def delete(self, request: Request, chat_id: UUID) -> HttpResponse:
        """End that a chat is muted for the reader."""
        chats.unmute_chat(request.user, chat_id)
        return build_empty_response()


class Archived(APIView):
    @extend_schema(operation_id="archive_chat", request=None, responses={204: None})
    def put(self, request: Request, chat_id: UUID) -> HttpResponse:
        """Move a chat to the reader's archive until they are mentioned in it."""
        chats.archive_chat(request.user, chat_id)
        return build_empty_response()

    @extend_schema(operation_id="restore_chat", responses={204: None})
    def delete(self, request: Request, chat_id: UUID) -> HttpResponse:
        """Move a chat back from the reader's archive to their list."""
        chats.restore_chat(request.user, chat_id)
        return build_empty_response()


class OneChat(APIView):
    agent_methods = ("GET",)

    @extend_schema(operation_id="read_chat", responses=ListedChatRow)
    def get(self, request: Request, chat_id: UUID) -> HttpResponse:
        """Read a chat."""
        return build_response(_get_listed_chat(request, chat_id))

    @extend_schema(operation_id="rename_chat", request=ChatBody, responses=ListedChatRow)
    def patch(self, request: Request, chat_id: UUID) -> HttpResponse:
        """Change the title of a chat."""
        body = read(request, ChatBody)
        chats.rename_chat(request.user, chat_id, title=body.title)
        return build_response(_get_listed_chat(request, chat_id))


class Messages(APIView):
    agent_methods = ("GET", "POST")

    def buckets(self, request: Request) -> list[Bucket]:
        return get_posting_buckets(request.user.pk, self.kwargs["chat_id"]) if request.method == "POST" else []

    @extend_schema(
        operation_id="list_messages", parameters=build_query_parameters(MessagesQuery), responses=MessagePageRow
    )
    def get(self, request: Request, chat_id: UUID) -> HttpResponse:
        """List the messages of a chat. The first page has the newest."""
        query = read_query(request, MessagesQuery)
        chat = get_chat_for(request.user, chat_id, ChatVerb.SEE)
        page = list_messages(chat=chat, before=query.before, after=query.after, around=query.around, limit=query.limit)
        return build_response(
            MessagePageRow(
                results=[message.to_row() for message in page.messages],
                other_answers=[message.to_row() for message in list_other_answers(chat, page)],
                before=page.before,
                after=page.after,
            )
        )

    @extend_schema(operation_id="post_message", request=MessageBody, responses={200: MessageRow, 201: MessageRow})
    def post(self, request: Request, chat_id: UUID) -> HttpResponse:
        """Post a message. The agents that it addresses answer."""
        body = read(request, MessageBody)
        message, is_new = chats.post_message(
            request.user, chat_id, id=body.id, text=body.text, reply_to=body.reply_to, wake=body.wake
        )
        remember_workspace(request.user.pk, chat_id, message.chat.workspace_id)
        return build_response(message.to_row(), 201 if is_new else 200)


class OneMessage(APIView):
    agent_methods = ("GET",)

    def buckets(self, request: Request) -> list[Bucket]:
        # An edit takes from the bucket of the author only: the chat, and with it the workspace, is not known before a query.
        return [("posts", request.user.pk)] if request.method == "PATCH" else []

    @extend_schema(operation_id="read_message", responses=MessageRow)
    def get(self, request: Request, message_id: UUID) -> HttpResponse:
        """Read a message by its id."""
        return build_response(get_message_for(request.user, message_id).to_row())

    @extend_schema(operation_id="edit_message", request=EditBody, responses=MessageRow)
    def patch(self, request: Request, message_id: UUID) -> HttpResponse:
        """Edit one of the reader's own messages. Its earlier text is kept."""
        body = read(request, EditBody)
        message = chats.edit_message(
            request.user, message_id, text=body.text, edited_at=body.edited_at, wake_ids=frozenset(body.wake_ids)
        )
        return build_response(message.to_row())

    @extend_schema(
        operation_id="delete_message",
        parameters=build_query_parameters(DeletionQuery),
        request=None,
        responses={200: MessageRow},
    )
    def delete(self, request: Request, message_id: UUID) -> HttpResponse:
        """Delete a message for everybody. Its place in the log remains."""
        query = read_query(request, DeletionQuery)
        message = chats.delete_message(request.user, message_id, stop_runs=query.stop_runs)
        return build_response(message.to_row())


class MessageRevisions(APIView):
    @extend_schema(
        operation_id="list_message_revisions", parameters=PAGE_PARAMETERS, responses=Page[MessageRevisionRow]
    )
    def get(self, request: Request, message_id: UUID) -> HttpResponse:
        """List the earlier texts of a message, the last one first. Those of a deleted message are listed for editors only."""
        message = get_message_to_list_revisions(request.user, message_id)
        return answer_page(request, message.revisions.all(), by="-replaced_at", max_rows=MAX_LARGE_ROWS)


class Pin(APIView):
    agent_methods = ("PUT", "DELETE")

    def buckets(self, request: Request) -> list[Bucket]:
        return get_posting_buckets(request.user.pk, self.kwargs["chat_id"]) if request.method == "PUT" else []

    @extend_schema(operation_id="pin_message", request=None, responses=MessageRow)
    def put(self, request: Request, chat_id: UUID, message_id: UUID) -> HttpResponse:
        """Pin a message for everybody in the chat."""
        return build_response(chats.pin_message(request.user, chat_id, message_id).to_row())

    @extend_schema(operation_id="unpin_message", request=None, responses={200: MessageRow})
    def delete(self, request: Request, chat_id: UUID, message_id: UUID) -> HttpResponse:
        """Unpin a message."""
        return build_response(chats.unpin_message(request.user, chat_id, message_id).to_row())


class OwnReaction(APIView):
    """A reaction of the reader to a message."""

    agent_methods = ("PUT", "DELETE")

    def buckets(self, request: Request) -> list[Bucket]:
        return get_posting_buckets(request.user.pk, self.kwargs["chat_id"]) if request.method == "PUT" else []

    @extend_schema(operation_id="add_reaction", request=None, responses=MessageRow)
    def put(self, request: Request, chat_id: UUID, message_id: UUID, emoji: str) -> HttpResponse:
        """React to a message with an emoji. A second time changes nothing."""
        return build_response(chats.add_reaction(request.user, chat_id, message_id, emoji).to_row())

    @extend_schema(operation_id="remove_reaction", request=None, responses={200: MessageRow})
    def delete(self, request: Request, chat_id: UUID, message_id: UUID, emoji: str) -> HttpResponse:
        """Remove one's own reaction."""
        return build_response(chats.remove_reaction(request.user, chat_id, message_id, emoji).to_row())


class Pins(APIView):
    """The pinned messages of a chat, the last pinned first. Their texts are shortened, as that of a chat's last message."""

    agent_methods = ("GET",)

    @extend_schema(operation_id="list_pins", parameters=PAGE_PARAMETERS, responses=Page[MessageRow])
    def get(self, request: Request, chat_id: UUID) -> HttpResponse:
        """List the pinned messages of a chat, the last pinned first. Their texts are shortened."""
        chat = get_chat_for(request.user, chat_id, ChatVerb.SEE)
        return answer_page(request, list_pinned_messages(chat), by="-pinned_at", serialize=build_preview_rows)


class FoundMessages(APIView):
    @extend_schema(
        operation_id="search_messages", parameters=build_query_parameters(SearchQuery), responses=Page[FoundMessage]
    )
    def get(self, request: Request, workspace_id: UUID) -> HttpResponse:
        """Search the messages of the reader's chats in a workspace."""
        query = read_query(request, SearchQuery)
        workspace = get_workspace_for(request.user, workspace_id, WorkspaceVerb.SEE)
        searched_chats = list_readable_chats(request.user).filter(workspace_id=workspace_id)
        if query.chat_id is not None:
            searched_chats = searched_chats.filter(pk=get_chat_for(request.user, query.chat_id, ChatVerb.SEE).pk)
        only = MessageFilter(
            author_id=query.author_id,
            kind=query.kind,
            starts_on=query.starts_on,
            ends_on=query.ends_on,
            time_zone=workspace.time_zone,
            has_file=query.has_file,
        )
        words = to_storable(query.q)
        with use_custom_plans():
            found = search_messages(searched_chats, words, only)
            if query.order == "best":
                page, cursor = get_page(rank_messages(found, words), query, by="-score")
            else:
                page, cursor = get_page(found, query, by="-created_at")
        load_titles(request.user, [message.chat for message in page])
        return build_list_response([build_found_message(message, words) for message in page], cursor)


class Participants(APIView):
    agent_methods = ("GET",)

    @extend_schema(operation_id="list_participants", parameters=PAGE_PARAMETERS, responses=Page[ParticipantRow])
    def get(self, request: Request, chat_id: UUID) -> HttpResponse:
        """List the people and agents of a chat."""
        chat = get_chat_for(request.user, chat_id, ChatVerb.SEE)
        participants = chat.participants.filter(ended_at=None).select_related("actor")
        return answer_page(request, participants, by="joined_at")

    @extend_schema(operation_id="add_participant", request=NewParticipantBody, responses={201: ParticipantRow})
    def post(self, request: Request, chat_id: UUID) -> HttpResponse:
        """Add a person or an agent to a chat."""
        body = read(request, NewParticipantBody)
        return build_response(chats.add_participant(request.user, chat_id, body.actor_id).to_row(), 201)


class OneParticipant(APIView):
    @extend_schema(operation_id="set_response", request=ResponseBody, responses=ParticipantRow)
    def patch(self, request: Request, chat_id: UUID, actor_id: UUID) -> HttpResponse:
        """Set which messages of a chat an agent answers."""
        body = read(request, ResponseBody)
        return build_response(chats.set_response(request.user, chat_id, actor_id, response=body.response).to_row())

    @extend_schema(operation_id="remove_participant", responses={204: None})
    def delete(self, request: Request, chat_id: UUID, actor_id: UUID) -> HttpResponse:
        """Remove a person or an agent from a chat, or leave it."""
        chats.remove_participant(request.user, chat_id, actor_id)
        return build_empty_response()


class Read(APIView):
    agent_methods = ("PUT",)

    @extend_schema(operation_id="mark_read", request=ReadBody, responses=ReadRow)
    def put(self, request: Request, chat_id: UUID) -> HttpResponse:
        """Mark the messages of a chat as read, up to a number."""
        body = read(request, ReadBody)
        return build_response(ReadRow(last_read_seq=chats.mark_read(request.user, chat_id, seq=body.seq)))

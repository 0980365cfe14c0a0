"""Routes of this app's API."""

from django.urls import path

from chats.api import links, thumbs, views

urlpatterns = [
    path("workspaces/<uuid:workspace_id>/chats", views.Chats.as_view()),
    path("workspaces/<uuid:workspace_id>/messages", views.FoundMessages.as_view()),
    path("workspaces/<uuid:workspace_id>/direct-chats", views.DirectChats.as_view()),
    path("workspaces/<uuid:workspace_id>/chats-between-agents", views.ChatsBetweenAgents.as_view()),
    path("chats/<uuid:chat_id>/hidden", views.Hidden.as_view()),
    path("chats/<uuid:chat_id>/muted", views.Muted.as_view()),
    path("chats/<uuid:chat_id>/archived", views.Archived.as_view()),
    path("chats/<uuid:chat_id>", views.OneChat.as_view()),
    path("chats/<uuid:chat_id>/messages", views.Messages.as_view()),
    path("chats/<uuid:chat_id>/messages/<uuid:message_id>/pin", views.Pin.as_view()),
    path("chats/<uuid:chat_id>/messages/<uuid:message_id>/reactions/<str:emoji>", views.OwnReaction.as_view()),
    path("chats/<uuid:chat_id>/messages/<uuid:message_id>/thumb", thumbs.OneThumb.as_view()),
    path("chats/<uuid:chat_id>/thumbs", thumbs.OwnThumbs.as_view()),
    path("messages/<uuid:message_id>", views.OneMessage.as_view()),
    path("messages/<uuid:message_id>/revisions", views.MessageRevisions.as_view()),
    path("chats/<uuid:chat_id>/pins", views.Pins.as_view()),
    path("chats/<uuid:chat_id>/participants", views.Participants.as_view()),
    path("chats/<uuid:chat_id>/participants/<uuid:actor_id>", views.OneParticipant.as_view()),
    path("chats/<uuid:chat_id>/read", views.Read.as_view()),
    path("chats/<uuid:chat_id>/links", links.Links.as_view()),
    path("workspaces/<uuid:workspace_id>/members/<uuid:actor_id>/links", links.MemberLinks.as_view()),
    path("links/<uuid:link_id>", links.OneLink.as_view()),
    path("join/<str:token>", links.Join.as_view()),
]

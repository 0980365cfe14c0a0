"""Routes of this app's API."""

from django.urls import path

from actors.api import views

urlpatterns = [
    path("me", views.Me.as_view()),
    path("me/sessions", views.Sessions.as_view()),
    path("me/tokens", views.Tokens.as_view()),
    path("me/tokens/<uuid:token_id>", views.OneToken.as_view()),
]

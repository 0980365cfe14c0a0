"""Routes of this app's API."""

from django.urls import path

from actors.api import client_errors, views

urlpatterns = [
    path("client-errors", client_errors.ClientErrors.as_view()),
    path("me/email", views.Email.as_view()),
    path("email-confirmations", views.EmailConfirmations.as_view()),
    path("sign-up", views.SignUpMode.as_view()),
    path("me/sessions", views.Sessions.as_view()),
    path("me/viewings", views.OwnViewings.as_view()),
    path("me/viewing", views.CurrentViewing.as_view()),
    path("me/tokens", views.ApiTokens.as_view()),
    path("me/tokens/<uuid:token_id>", views.OneToken.as_view()),
]

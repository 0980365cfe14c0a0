"""Routes of the operations of allauth that the web app and other clients use. allauth's other operations have no route."""

from allauth.headless.account import views
from allauth.headless.base.views import ConfigView
from allauth.headless.constants import Client
from django.urls import path

from actors.api.sign_in import PasswordSignIn, RequestPasswordReset, SignUp

PATHS = {
    "config": ConfigView,
    "auth/session": views.SessionView,
    "auth/login": PasswordSignIn,
    "auth/signup": SignUp,
    "auth/password/request": RequestPasswordReset,
    "auth/password/reset": views.ResetPasswordView,
    "account/password/change": views.ChangePasswordView,
}

urlpatterns = [
    path(
        f"{client.value}/v1/{where}", view.as_api_view(client=client), name=f"{client.value}-{where.replace('/', '-')}"
    )
    for client in (Client.BROWSER, Client.APP)
    for where, view in PATHS.items()
]

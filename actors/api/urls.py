"""Routes of this app's API."""

from django.urls import path

from actors.api import views

urlpatterns = [path("me", views.Me.as_view())]

"""Routes of this app's API."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []

"""Routes of this app's API."""

from django.urls import path

from notifications.api import views

urlpatterns = [
    path("notifications", views.Notifications.as_view()),
    path("notifications/count", views.Unread.as_view()),
    path("notifications/read", views.Seen.as_view()),
]

"""Routes of this app's API."""

from django.urls import path

from notifications.api import views

urlpatterns = [
    path("notifications", views.Notifications.as_view()),
    path("notifications/count", views.UnreadCount.as_view()),
    path("notifications/read", views.MarkNotificationsRead.as_view()),
]

"""URLs of schedules."""

from django.urls import path

from schedules.api import views

urlpatterns = [
    path("agents/<uuid:agent_id>/schedules", views.Schedules.as_view()),
    path("chats/<uuid:chat_id>/agents/<uuid:agent_id>/schedules", views.NewSchedule.as_view()),
    path("schedules/preview", views.Preview.as_view()),
    path("schedules/<uuid:schedule_id>", views.OneSchedule.as_view()),
    path("schedules/<uuid:schedule_id>/run", views.RunNow.as_view()),
]

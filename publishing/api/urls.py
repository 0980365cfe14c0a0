"""Routes of this app's API."""

from django.urls import path

from publishing.api import views

PUBLIC_AGENT = "directory/<str:handle>"
AGENT = "agents/<uuid:agent_id>"

urlpatterns = [
    path("directory", views.Directory.as_view()),
    path(PUBLIC_AGENT, views.OnePublicAgent.as_view()),
    path(f"{PUBLIC_AGENT}/try", views.TryPublicAgent.as_view()),
    path(f"{PUBLIC_AGENT}/reports", views.ReportPublicAgent.as_view()),
    path(f"{PUBLIC_AGENT}/takedown", views.Takedown.as_view()),
    path(f"{AGENT}/publish", views.Publish.as_view()),
    path(f"{AGENT}/publication", views.Publication.as_view()),
    path(f"{AGENT}/publication/listing-check", views.ListingCheck.as_view()),
    path(f"{AGENT}/publication/use", views.PublicUse.as_view()),
]

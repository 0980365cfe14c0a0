"""Routes of this app's API."""

from django.urls import path

from webhooks.api import views

WEBHOOK = "agents/<uuid:agent_id>/webhooks/<uuid:webhook_id>"

urlpatterns = [
    path("agents/me", views.OwnAgent.as_view()),
    path("agents/me/wakes", views.AgentWakes.as_view()),
    path("agents/<uuid:agent_id>/access", views.AgentAccess.as_view()),
    path("agents/<uuid:agent_id>/tokens", views.AgentTokens.as_view()),
    path("agents/<uuid:agent_id>/tokens/<uuid:token_id>", views.OneAgentToken.as_view()),
    path("agents/<uuid:agent_id>/webhooks", views.Webhooks.as_view()),
    path(WEBHOOK, views.OneWebhook.as_view()),
    path(f"{WEBHOOK}/secret", views.WebhookSecret.as_view()),
    path(f"{WEBHOOK}/deliveries", views.Deliveries.as_view()),
    path(f"{WEBHOOK}/deliveries/<uuid:delivery_id>", views.OneDelivery.as_view()),
]

"""The access of outside programs to an agent, and what an agent reads about itself."""

from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.views import APIView

from actors.auth import BySession, SignedIn
from actors.models import ApiToken
from actors.rates import Bucket
from agents.permissions import AgentVerb, get_agent_for
from common.errors import Forbidden
from common.paging import PAGE_PARAMETERS, answer_page
from common.rest import (
    Page,
    Request,
    build_empty_response,
    build_list_response,
    build_query_parameters,
    build_response,
    read,
    read_query,
)
from events.rows import ApiTokenRow, DeliveryRow, WakeRow, WebhookRow
from webhooks import services as webhooks
from webhooks.api.bodies import (
    AccessBody,
    AccessRow,
    AgentSelfRow,
    AgentTokenBody,
    EnabledBody,
    NewAgentTokenRow,
    NewSecretRow,
    WakesQuery,
    WebhookBody,
)
from webhooks.models import Delivery, Webhook
from webhooks.permissions import get_webhook_for
from webhooks.selectors import list_unread_wakes

MAX_WAKES = 100
"""Wakes in one answer."""


class OwnAgent(APIView):
    agent_methods = ("GET",)

    @extend_schema(operation_id="read_own_agent", responses=AgentSelfRow)
    def get(self, request: Request) -> HttpResponse:
        """Read the agent whose token sends the request."""
        agent = request.user
        if not agent.is_agent or agent.workspace_id is None:
            raise Forbidden("This is for the tokens of agents.")
        row = AgentSelfRow(actor=agent.to_row(), workspace_id=agent.workspace_id, runs_outside=agent.runs_outside)
        return build_response(row)


class AgentWakes(APIView):
    agent_methods = ("GET",)

    @extend_schema(operation_id="list_wakes", parameters=build_query_parameters(WakesQuery), responses=Page[WakeRow])
    def get(self, request: Request) -> HttpResponse:
        """List the wakes of the agent whose token sends the request, as its webhook receives them."""
        query = read_query(request, WakesQuery)
        wakes = list_unread_wakes(request.user).order_by("pk")
        if query.after is not None:
            wakes = wakes.filter(pk__gt=query.after)
        return build_list_response([wake.to_row() for wake in wakes[:MAX_WAKES]], None)


class AgentAccess(APIView):
    permission_classes = (SignedIn, BySession)

    @extend_schema(operation_id="read_access", responses=AccessRow)
    def get(self, request: Request, agent_id: UUID) -> HttpResponse:
        """Read whether an outside program answers for an agent."""
        agent = get_agent_for(request.user, agent_id, AgentVerb.SET_ACCESS)
        return build_response(AccessRow(runs_outside=agent.runs_outside))

    @extend_schema(operation_id="set_access", request=AccessBody, responses=AccessRow)
    def patch(self, request: Request, agent_id: UUID) -> HttpResponse:
        """Set whether an outside program answers for an agent."""
        body = read(request, AccessBody)
        agent = webhooks.set_access(request.user, agent_id, runs_outside=body.runs_outside)
        return build_response(AccessRow(runs_outside=agent.runs_outside))


class AgentTokens(APIView):
    permission_classes = (SignedIn, BySession)

    @extend_schema(operation_id="list_agent_tokens", parameters=PAGE_PARAMETERS, responses=Page[ApiTokenRow])
    def get(self, request: Request, agent_id: UUID) -> HttpResponse:
        """List the API tokens of an agent."""
        agent = get_agent_for(request.user, agent_id, AgentVerb.SET_ACCESS)
        return answer_page(request, ApiToken.unrevoked.filter(actor=agent), by="-created_at")

    @extend_schema(operation_id="create_agent_token", request=AgentTokenBody, responses={201: NewAgentTokenRow})
    def post(self, request: Request, agent_id: UUID) -> HttpResponse:
        """Create an API token of an agent. Only this answer has its secret."""
        body = read(request, AgentTokenBody)
        token, secret = webhooks.create_agent_token(
            request.user, agent_id, name=body.name, days=body.days, scope=body.scope
        )
        return build_response(NewAgentTokenRow(token=token.to_row(), secret=secret), 201)


class OneAgentToken(APIView):
    permission_classes = (SignedIn, BySession)

    @extend_schema(operation_id="revoke_agent_token", responses={204: None})
    def delete(self, request: Request, agent_id: UUID, token_id: UUID) -> HttpResponse:
        """Revoke an API token of an agent."""
        webhooks.revoke_agent_token(request.user, agent_id, token_id)
        return build_empty_response()


class Webhooks(APIView):
    permission_classes = (SignedIn, BySession)

    @extend_schema(operation_id="list_webhooks", parameters=PAGE_PARAMETERS, responses=Page[WebhookRow])
    def get(self, request: Request, agent_id: UUID) -> HttpResponse:
        """List the webhooks of an agent."""
        agent = get_agent_for(request.user, agent_id, AgentVerb.SET_ACCESS)
        return answer_page(request, Webhook.objects.filter(agent=agent), by="created_at")

    @extend_schema(operation_id="create_webhook", request=WebhookBody, responses={201: NewSecretRow})
    def post(self, request: Request, agent_id: UUID) -> HttpResponse:
        """Create a webhook of an agent. Only this answer has its secret."""
        body = read(request, WebhookBody)
        webhook, secret = webhooks.create_webhook(request.user, agent_id, url=body.url)
        return build_response(NewSecretRow(webhook=webhook.to_row(), secret=secret.reveal()), 201)


class OneWebhook(APIView):
    permission_classes = (SignedIn, BySession)

    @extend_schema(operation_id="set_webhook_enabled", request=EnabledBody, responses=WebhookRow)
    def patch(self, request: Request, agent_id: UUID, webhook_id: UUID) -> HttpResponse:
        """Switch a webhook of an agent on or off."""
        body = read(request, EnabledBody)
        webhook = webhooks.set_enabled(request.user, agent_id, webhook_id, is_enabled=body.is_enabled)
        return build_response(webhook.to_row())

    @extend_schema(operation_id="delete_webhook", responses={204: None})
    def delete(self, request: Request, agent_id: UUID, webhook_id: UUID) -> HttpResponse:
        """Delete a webhook of an agent."""
        webhooks.delete_webhook(request.user, agent_id, webhook_id)
        return build_empty_response()


class WebhookSecret(APIView):
    permission_classes = (SignedIn, BySession)

    @extend_schema(operation_id="rotate_webhook_secret", request=None, responses=NewSecretRow)
    def post(self, request: Request, agent_id: UUID, webhook_id: UUID) -> HttpResponse:
        """Replace the secret of a webhook. Only this answer has the new one."""
        webhook, secret = webhooks.rotate_secret(request.user, agent_id, webhook_id)
        return build_response(NewSecretRow(webhook=webhook.to_row(), secret=secret.reveal()))


class Deliveries(APIView):
    permission_classes = (SignedIn, BySession)

    def buckets(self, request: Request) -> list[Bucket]:
        return [("jobs", request.user.pk)] if request.method == "POST" else []

    @extend_schema(operation_id="list_deliveries", parameters=PAGE_PARAMETERS, responses=Page[DeliveryRow])
    def get(self, request: Request, agent_id: UUID, webhook_id: UUID) -> HttpResponse:
        """List the last deliveries of a webhook."""
        webhook = get_webhook_for(request.user, agent_id, webhook_id)
        return answer_page(request, Delivery.objects.filter(webhook=webhook), by="-created_at")

    @extend_schema(operation_id="send_webhook_test", request=None, responses={202: DeliveryRow})
    def post(self, request: Request, agent_id: UUID, webhook_id: UUID) -> HttpResponse:
        """Send a test event to a webhook."""
        return build_response(webhooks.send_test(request.user, agent_id, webhook_id).to_row(), 202)


class OneDelivery(APIView):
    permission_classes = (SignedIn, BySession)
    person_buckets = ("jobs",)

    @extend_schema(operation_id="send_delivery_again", request=None, responses={202: DeliveryRow})
    def post(self, request: Request, agent_id: UUID, webhook_id: UUID, delivery_id: UUID) -> HttpResponse:
        """Send a delivery of a webhook again."""
        delivery = webhooks.send_again(request.user, agent_id, webhook_id, delivery_id)
        return build_response(delivery.to_row(), 202)

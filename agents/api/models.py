"""Which models are to be had here, and whether one answers."""

from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.views import APIView

from agents.api.bodies import OfferRow, TestedRow
from agents.services import model_trial
from common.rest import Page, Request, answer, answer_list, read
from common.secrets import Secret
from workspaces.api.views import ModelBody
from workspaces.permissions import WorkspaceVerb, get_workspace_for


class Offers(APIView):
    @extend_schema(operation_id="list_model_offers", responses=Page[OfferRow])
    def get(self, request: Request) -> HttpResponse:
        return answer_list(
            OfferRow(provider=offer.provider, api_base=offer.api_base, label=offer.label, models=list(offer.models))
            for offer in model_trial.offers()
        )


class Test(APIView):
    @extend_schema(operation_id="test_model", request=ModelBody, responses=TestedRow)
    def post(self, request: Request, workspace_id: UUID) -> HttpResponse:
        body = read(request, ModelBody)
        workspace = get_workspace_for(request.user, workspace_id, WorkspaceVerb.SET_MODEL)
        tested = model_trial.ask_worker(
            workspace=workspace, provider=body.provider, api_base=body.api_base, default_model=body.default_model,
            key=None if body.key is None else Secret(body.key),
        )  # fmt: skip
        return answer(TestedRow(ok=tested.ok, message=tested.message, seconds=tested.seconds))

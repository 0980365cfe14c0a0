"""Views of the models that can be chosen, and of model tests."""

from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.views import APIView

from common.providers import PROVIDERS
from common.rest import Page, Request, build_list_response, build_response, read
from common.secrets import Secret
from llm import model_tests
from llm.api.bodies import ModelTestBody, ModelTestRow, OfferRow, ProviderFieldRow, ProviderRow


class Offers(APIView):
    @extend_schema(operation_id="list_model_offers", responses=Page[OfferRow])
    def get(self, request: Request) -> HttpResponse:
        return build_list_response(
            OfferRow(provider=offer.provider, api_base=offer.api_base, label=offer.label, models=list(offer.models))
            for offer in model_tests.list_offers(request.user)
        )


class Providers(APIView):
    @extend_schema(operation_id="list_model_providers", responses=Page[ProviderRow])
    def get(self, request: Request) -> HttpResponse:
        return build_list_response(
            ProviderRow(
                name=provider.name,
                label=provider.label,
                fields=[
                    ProviderFieldRow(
                        name=field.name,
                        label=field.label,
                        is_required=field.is_required,
                        default=field.default,
                        example=field.example,
                    )
                    for field in provider.fields
                ],
                usual_model=provider.usual_model,
                model_label=provider.model_label,
                lists_models=provider.models_from != "none",
            )
            for provider in PROVIDERS.values()
        )


class ModelTests(APIView):
    person_buckets = ("jobs",)

    @extend_schema(operation_id="test_model", request=ModelTestBody, responses={202: ModelTestRow})
    def post(self, request: Request, workspace_id: UUID) -> HttpResponse:
        body = read(request, ModelTestBody)
        test = model_tests.start_model_test(
            request.user,
            workspace_id,
            provider=body.provider,
            api_base=body.api_base,
            options=body.options,
            default_model=body.default_model,
            key=None if body.key is None else Secret(body.key),
        )
        return build_response(_build_row(test), 202)


class OneModelTest(APIView):
    @extend_schema(operation_id="read_model_test", responses=ModelTestRow)
    def get(self, request: Request, workspace_id: UUID, test_id: UUID) -> HttpResponse:
        return build_response(_build_row(model_tests.get_model_test(request.user, workspace_id, test_id)))


def _build_row(test: model_tests.ModelTest) -> ModelTestRow:
    return ModelTestRow.model_validate(test, from_attributes=True)

"""The models that can be chosen, those of workspaces and people, and model tests."""

from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.views import APIView

from common.providers import PROVIDERS
from common.rest import Page, Request, build_empty_response, build_list_response, build_response, read
from events.rows import LLMProfileRow, ModelPolicyRow, ModelRow
from llm import model_tests, services
from llm.api.bodies import (
    ModelBody,
    ModelPolicyBody,
    ModelTestBody,
    ModelTestRow,
    OfferRow,
    ProviderFieldRow,
    ProviderRow,
)
from llm.rows import build_llm_profile_row, build_model_policy_row
from workspaces import services as workspaces
from workspaces.models import Credential
from workspaces.permissions import WorkspaceVerb, get_workspace_for
from workspaces.rows import build_model_row


class Offers(APIView):
    @extend_schema(operation_id="list_model_offers", responses=Page[OfferRow])
    def get(self, request: Request) -> HttpResponse:
        """List the models that a workspace can use without a key."""
        return build_list_response(
            OfferRow(provider=offer.provider, api_base=offer.api_base, label=offer.label, models=list(offer.models))
            for offer in model_tests.list_offers(request.user)
        )


class Providers(APIView):
    @extend_schema(operation_id="list_model_providers", responses=Page[ProviderRow])
    def get(self, request: Request) -> HttpResponse:
        """List the providers of models, with the settings of each."""
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


class Model(APIView):
    @extend_schema(operation_id="read_model", responses=ModelRow)
    def get(self, request: Request, workspace_id: UUID) -> HttpResponse:
        """Read the model of a workspace."""
        workspace = get_workspace_for(request.user, workspace_id, WorkspaceVerb.SEE)
        return build_response(build_model_row(Credential.objects.filter(workspace=workspace).first()))

    @extend_schema(operation_id="set_model", request=ModelBody, responses=ModelRow)
    def put(self, request: Request, workspace_id: UUID) -> HttpResponse:
        """Set the model of a workspace."""
        body = read(request, ModelBody)
        credential = workspaces.set_model(
            request.user,
            workspace_id,
            **_read_settings(body),
            revision=body.revision,
            context_size=body.context_size,
        )
        return build_response(build_model_row(credential))


class ModelPolicy(APIView):
    @extend_schema(operation_id="read_model_policy", responses=ModelPolicyRow)
    def get(self, request: Request, workspace_id: UUID) -> HttpResponse:
        """Read whether members may use their own models in a workspace."""
        workspace = get_workspace_for(request.user, workspace_id, WorkspaceVerb.SEE)
        return build_response(build_model_policy_row(request.user, workspace))

    @extend_schema(operation_id="set_model_policy", request=ModelPolicyBody, responses=ModelPolicyRow)
    def put(self, request: Request, workspace_id: UUID) -> HttpResponse:
        """Set whether members may use their own models in a workspace."""
        body = read(request, ModelPolicyBody)
        workspace = workspaces.set_llm_profile_policy(
            request.user, workspace_id, allows_llm_profiles=body.allows_llm_profiles
        )
        return build_response(build_model_policy_row(request.user, workspace))


class OwnLLMProfile(APIView):
    @extend_schema(operation_id="read_llm_profile", responses=LLMProfileRow)
    def get(self, request: Request) -> HttpResponse:
        """Read the reader's own model."""
        return build_response(build_llm_profile_row(request.user))

    @extend_schema(operation_id="set_llm_profile", request=ModelBody, responses=LLMProfileRow)
    def put(self, request: Request) -> HttpResponse:
        """Set the reader's own model."""
        body = read(request, ModelBody)
        services.set_llm_profile(
            request.user, **_read_settings(body), revision=body.revision, context_size=body.context_size
        )
        return build_response(build_llm_profile_row(request.user))

    @extend_schema(operation_id="delete_llm_profile", responses={204: None})
    def delete(self, request: Request) -> HttpResponse:
        """Delete the reader's own model and its key."""
        services.delete_llm_profile(request.user)
        return build_empty_response()


class ModelTests(APIView):
    person_buckets = ("jobs",)

    @extend_schema(operation_id="test_model", request=ModelTestBody, responses={202: ModelTestRow})
    def post(self, request: Request, workspace_id: UUID) -> HttpResponse:
        """Start a test of a model, or list the models of a server."""
        body = read(request, ModelTestBody)
        return build_response(
            _build_row(model_tests.start_model_test(request.user, workspace_id, **_read_settings(body))), 202
        )


class OneModelTest(APIView):
    @extend_schema(operation_id="read_model_test", responses=ModelTestRow)
    def get(self, request: Request, workspace_id: UUID, test_id: UUID) -> HttpResponse:
        """Read the result of a test of a model."""
        return build_response(_build_row(model_tests.get_model_test(request.user, workspace_id, test_id)))


class LLMProfileTests(APIView):
    person_buckets = ("jobs",)

    @extend_schema(operation_id="test_llm_profile", request=ModelTestBody, responses={202: ModelTestRow})
    def post(self, request: Request) -> HttpResponse:
        """Start a test of the reader's own model."""
        body = read(request, ModelTestBody)
        return build_response(_build_row(model_tests.start_llm_profile_test(request.user, **_read_settings(body))), 202)


class OneLLMProfileTest(APIView):
    @extend_schema(operation_id="read_llm_profile_test", responses=ModelTestRow)
    def get(self, request: Request, test_id: UUID) -> HttpResponse:
        """Read the result of a test of the reader's own model."""
        return build_response(_build_row(model_tests.get_llm_profile_test(request.user, test_id)))


def _read_settings(body: ModelBody | ModelTestBody) -> model_tests.ModelSettingsInput:
    return {
        "provider": body.provider,
        "api_base": body.api_base,
        "options": body.options,
        "default_model": body.default_model,
        "key": body.secret,
    }


def _build_row(test: model_tests.ModelTest) -> ModelTestRow:
    return ModelTestRow.model_validate(test, from_attributes=True)

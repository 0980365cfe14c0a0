"""Building the rows of people's own models, and of who pays in a workspace."""

from actors.models import Actor
from common.errors import Invalid
from events.rows import LLMProfileRow, LLMProfileUseRow, ModelPolicyRow
from llm.endpoints import choose_model, explain_llm_profile, get_policy
from llm.models import LLMProfile
from workspaces.models import Workspace
from workspaces.permissions import workspaces_visible_to
from workspaces.rows import build_model_row


def build_llm_profile_row(person: Actor) -> LLMProfileRow:
    """Return the row of the person's own model, for this person only."""
    policy = get_policy()
    profile = LLMProfile.objects.filter(person=person).first()
    shown = profile or LLMProfile(person=person)
    workspaces = workspaces_visible_to(person).order_by("name", "pk")
    return LLMProfileRow(
        model=build_model_row(profile) if profile else None,
        is_allowed=policy.allows_llm_profiles and not policy.requires_system_model,
        allowed_providers=policy.allowed_providers,
        tested_at=shown.tested_at,
        test_code=shown.test_code,
        test_message=shown.test_message,
        failed_at=shown.failed_at,
        failure_code=shown.failure_code,
        failure_message=shown.failure_message,
        workspaces=[
            LLMProfileUseRow(
                workspace_id=workspace.id, name=workspace.name, reason=explain_llm_profile(policy, workspace, profile)
            )
            for workspace in workspaces
        ],
    )


def build_model_policy_row(person: Actor, workspace: Workspace) -> ModelPolicyRow:
    """Return the row of who pays in a workspace, as this person sees it."""
    policy = get_policy()
    try:
        # What holds in the chats that the person reads.
        choice = choose_model(workspace, person=person, is_reader=lambda: True)
    except Invalid:  # the operator offers no model
        choice = None
    return ModelPolicyRow(
        allows_llm_profiles=workspace.allows_llm_profiles,
        operator_allows_llm_profiles=policy.allows_llm_profiles,
        requires_system_model=policy.requires_system_model,
        paid_by=choice and choice.paid_by,
        payer_reason=choice and choice.reason,
        model=choice and choice.model,
    )

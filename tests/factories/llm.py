"""A factory of policies for models."""

from factory.django import DjangoModelFactory

from llm.models import LLMPolicy


class LLMPolicyFactory(DjangoModelFactory[LLMPolicy]):
    """A policy of the operator, with the defaults."""

    class Meta:
        model = LLMPolicy

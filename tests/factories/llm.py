"""Factories of people's own models and of policies for models."""

from factory.django import DjangoModelFactory

from llm.models import LLMPolicy, LLMProfile


class LLMProfileFactory(DjangoModelFactory[LLMProfile]):
    """The own model of `person`, without a key."""

    class Meta:
        model = LLMProfile

    provider = "openai"
    default_model = "gpt"


class LLMPolicyFactory(DjangoModelFactory[LLMPolicy]):
    """A policy of the operator, with the defaults."""

    class Meta:
        model = LLMPolicy

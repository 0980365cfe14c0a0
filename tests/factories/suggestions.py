"""Factories of suggestions and merges. Both are about the current version of `agent`, in `chat`."""

from factory.declarations import LazyAttribute, LazyFunction, SelfAttribute
from factory.django import DjangoModelFactory

from agents.specs.content import SpecContent
from common.ids import new_id
from suggestions.models import Merge, Suggestion


class SuggestionFactory(DjangoModelFactory[Suggestion]):
    """A pending suggestion of `author`. `prompt` is the proposed prompt."""

    class Meta:
        model = Suggestion

    class Params:
        prompt = "Newer"

    workspace = SelfAttribute("chat.workspace")
    base = SelfAttribute("agent.current_spec")
    content = LazyAttribute(lambda suggestion: SpecContent(prompt=suggestion.prompt).as_json())
    message_id = LazyFunction(new_id)


class MergeFactory(DjangoModelFactory[Merge]):
    """A merge by `by` that waits to be done."""

    class Meta:
        model = Merge

    workspace = SelfAttribute("chat.workspace")
    base = SelfAttribute("agent.current_spec")

"""Write the specs of agents."""

from actors.models import Actor
from agents.models import AgentSpec
from agents.specs.content import SpecContent
from events.rows import SpecOrigin
from llm.endpoints import check_model_offered


def write_spec(
    agent: Actor,
    content: SpecContent,
    *,
    author: Actor,
    origin: SpecOrigin,
    number: int | None = None,
    message: str = "",
    base_version: int | None = None,
) -> AgentSpec:
    """Insert a spec: a version if `number` is given, otherwise an applied draft.

    Raises `Invalid` (`model_unusable`) for a model that the workspace cannot use.
    """
    if agent.workspace_id is not None:
        check_model_offered(agent.workspace_id, content.model)
    return AgentSpec.objects.create(
        agent=agent,
        number=number,
        content=content.as_json(),
        message=message.strip()[:400],
        origin=origin,
        base_version=base_version,
        author=author,
    )

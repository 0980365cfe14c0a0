"""No field of a spec is lost: each one is filled by its JSON schema, and goes every way that a spec goes."""

from collections.abc import Callable, Collection
from typing import Any
from uuid import uuid4

import pytest

from actors.models import Actor
from agent_files import services as agent_files
from agents.models import AgentSpec, Draft, DraftSnapshot
from agents.permissions import get_production
from agents.rows import PUBLIC_FIELDS
from agents.selectors import find_version, get_draft_trial
from agents.services import drafts, specs, stored_specs
from agents.specs.content import SpecContent
from agents.specs.differences import diff, list_changed_parts
from agents.specs.fields import PROMPT
from agents.specs.merging import Contribution, merge_contributions
from events.rows import Contributor, SpecOrigin
from tests.api.test_rights import client_for
from tests.people import Team
from tests.publishing.publications import publish

pytestmark = pytest.mark.django_db

SCHEMA = SpecContent.model_json_schema()
CHECKED = {"tools.tool": "web_fetch", "tools.custom_config": {"retries": 1}, "team.members": ["browser"]}
"""Values that are checked against what there is in the installation."""
NOT_PUBLISHED = {"memory"}
"""Fields that a public copy has its own value of (`build_public_content`)."""


def build_value(schema: dict[str, Any], path: str) -> Any:
    """Return a value of this JSON schema that is not its default."""
    if path in CHECKED:
        return CHECKED[path]
    default = schema.get("default")
    if "$ref" in schema:
        schema = SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]]
    if "anyOf" in schema:
        return build_value(next(option for option in schema["anyOf"] if option.get("type") != "null"), path)
    if "enum" in schema:
        return next(value for value in schema["enum"] if value != default)
    match schema["type"]:
        case "object":
            return {name: build_value(field, f"{path}.{name}") for name, field in schema["properties"].items()}
        case "array":
            return [build_value(schema["items"], path)]
        case "boolean":
            return not default
        case "string":
            return "other"
        case "integer" | "number":
            return schema.get("minimum", schema.get("exclusiveMinimum", 0)) + 1
    raise AssertionError(f"{path}: extend `build_value` by {schema}.")


FULL = SpecContent.model_validate(
    {name: build_value(field, name) for name, field in SCHEMA["properties"].items()} | {PROMPT: "Other.\n"}
)


def list_paths(value: Any, path: str = "") -> dict[str, Any]:
    """Return all values of a spec as JSON by their paths. It does not use `flatten_spec`, which might forget a field."""
    if isinstance(value, dict) and value and path != "tools.0.custom_config":
        items = [(str(key), part) for key, part in value.items()]
    elif isinstance(value, list) and value:
        items = [(str(index), part) for index, part in enumerate(value)]
    else:
        return {path: value}
    return {name: part for key, item in items for name, part in list_paths(item, f"{path}.{key}".strip(".")).items()}


def list_lost_fields(found: SpecContent, *, but: Collection[str] = ()) -> list[str]:
    """Return the paths of the fields whose value is not that of `FULL`."""
    full, values = list_paths(FULL.as_json()), list_paths(found.as_json())
    return [
        path for path in full if path not in values or values[path] != full[path] and path.partition(".")[0] not in but
    ]


def test_each_field_is_filled_with_another_value_than_its_default():
    default = list_paths(SpecContent().as_json())
    assert [path for path, value in list_paths(FULL.as_json()).items() if default.get(path) == value] == []
    assert FULL.as_json().keys() == SpecContent.model_fields.keys()


# --- the ways of a spec -------------------------------------------------------------------------------------------


def draft_args(team: Team) -> dict[str, Any]:
    return {"actor": team.alice, "chat_id": team.chat.id, "agent_id": team.robin.id}


def save(team: Team, content: SpecContent = FULL) -> AgentSpec:
    """Save the content as the next version, by a draft."""
    draft = drafts.claim_draft(**draft_args(team), content=content)
    return drafts.save_draft(**draft_args(team), revision=draft.revision, base_version=draft.base_version)


def write_version(team: Team, content: SpecContent) -> None:
    """Save the content as version 2, while the draft stays on version 1."""
    robin = Actor.objects.get(pk=team.robin.pk)
    robin.current_spec = stored_specs.write_spec(robin, content, author=team.alice, origin=SpecOrigin.DRAFT, number=2)
    robin.save()


def read_version(team: Team) -> SpecContent:
    return find_version(team.robin, save(team).version).parse_content()


def read_row(team: Team) -> SpecContent:
    number = save(team).version
    row = client_for(team, "alice").ok("GET", f"agents/{team.robin.id}/versions/{number}")
    return SpecContent.model_validate(row["content"])


def read_draft(team: Team) -> SpecContent:
    return SpecContent.model_validate(drafts.claim_draft(**draft_args(team), content=FULL).to_row().written)


def read_applied_draft(team: Team) -> SpecContent:
    draft = drafts.claim_draft(**draft_args(team), content=FULL)
    row = drafts.apply_draft(**draft_args(team), revision=draft.revision).to_row()
    return SpecContent.model_validate(row.applied)


def restore(team: Team) -> SpecContent:
    save(team)
    save(team, SpecContent(prompt="Newest."))
    return specs.restore_version(team.alice, team.robin.id, 2, base_version=3).parse_content()


def merge(team: Team) -> SpecContent:
    base = get_production(team.robin).parse_content()
    contributor = Contributor(id=uuid4(), actor_id=team.bob.id, name="Bob")
    return merge_contributions(base, [Contribution(contributor, base, FULL)]).content


def rebase_on_other_version(team: Team) -> SpecContent:
    draft = drafts.claim_draft(**draft_args(team), content=FULL)
    write_version(team, get_production(team.robin).parse_content().model_copy(update={"model": "newer"}))
    rebased = drafts.rebase_draft(**draft_args(team), revision=draft.revision, merge_production=True)
    return rebased.parse_content()


def rebase_on_full_version(team: Team) -> SpecContent:
    draft = drafts.claim_draft(**draft_args(team))
    write_version(team, FULL)
    rebased = drafts.rebase_draft(**draft_args(team), revision=draft.revision, merge_production=True)
    return rebased.parse_content()


def export_and_import(team: Team) -> SpecContent:
    save(team)
    file = agent_files.export_agent(team.alice, team.robin.id, format="yaml")
    created = agent_files.import_agent(team.alice, team.workspace.id, text=file.text).created
    assert created is not None
    return get_production(created.agent).parse_content()


WAYS: list[Callable[[Team], SpecContent]] = [
    read_version,
    read_row,
    read_draft,
    read_applied_draft,
    restore,
    merge,
    rebase_on_other_version,
    rebase_on_full_version,
    export_and_import,
]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_no_field_is_lost(team, way):
    assert list_lost_fields(way(team)) == []


def test_a_public_copy_has_all_fields_but_those_of_its_own(team):
    save(team)
    team.robin.refresh_from_db()
    assert list_lost_fields(get_production(publish(team)).parse_content(), but=NOT_PUBLISHED) == []


def test_the_row_of_a_public_agent_has_no_text_for_people_elsewhere(team):
    save(team)
    team.robin.refresh_from_db()
    copy = publish(team)
    row = client_for(team, "charlie").ok("GET", f"agents/{copy.id}")
    found = SpecContent.model_validate(row["spec"]["content"])
    hidden = set(SpecContent.model_fields) - PUBLIC_FIELDS - {"tools"}
    assert found.model_dump(include=hidden) == SpecContent().model_dump(include=hidden)
    assert [use.model_dump(exclude_defaults=True) for use in found.tools] == [
        {"tool": FULL.tools[0].tool, "is_enabled": False}
    ]


def test_a_difference_names_every_field():
    changes = {change.field: change.after for change in diff(SpecContent(), FULL).fields}
    expected: dict[str, Any] = {}
    for name, value in FULL.as_json().items():
        if isinstance(value, dict):
            lists = {f"{name}.{key}": part for key, part in value.items() if isinstance(part, list)}
            expected |= {f"{name}.{key}": part for key, part in value.items() if not isinstance(part, list)}
            expected |= {f"{path}.{text}": text for path, texts in lists.items() for text in texts}
        elif isinstance(value, list):
            items = zip(getattr(FULL, name), value, strict=True)
            expected |= {f"{name}.{item.key}": part for item, part in items}
        elif name != PROMPT:
            expected[name] = value
    assert changes == expected
    assert list_changed_parts(SpecContent(), FULL) == list(SpecContent.model_fields)


# --- content that was stored before a field was added ---------------------------------------------------------------


@pytest.fixture
def old_draft(team):
    """A draft of Alice that is applied and equals production, stored by a release that had fewer fields."""
    draft = drafts.claim_draft(**draft_args(team))
    draft = drafts.apply_draft(**draft_args(team), revision=draft.revision)
    fields = {name: draft.written[name] for name in (PROMPT, "tools")}
    Draft.objects.update(written=fields)
    AgentSpec.objects.update(content=fields)
    draft.refresh_from_db()
    return draft


def test_a_field_that_was_added_is_no_difference_of_a_stored_draft(team, old_draft):
    assert get_draft_trial(team.alice, team.chat.id, team.robin.id).is_applied
    assert old_draft.to_row().written == old_draft.parse_content().as_json()
    rebased = drafts.rebase_draft(**draft_args(team), revision=old_draft.revision, merge_production=True)
    drafts.release_draft(**draft_args(team), revision=rebased.revision)
    drafts.claim_draft(**draft_args(team) | {"actor": team.bob})  # takes it over, without a snapshot of the same text
    assert not DraftSnapshot.objects.exists()


def test_a_stored_draft_that_equals_production_but_for_an_added_field_is_discarded_on_release(team, old_draft):
    Draft.objects.update(applied=None, applied_revision=None)
    AgentSpec.objects.filter(number=None).delete()
    draft = drafts.release_draft(**draft_args(team), revision=old_draft.revision)
    assert draft.outcome == "discarded"

"""The settings of tools are checked when a spec is written."""

import pytest

from agents.services.specs import check_content
from agents.specs.content import SpecContent, ToolUse
from common.errors import Invalid


def build_content(**custom_config: object) -> SpecContent:
    return SpecContent(tools=(ToolUse(tool="web_fetch", custom_config=custom_config),))


def test_valid_settings_are_accepted() -> None:
    check_content(build_content())
    check_content(build_content(timeout_s=5, retries=0, max_chars=500))


@pytest.mark.parametrize(
    ("custom", "hint"),
    [
        ({"timeout_s": 999}, "timeout_s: Input should be less than or equal to 120"),
        ({"max_chars": 20_000}, "max_chars: Input should be less than or equal to 19000"),
        ({"colour": "red"}, "colour: Extra inputs are not permitted"),
    ],
)
def test_invalid_settings_are_refused_with_their_names(custom: dict[str, object], hint: str) -> None:
    with pytest.raises(Invalid, match="The settings of the tool web_fetch do not fit") as refusal:
        check_content(build_content(**custom))
    assert refusal.value.hints == [hint]

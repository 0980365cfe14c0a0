"""A tool's settings are judged when they are saved, not when a run would need them."""

import pytest

from agents.services.specs import check_content
from agents.specs.content import SpecContent, ToolUse
from common.errors import Invalid


def uses(**custom_config: object) -> SpecContent:
    return SpecContent(tools=(ToolUse(tool="web_fetch", custom_config=custom_config),))


def test_settings_that_fit_are_taken() -> None:
    check_content(uses())
    check_content(uses(timeout_s=5, retries=0, max_chars=500))


@pytest.mark.parametrize(
    ("custom", "hint"),
    [
        ({"timeout_s": 999}, "timeout_s: Input should be less than or equal to 120"),
        ({"max_chars": 20_000}, "max_chars: Input should be less than or equal to 19000"),
        ({"colour": "red"}, "colour: Extra inputs are not permitted"),
    ],
)
def test_settings_that_do_not_fit_are_refused_by_name(custom: dict[str, object], hint: str) -> None:
    with pytest.raises(Invalid, match="The settings of the tool web_fetch do not fit") as refused:
        check_content(uses(**custom))
    assert refused.value.hints == [hint]

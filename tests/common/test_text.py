"""Text from outside is made fit to be stored."""

import pytest

from common.text import storable


@pytest.mark.parametrize(
    ("text", "kept"), [("plain", "plain"), ("你好", "你好"), ("a\x00b", "ab"), ("a\ud800b", "a?b"), ("😀\x00", "😀")]
)
def test_what_cannot_be_stored_is_left_out(text, kept):
    assert storable(text) == kept

"""Text from outside is cleaned, so that it can be stored and shown."""

import pytest

from common.text import MAX_DEPTH, add_cjk_spacing, normalize_name, to_storable, to_storable_json


@pytest.mark.parametrize(
    ("text", "kept"), [("plain", "plain"), ("你好", "你好"), ("a\x00b", "ab"), ("a\ud800b", "a?b"), ("😀\x00", "😀")]
)
def test_characters_that_cannot_be_stored_are_removed(text, kept):
    assert to_storable(text) == kept


@pytest.mark.parametrize(
    ("text", "spaced"),
    [
        ("我是Heron。", "我是 Heron。"),
        ("我是蒼鷺，", "我是蒼鷺，"),
        ("請@robin看v2的", "請 @robin 看 v2 的"),
        ("I am 蒼鷺.", "I am 蒼鷺."),
    ],
)
def test_chinese_beside_latin_gets_a_space(text, spaced):
    assert add_cjk_spacing(text) == spaced


def test_all_texts_and_keys_of_json_become_storable():
    assert to_storable_json({"a\x00": ["\ud800", {"b": "c\x00"}], "n": 1.5}) == {"a": ["?", {"b": "c"}], "n": 1.5}


@pytest.mark.parametrize("value", [float("inf"), float("nan")])
def test_json_with_infinite_numbers_or_nan_is_refused(value):
    with pytest.raises(ValueError, match="too large"):
        to_storable_json({"n": [value]})


def test_json_may_be_nested_up_to_the_maximum_depth():
    value: object = 1
    for _ in range(MAX_DEPTH):
        value = [value]
    assert to_storable_json(value) == value
    with pytest.raises(ValueError, match="nested"):
        to_storable_json([value])


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Alice", "Alice"),
        (" 小明 ", "小明"),
        ("محمد", "محمد"),
        ("O\u2019Neill", "O\u2019Neill"),
        ("👩\u200d👧 🏴\U000e0067\U000e007f", "👩\u200d👧 🏴\U000e0067\U000e007f"),
        ("a\r\nb\u2028c\x1b[1m", "a  b c [1m"),
        ("\u202eecilA\u202c", "ecilA"),
        ("a\u2066b\u200fc", "abc"),
        ("\u200b", ""),
        ("\u3164\u2800 ", ""),
        ("\u202e", ""),
        ("\u0301\ufe0f", ""),
        ("", ""),
    ],
)
def test_a_name_becomes_one_visible_line_without_bidirectional_controls(text, kept):
    assert normalize_name(text) == kept

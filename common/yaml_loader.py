"""Read YAML with the types of JSON."""

import re

import yaml

_TAG = "tag:yaml.org,2002:"


def _narrow(tag: str, pattern: re.Pattern[str]) -> re.Pattern[str]:
    """Return the pattern of the plain texts that stand for a value of this type: `true` and `false`, and numbers without `:`."""
    match tag.removeprefix(_TAG):
        case "bool":
            return re.compile(r"(?:true|True|TRUE|false|False|FALSE)\Z")
        case "int" | "float":
            return re.compile(rf"(?![^:]*:){pattern.pattern}", pattern.flags)
    return pattern


_TEXTS = (f"{_TAG}timestamp", f"{_TAG}value", f"{_TAG}merge")
"""Types of plain texts that JSON does not have: dates, `=` and `<<`."""


class JsonTypesLoader(yaml.CSafeLoader):
    """A loader that reads dates, times of day (`1:30`), `=`, `<<` and words such as `no` and `on` as text, because JSON does so.

    A number in base 60, as YAML 1.1 reads `1:30`, could also take minutes to parse, or overflow a float.
    """

    yaml_implicit_resolvers = {
        first: [(tag, _narrow(tag, pattern)) for tag, pattern in resolvers if tag not in _TEXTS]
        for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
    }

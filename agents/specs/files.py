"""The file format of agents, as YAML or JSON. This module does not use the database."""

import json
import re
from dataclasses import asdict, dataclass
from typing import Any, Literal

import yaml
from pydantic import Field, ValidationError
from pydantic_core import ErrorDetails

from agents.specs.content import SpecContent
from common.errors import AppError, Code, Invalid, TooLarge
from common.text import MAX_DEPTH, storable_json
from events.rows import Avatar

Format = Literal["yaml", "json"]
MAX_FILE = 512_000
"""Bytes of a file that is read."""
NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
NO_TEXT = "This file cannot be read as YAML or JSON."

Why = Literal["missing", "unknown", "unfit", "syntax", "alias", "tag", "depth"]
WHYS: dict[str, Why] = {"missing": "missing", "extra_forbidden": "unknown"}
"""Of the kinds of errors that pydantic knows; a value that does not fit, for all others."""


@dataclass(frozen=True)
class Problem:
    """What is wrong with a file: at which field or line, if any, of what kind, and one English sentence about it.

    The web app has a text for each kind in three languages (`fileProblem.<why>`).
    """

    where: str
    why: Why
    text: str


class _Refused(ValueError):
    """A feature of YAML that is not allowed here."""

    def __init__(self, why: Why, text: str) -> None:
        super().__init__(text)
        self.why: Why = why


class AgentFile(SpecContent):
    """An agent as a file: its name and one whole version. Keys of models and people's names are never in it.

    `version` is the number it had where it came from; `handle` is a suggestion: the new agent gets another one if it is taken.
    """

    atelier: Literal["agent/1"] = "agent/1"
    name: str = Field(min_length=1, max_length=80)
    handle: str = Field(default="", max_length=40)
    description: str = Field(default="", max_length=2000)
    version: int | None = Field(default=None, ge=1)
    avatar: Avatar | None = None

    def content(self) -> SpecContent:
        return SpecContent.model_validate({name: getattr(self, name) for name in SpecContent.model_fields})


def format_file(file: AgentFile, format: Format) -> str:
    """Return the text of a file: the fields of the agent first, then those of its spec."""
    fields = file.model_dump(mode="json")
    spec = {name: fields.pop(name) for name in SpecContent.model_fields}
    if format == "json":
        return json.dumps({**fields, **spec}, ensure_ascii=False, indent=2) + "\n"
    return yaml.dump({**fields, **spec}, Dumper=_Readable, allow_unicode=True, sort_keys=False, width=MAX_FILE)


def read_file(text: str) -> AgentFile:
    """Parse a file. Raises `TooLarge`, and `Invalid` (`file_unreadable`): what is wrong field by field is in
    its hints, and for programs in `data` as `problems` (`Problem`)."""
    if len(text.encode()) > MAX_FILE:
        raise TooLarge(f"A file with an agent has {MAX_FILE // 1000} kB at most.")
    try:
        return AgentFile.model_validate(_parsed(text.lstrip("\ufeff")))
    except ValidationError as error:
        found = [_about_field(one) for one in error.errors(include_input=False)[:10]]
        raise _unreadable("This file does not describe an agent.", *found) from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise _unreadable(NO_TEXT, Problem(where, "syntax", str(error.problem))) from error
    except _Refused as error:
        raise _unreadable(NO_TEXT, Problem("", error.why, str(error))) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise _unreadable(NO_TEXT, Problem("", "syntax", str(error)[:200])) from error


def _about_field(error: ErrorDetails) -> Problem:
    where = ".".join(map(str, error["loc"])) or "file"
    return Problem(where, WHYS.get(error["type"], "unfit"), error["msg"])


def _unreadable(message: str, *problems: Problem) -> AppError:
    hints = [f"{one.where}: {one.text}" if one.where else one.text for one in problems]
    return Invalid(
        message, code=Code.FILE_UNREADABLE, hints=hints, data={"problems": [asdict(one) for one in problems]}
    )


def _parsed(text: str) -> Any:
    """What the text says, as JSON would have it: YAML knows keys and numbers that JSON does not. Raises `ValueError`."""
    return storable_json(json.loads(json.dumps(_loaded(text), allow_nan=False)))


def _loaded(text: str) -> Any:
    if text.lstrip().startswith("{"):
        try:
            return json.loads(text)
        except ValueError:
            pass  # YAML may begin so, too
    _check_events(text)
    return yaml.load(text, Loader=_Plain)


def _check_events(text: str) -> None:
    """Before anything is built of it: no aliases, by which little text becomes much; no tags; no endless depth."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.AliasEvent):
            raise _Refused("alias", "An alias (`*name`) cannot be used here.")
        if getattr(event, "tag", None):
            raise _Refused("tag", "A tag (`!name`) cannot be used here.")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise _Refused("depth", "It is nested too deeply.")


def _in_tens(pattern: re.Pattern[str]) -> re.Pattern[str]:
    """What YAML takes for a number, but for those in base 60: a long one of these takes minutes, or no float holds it."""
    return re.compile(rf"(?![^:]*:){pattern.pattern}", pattern.flags)


class _Plain(yaml.CSafeLoader):
    """A date is a text, and so is a time of day (`1:30`): JSON has neither."""

    yaml_implicit_resolvers = {
        first: [
            (tag, _in_tens(pattern) if tag in NUMBERS else pattern)
            for tag, pattern in resolvers
            if tag != "tag:yaml.org,2002:timestamp"
        ]
        for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
    }


class _Readable(yaml.SafeDumper):
    """Writes a text of several lines as a block where YAML allows it."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def analyze_scalar(self, scalar: str) -> Any:
        analysis = super().analyze_scalar(scalar)
        # PyYAML quotes a text with a tab or with spaces at the end of a line, which a block can hold.
        analysis.allow_block = _fits_block(scalar)
        return analysis


def _fits_block(text: str) -> bool:
    return "\n" in text and _is_plain(text) and not text[0].isspace()


def _is_plain(text: str) -> bool:
    return all(char.isprintable() or char in "\n\t\u3000" for char in text)


def _represent_text(dumper: _Readable, text: str) -> yaml.ScalarNode:
    # Left to itself, PyYAML writes rare ends of lines (NEL, LS, PS) as they are, and reads other ones.
    style = "|" if _fits_block(text) else None if _is_plain(text) else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Readable.add_representer(str, _represent_text)

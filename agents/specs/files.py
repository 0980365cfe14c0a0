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
from common.text import MAX_DEPTH, to_storable_json
from events.rows import Avatar

Format = Literal["yaml", "json"]
MAX_FILE = 512_000
"""Bytes of a file that is read."""
NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
NO_TEXT = "This file cannot be read as YAML or JSON."

ProblemKind = Literal["missing", "unknown", "unfit", "syntax", "alias", "tag", "depth"]
KIND_OF_ERROR: dict[str, ProblemKind] = {"missing": "missing", "extra_forbidden": "unknown"}
"""By the type of a pydantic error. All other errors are `unfit`."""


@dataclass(frozen=True)
class Problem:
    """What is wrong with a file: the field or line, if any, the kind of problem, and one English sentence about it.

    The web app has a text for each kind in three languages (`fileProblem.<why>`).
    """

    where: str
    why: ProblemKind
    text: str


class _Refused(ValueError):
    """A feature of YAML that is not allowed here."""

    def __init__(self, why: ProblemKind, text: str) -> None:
        super().__init__(text)
        self.why: ProblemKind = why


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
    return yaml.dump({**fields, **spec}, Dumper=_BlockStyleDumper, allow_unicode=True, sort_keys=False, width=MAX_FILE)


def read_file(text: str) -> AgentFile:
    """Parse a file.

    Raises `TooLarge`, and `Invalid` (`file_unreadable`) with what is wrong, field by field: in its hints, and in `data` as
    `problems` (`Problem`).
    """
    if len(text.encode()) > MAX_FILE:
        raise TooLarge(f"A file with an agent has {MAX_FILE // 1000} kB at most.")
    try:
        return AgentFile.model_validate(_parse(text.lstrip("\ufeff")))
    except ValidationError as error:
        found = [_build_problem(one) for one in error.errors(include_input=False)[:10]]
        raise _build_unreadable_error("This file does not describe an agent.", *found) from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise _build_unreadable_error(NO_TEXT, Problem(where, "syntax", str(error.problem))) from error
    except _Refused as error:
        raise _build_unreadable_error(NO_TEXT, Problem("", error.why, str(error))) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise _build_unreadable_error(NO_TEXT, Problem("", "syntax", str(error)[:200])) from error


def _build_problem(error: ErrorDetails) -> Problem:
    where = ".".join(map(str, error["loc"])) or "file"
    return Problem(where, KIND_OF_ERROR.get(error["type"], "unfit"), error["msg"])


def _build_unreadable_error(message: str, *problems: Problem) -> AppError:
    hints = [f"{one.where}: {one.text}" if one.where else one.text for one in problems]
    return Invalid(
        message, code=Code.FILE_UNREADABLE, hints=hints, data={"problems": [asdict(one) for one in problems]}
    )


def _parse(text: str) -> Any:
    """Return the value of the text. Raises `ValueError` for keys and numbers that YAML knows and JSON does not."""
    return to_storable_json(json.loads(json.dumps(_load(text), allow_nan=False)))


def _load(text: str) -> Any:
    if text.lstrip().startswith("{"):
        try:
            return json.loads(text)
        except ValueError:
            pass  # YAML may begin with a brace, too.
    _check_events(text)
    return yaml.load(text, Loader=_JsonTypesLoader)


def _check_events(text: str) -> None:
    """Raise `_Refused` for aliases (a short text may become a huge value), tags and deep nesting. No value is built yet."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.AliasEvent):
            raise _Refused("alias", "An alias (`*name`) cannot be used here.")
        if getattr(event, "tag", None):
            raise _Refused("tag", "A tag (`!name`) cannot be used here.")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise _Refused("depth", "It is nested too deeply.")


def _exclude_base_60(pattern: re.Pattern[str]) -> re.Pattern[str]:
    """Return the pattern of a YAML number without those in base 60: a long one takes minutes, or does not fit into a float."""
    return re.compile(rf"(?![^:]*:){pattern.pattern}", pattern.flags)


class _JsonTypesLoader(yaml.CSafeLoader):
    """Loads dates and times of day (`1:30`) as text, as JSON has neither."""

    yaml_implicit_resolvers = {
        first: [
            (tag, _exclude_base_60(pattern) if tag in NUMBERS else pattern)
            for tag, pattern in resolvers
            if tag != "tag:yaml.org,2002:timestamp"
        ]
        for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
    }


class _BlockStyleDumper(yaml.SafeDumper):
    """Writes a text of several lines as a block where YAML allows it."""

    def ignore_aliases(self, data: Any) -> bool:
        """Never write anchors and aliases."""
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


def _represent_text(dumper: _BlockStyleDumper, text: str) -> yaml.ScalarNode:
    # By default PyYAML writes rare line ends (NEL, LS, PS) unquoted, and reads others.
    style = "|" if _fits_block(text) else None if _is_plain(text) else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_BlockStyleDumper.add_representer(str, _represent_text)

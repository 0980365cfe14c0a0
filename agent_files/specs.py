"""Read and write agents as YAML or JSON files. This module does not use the database."""

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
from common.yaml_loader import JsonTypesLoader
from events.rows import Avatar

Format = Literal["yaml", "json"]
MAX_FILE = 512_000
"""The size in bytes of the largest file that is read."""
NOT_READABLE = "This file cannot be read as YAML or JSON."

ProblemKind = Literal["missing", "unknown", "unfit", "syntax", "alias", "tag", "depth", "double"]
KIND_OF_ERROR: dict[str, ProblemKind] = {"missing": "missing", "extra_forbidden": "unknown"}
"""The kind of a problem by the type of the Pydantic error. All other errors are `unfit`."""
# A key with its colon, another string, or the beginning or end of an object.
_JSON_TOKEN = re.compile(r'(?P<key>"(?:[^"\\]|\\.)*")\s*:|"(?:[^"\\]|\\.)*"|[{}]')


@dataclass(frozen=True)
class Problem:
    """A problem in a file: the field or line (empty if unknown), the kind of problem, and one English sentence about it.

    The web app has a text for each kind in three languages (`fileProblem.<kind>`).
    """

    where: str
    kind: ProblemKind
    text: str


class _RefusedFeature(ValueError):
    """Something in YAML or JSON that is not allowed here. `where`: empty if unknown."""

    def __init__(self, kind: ProblemKind, text: str, where: str = "") -> None:
        super().__init__(text)
        self.kind: ProblemKind = kind
        self.where = where


class AgentFile(SpecContent):
    """An agent as a file: its name and one whole version. It contains neither API keys nor names of people.

    `version` is the number of the exported version. The imported agent gets another `handle` if this one is taken.
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
    """Format a file: first the fields of the agent, then those of its spec."""
    fields = file.model_dump(mode="json")
    spec = {name: fields.pop(name) for name in SpecContent.model_fields}
    if format == "json":
        return json.dumps({**fields, **spec}, ensure_ascii=False, indent=2) + "\n"
    return yaml.dump({**fields, **spec}, Dumper=_BlockStyleDumper, allow_unicode=True, sort_keys=False, width=MAX_FILE)


def read_file(text: str) -> AgentFile:
    """Parse a file.

    Raises `TooLarge`, and `Invalid` (`file_unreadable`), which names every problem in its hints, as a sentence, and in
    `data["problems"]`, as a `Problem`.
    """
    if len(text.encode()) > MAX_FILE:
        raise TooLarge(f"A file with an agent has {MAX_FILE // 1000} kB at most.")
    try:
        return AgentFile.model_validate(
            # By way of JSON: every key becomes a text; NaN and infinity, which JSON does not have, are a `ValueError`.
            to_storable_json(json.loads(json.dumps(_load(text.lstrip("\ufeff")), allow_nan=False)))
        )
    except ValidationError as error:
        problems = [_build_problem(detail) for detail in error.errors(include_input=False)[:10]]
        raise _build_unreadable_error("This file does not describe an agent.", *problems) from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise _build_unreadable_error(NOT_READABLE, Problem(where, "syntax", str(error.problem))) from error
    except _RefusedFeature as error:
        raise _build_unreadable_error(NOT_READABLE, Problem(error.where, error.kind, str(error))) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise _build_unreadable_error(NOT_READABLE, Problem("", "syntax", str(error)[:200])) from error


def _build_problem(error: ErrorDetails) -> Problem:
    where = ".".join(map(str, error["loc"])) or "file"
    return Problem(where, KIND_OF_ERROR.get(error["type"], "unfit"), error["msg"])


def _build_unreadable_error(message: str, *problems: Problem) -> AppError:
    hints = [f"{problem.where}: {problem.text}" if problem.where else problem.text for problem in problems]
    data = {"problems": [asdict(problem) for problem in problems]}
    return Invalid(message, code=Code.FILE_UNREADABLE, hints=hints, data=data)


def _load(text: str) -> Any:
    if text.lstrip().startswith("{"):
        try:
            loaded = json.loads(text)
        except ValueError:
            pass  # A YAML file may begin with a brace, too.
        else:
            _check_json_keys(text)
            return loaded
    _check_events(text)
    return yaml.load(text, Loader=_UniqueKeysLoader)


def _check_json_keys(text: str) -> None:
    """Raise `_RefusedFeature` for a key that an object has twice. The text is JSON, which `json` has read."""
    objects: list[set[str]] = []
    for token in _JSON_TOKEN.finditer(text):
        if token["key"]:
            key = json.loads(token["key"])
            if key in objects[-1]:
                raise _build_double_key(key, text.count("\n", 0, token.start()))
            objects[-1].add(key)
        elif token[0] == "{":
            objects.append(set())
        elif token[0] == "}":
            objects.pop()


class _UniqueKeysLoader(JsonTypesLoader):
    """A loader that refuses a key that a mapping has twice: without it the last one would count silently."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Return the mapping. Raises `_RefusedFeature` for keys that are the same text in JSON, as `1` and `"1"`."""
        mapping = super().construct_mapping(node, deep=deep)
        keys: set[str] = set()
        for key_node, _ in node.value:
            [key] = json.loads(json.dumps({self.construct_object(key_node, deep=True): None}))
            if key in keys:
                raise _build_double_key(key, key_node.start_mark.line)
            keys.add(key)
        return mapping


def _build_double_key(key: str, line: int) -> _RefusedFeature:
    return _RefusedFeature("double", f"The key `{key[:80]}` is there twice.", f"line {line + 1}")


def _check_events(text: str) -> None:
    """Raise `_RefusedFeature` for tags, for deep nesting, and for aliases, by which a short text can describe a huge value. Build
    no value."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.AliasEvent):
            raise _RefusedFeature("alias", "An alias (`*name`) cannot be used here.")
        if getattr(event, "tag", None):
            raise _RefusedFeature("tag", "A tag (`!name`) cannot be used here.")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise _RefusedFeature("depth", "The file is nested too deeply.")


class _BlockStyleDumper(yaml.SafeDumper):
    """A dumper that writes a text of several lines as a block where YAML allows it."""

    def ignore_aliases(self, data: Any) -> bool:
        """Never write anchors and aliases."""
        return True

    def analyze_scalar(self, scalar: str) -> Any:
        analysis = super().analyze_scalar(scalar)
        # PyYAML would quote a text with a tab, or with spaces at the end of a line, although a block can hold it.
        analysis.allow_block = _fits_block(scalar)
        return analysis


def _fits_block(text: str) -> bool:
    return "\n" in text and _is_plain(text) and not text[0].isspace()


def _is_plain(text: str) -> bool:
    """Return whether every character can be written as it is. The ideographic space (U+3000) can, but is not `isprintable`."""
    return all(char.isprintable() or char in "\n\t\u3000" for char in text)


def _represent_text(dumper: _BlockStyleDumper, text: str) -> yaml.ScalarNode:
    # Texts with unusual line ends (NEL, LS, PS) must be quoted: by default PyYAML writes them unquoted, and reads other ones back.
    style = None if _is_plain(text) else '"'
    if _fits_block(text):
        style = "|"
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_BlockStyleDumper.add_representer(str, _represent_text)

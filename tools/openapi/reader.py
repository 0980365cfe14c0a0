"""Reads one OpenAPI document. Runs as a script in a process of its own (see `process`): a hostile document can make the parser,
which is written in C, end its process, or use any amount of time and memory.

stdin: a line of JSON (`text`, `url`). stdout: a line of JSON, what was read, or a `problem`.
"""

import json
import os
import resource
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

MAX_MEMORY_BYTES = 1024**3
MAX_CPU_SECONDS = 20


def describe_document(text: str, url: str) -> dict[str, Any]:
    """Return the settings of a server that a document contains, its size, and its operations with their definitions.

    Raises `InvalidDocument`.
    """
    from tools.openapi.document import parse_document
    from tools.openapi.operations import list_operations

    document = parse_document(text, url)
    operations, left_out = list_operations(document)
    return {
        "title": document.title,
        "version": document.version,
        "base_url": document.base_url,
        "auth": str(document.sign_in.auth),
        "auth_name": document.sign_in.auth_name,
        "size": len(text.encode("utf-8", "replace")),
        "operations": [asdict(operation) for operation in operations],
        "left_out": left_out,
    }


def main() -> None:
    """Read the document on stdin, and write what was read to stdout."""
    os.nice(5)  # runs have priority over reading documents
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (MAX_CPU_SECONDS, MAX_CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.path.insert(0, str(Path(__file__).parents[2]))
    from django.conf import settings

    settings.configure()  # the defaults of Django: this process has none of our settings
    from tools.openapi.document import InvalidDocument

    try:
        found = describe_document(**json.load(sys.stdin))
    except InvalidDocument as problem:
        found = {"problem": str(problem)}
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()

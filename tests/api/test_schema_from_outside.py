"""SEC20: a fuzzer with nothing but the schema finds no valid request that is refused and no invalid one that is accepted."""

import os
import re
import subprocess
import sys
from typing import Any

import pytest

from launcher.home import ROOT
from tests.chaos import IS_CHAOS, report
from tests.stack import Stack

pytestmark = pytest.mark.stack

WITHOUT_LIMITS: dict[str, Any] = {
    f"ATELIER_RATE_{name}": "0,0"
    for name in (
        "REQUESTS",
        "POSTS",
        "WORKSPACE_POSTS",
        "JOBS",
        "DIFFS",
        "CLIENT_ERRORS",
        "ALL_CLIENT_ERRORS",
        "ANONYMOUS",
        "PASSWORDS",
        "PUBLICATIONS",
        "PUBLIC_AGENTS",
        "ADDED_PEOPLE",
    )
} | {
    f"ATELIER_QUOTA_{name}": "0"
    for name in ("WORKSPACES", "WORKSPACE_MEMBERS", "AGENTS", "CHATS", "LINKS", "SUGGESTIONS")
}
CONFIG = """
hooks = "tests.api.outside"
suppress-health-check = ["all"]
cache.enabled = false

[checks]
positive_data_acceptance.expected-statuses = ["2xx", "401", "403", "404", "409", "413", "429"]
negative_data_rejection.expected-statuses = ["400", "401", "403", "404", "405", "409", "413", "415"]
use_after_free.enabled = false
ensure_resource_availability.enabled = false
object_level_authorization.enabled = false
"""
PHASES = {"member": "coverage,fuzzing", "stranger": "fuzzing"}
EXAMPLES = 30
"""Random requests of each operation, beside those that try each limit of the schema."""


@pytest.fixture(scope="module")
def stack():
    with Stack(is_migrated=True, **WITHOUT_LIMITS) as stack:
        yield stack


@pytest.mark.skipif(not IS_CHAOS, reason="a long form: part of `make chaos`")
@pytest.mark.parametrize("who", ["member", "stranger"])
def test_SEC20_a_fuzzer_with_the_schema_finds_no_deviation(stack, tmp_path, who, request):
    config = tmp_path / "schemathesis.toml"
    config.write_text(CONFIG)
    fuzzer = [sys.executable, "-m", "schemathesis.cli", "--config-file", str(config), "run"]
    seed = request.config.getoption("--hypothesis-seed", None)
    flags = [
        "--phases",
        PHASES[who],
        "--mode",
        "all",
        "--continue-on-failure",
        "--no-color",
        "--exclude-path-regex",
        "^/_allauth/",
        "--url",
        stack.url,
        "--max-examples",
        str(EXAMPLES),
        *(["--seed", str(seed)] if seed else []),
    ]
    environment = os.environ | {"ATELIER_FUZZ_URL": stack.url, "ATELIER_FUZZ_AS": who}
    done = subprocess.run(
        [*fuzzer, *flags, f"{stack.url}/api/v1/schema"],
        cwd=ROOT,
        env=environment,
        check=False,
        timeout=1800,
        text=True,
        stdout=subprocess.PIPE,
    )
    assert done.returncode == 0, f"The fuzzer has found something: {done.stdout[-20_000:]}"
    report(f"as a {who}: {re.findall('[0-9]+ generated', done.stdout)}")

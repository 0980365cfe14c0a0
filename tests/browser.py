"""A Chromium for the tests: the one of the machine, else the one that `make dev` has installed from the npm registry.

async with async_playwright() as playwright:
    browser = await playwright.chromium.launch(**chromium().launch_options)
"""

import fcntl
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from launcher.home import ROOT

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
PACKAGE = ROOT / "tests" / "chromium"
UNPACKED = ROOT / ".make" / "chromium"
# Not those of the package, which disable the web security that the tests check.
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--hide-scrollbars",
    "--mute-audio",
)
UNPACK = """
import chromium from '@sparticuz/chromium';
const path = await chromium.executablePath();
console.log(JSON.stringify({path, libraries: process.env.LD_LIBRARY_PATH}));
"""
# The fonts of the machine and of the package, whose own configuration has wrong paths.
FONTS = f"""<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>
<dir>/usr/share/fonts</dir><dir>{UNPACKED}/fonts</dir><cachedir>{UNPACKED}/font-cache</cachedir></fontconfig>
"""


class NoBrowser(Exception):
    """There is no Chromium. The message says what to do."""


@dataclass(frozen=True)
class Chromium:
    """The path of a Chromium, its flags and its environment."""

    path: str
    flags: tuple[str, ...] = FLAGS
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def launch_options(self) -> dict[str, Any]:
        """The keyword arguments of playwright's `chromium.launch`."""
        return {
            "executable_path": self.path,
            "args": list(self.flags),
            "env": {**os.environ, **self.environment},
            "headless": True,
            "chromium_sandbox": False,
        }


@lru_cache(maxsize=1)
def chromium() -> Chromium:
    """Return the browser of this machine. Raises `NoBrowser`."""
    for name in NAMES:
        found = shutil.which(name)
        if found:
            return Chromium(found)
    return _unpack()


def _unpack() -> Chromium:
    if not (PACKAGE / "node_modules").exists():
        raise NoBrowser("No Chromium is installed and none was fetched: run `make dev`.")
    UNPACKED.mkdir(parents=True, exist_ok=True)
    # With the name of a runtime, the package also unpacks system libraries that a minimal machine lacks.
    environment = {**os.environ, "TMPDIR": str(UNPACKED), "AWS_EXECUTION_ENV": "AWS_Lambda_nodejs22.x"}
    environment["PATH"] = f"{ROOT / '.make' / 'node'}{os.pathsep}{environment['PATH']}"
    with (UNPACKED / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # Two processes that unpack at once would start half a program.
        done = subprocess.run(
            ["node", "--input-type=module", "-e", UNPACK],
            cwd=PACKAGE,
            env=environment,
            capture_output=True,
            check=False,
        )
    if done.returncode:
        raise NoBrowser(f"Chromium could not be unpacked: {done.stderr.decode(errors='replace')[-500:]}")
    unpacked = json.loads(done.stdout)
    fonts = UNPACKED / "fonts.conf"
    fonts.write_text(FONTS)
    return Chromium(
        unpacked["path"], environment={"LD_LIBRARY_PATH": unpacked["libraries"] or "", "FONTCONFIG_FILE": str(fonts)}
    )


def main() -> None:
    """Print the browser as JSON, for the component tests of the web app (frontend/vitest.config.ts)."""
    found = chromium()
    sys.stdout.write(json.dumps({"path": found.path, "flags": found.flags, "environment": found.environment}))


if __name__ == "__main__":
    main()

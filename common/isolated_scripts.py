"""Run a script of ours in a process of its own, because the data that it reads may harm the process."""

import subprocess
import sys
from pathlib import Path


def build_script_command(script: Path, *arguments: str) -> list[str]:
    """Return the command of a script, which sees neither the environment variables of Python nor the current folder."""
    return [sys.executable, "-I", "-X", "utf8", str(script), *arguments]


def run_script(script: Path, *arguments: str, content: bytes, seconds: float) -> subprocess.CompletedProcess[bytes]:
    """Run a script with `content` on stdin, and without environment variables: ours may have keys. The script sets the limits of
    its memory and CPU time. Raises `subprocess.TimeoutExpired` after `seconds` of real time."""
    command = build_script_command(script, *arguments)
    return subprocess.run(command, input=content, capture_output=True, timeout=seconds, env={}, cwd="/", check=False)

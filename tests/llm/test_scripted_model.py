"""The scripted model runs by itself, as its module says."""

import os
import subprocess
import sys

from launcher.home import ROOT


def test_it_starts_without_django():
    environment = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    command = [sys.executable, "-m", "tests.scripted_model", "--help"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")

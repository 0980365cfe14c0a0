"""`python -m launcher.manage COMMAND …`: Django's command line for the running installation."""

import json
import os
import sys
from pathlib import Path

from launcher.home import ROOT, RUNNING, get_default_home, is_locked


def main() -> None:
    """Replace this process by `manage.py` with the environment of the launcher's children. Exit if Atelier does not run."""
    home = Path(os.environ.get("ATELIER_HOME") or get_default_home()).expanduser()
    file = home / RUNNING
    # A launcher that was killed leaves the file behind, but not the lock.
    if not (file.exists() and is_locked(home)):
        sys.exit("Atelier does not run here. Start it first: make run")
    os.chdir(ROOT)
    os.execve(
        sys.executable, [sys.executable, "manage.py", *sys.argv[1:]], {**os.environ, **json.loads(file.read_text())}
    )


if __name__ == "__main__":
    main()

"""`python -m common.embedded.manage COMMAND …`: Django's command line, on the installation that runs here."""

import json
import os
import sys
from pathlib import Path

from common.embedded.home import ROOT, RUNNING, default_home


def main() -> None:
    """Replace this process by `manage.py` with what the launcher's children read. Exits when nothing runs."""
    file = Path(os.environ.get("ATELIER_HOME") or default_home()) / RUNNING
    if not file.exists():
        sys.exit("Atelier does not run here. Start it first: make run")
    os.chdir(ROOT)
    os.execve(
        sys.executable, [sys.executable, "manage.py", *sys.argv[1:]], {**os.environ, **json.loads(file.read_text())}
    )


if __name__ == "__main__":
    main()

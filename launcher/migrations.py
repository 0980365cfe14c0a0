"""Whether there are migrations that the database has not seen, without asking it: Django takes seconds to say no."""

import hashlib
import sys
from pathlib import Path

from launcher.home import ROOT


class Migrations:
    """The stamp lies in the cluster's own folder: new or restored data bring their own, or none.

    Of a server that somebody else named nothing is known; there the command is always run.
    """

    command = (sys.executable, "manage.py", "migrate", "--noinput", "--skip-checks", "--verbosity", "0")

    def __init__(self, cluster: Path | None, environment: dict[str, str]) -> None:
        self._stamp = cluster / "atelier-migrated" if cluster else None
        self.environment = environment

    def are_needed(self) -> bool:
        """Whether the database may be behind the code."""
        return not (self._stamp and self._stamp.exists() and self._stamp.read_text() == self._now())

    def note(self) -> None:
        """The database is now where the code is."""
        if self._stamp:
            self._stamp.write_text(self._now())

    def _now(self) -> str:
        # Our own migrations, and the locked packages, which bring theirs.
        files = [ROOT / "requirements" / "run.txt", *sorted(ROOT.glob("*/migrations/*.py"))]
        digest = hashlib.sha256()
        for file in files:
            digest.update(f"{file.relative_to(ROOT)}\n".encode())
            digest.update(file.read_bytes())
        return digest.hexdigest()

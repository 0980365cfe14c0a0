"""Find out without the database whether it lacks migrations, because Django takes seconds for that."""

import hashlib
import sys
from pathlib import Path

from launcher.home import ROOT


class Migrations:
    """A digest of the applied migrations, stored in the folder of the cluster, so that it is backed up and restored with the data.

    For a server that the launcher has not started, the command is always run.
    """

    command = (sys.executable, "manage.py", "migrate", "--noinput", "--skip-checks", "--verbosity", "0")

    def __init__(self, cluster: Path | None, environment: dict[str, str]) -> None:
        self._digest_file = cluster / "atelier-migrated" if cluster else None
        self.environment = environment

    def are_needed(self) -> bool:
        """Return whether the database may lack migrations of this code."""
        return not (
            self._digest_file and self._digest_file.exists() and self._digest_file.read_text() == self._compute_digest()
        )

    def mark_applied(self) -> None:
        """Store that the database has all migrations of this code."""
        if self._digest_file:
            self._digest_file.write_text(self._compute_digest())

    def _compute_digest(self) -> str:
        # Our own migrations, and the lock file of the packages, which contain others.
        files = [ROOT / "requirements" / "run.txt", *sorted(ROOT.glob("*/migrations/*.py"))]
        digest = hashlib.sha256()
        for file in files:
            digest.update(f"{file.relative_to(ROOT)}\n".encode())
            digest.update(file.read_bytes())
        return digest.hexdigest()

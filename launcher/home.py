"""The folder that holds everything an installation must not lose: its secrets and its data."""

import base64
import fcntl
import hashlib
import json
import os
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path

from common.processes import CannotStart, is_root, nobody_can_reach

ROOT = Path(__file__).resolve().parent.parent


RUNNING = "running.json"
NOTED = (
    "SECRET_KEY",
    "SECRET_KEYS",
    "DATABASE_URL",
    "REDIS_URL",
    "ATELIER_HOME",
    "ATELIER_EMBEDDED",
    "ATELIER_ADDRESS",
)


@dataclass(frozen=True)
class Secrets:
    """Made once, at the first start; without them the data cannot be opened again."""

    secret_key: str
    secret_keys: str
    postgres_password: str
    valkey_password: str


def default_home() -> Path:
    """`var/` of the checkout; as root a folder that `nobody` can reach, one for each checkout."""
    if not is_root():
        return ROOT / "var"
    return Path(f"/var/lib/atelier-{hashlib.sha256(str(ROOT).encode()).hexdigest()[:10]}")


def open_home(folder: Path) -> Path:
    """Make the folder if needed and see to it that the servers can reach it. Raises `CannotStart`."""
    folder = folder.expanduser().resolve()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o711 if is_root() else 0o700)
    except OSError as error:
        raise CannotStart(f"The data folder {folder} cannot be used: {error.strerror}.") from error
    if is_root() and not nobody_can_reach(folder):
        raise CannotStart(
            f"As root, the servers run as the user 'nobody', who cannot reach {folder}. "
            "Set ATELIER_HOME to a folder whose parents everybody may enter, or start as an ordinary user."
        )
    return folder


def lock(home: Path) -> int:
    """Make this process the only launcher on these data, for as long as it lives. Raises `CannotStart`."""
    file = os.open(home / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        owner = os.read(file, 100).decode().strip()
        os.close(file)
        raise CannotStart(f"Atelier already runs on the data in {home} ({owner}). Stop it first.") from error
    os.ftruncate(file, 0)
    os.write(file, f"process {os.getpid()}".encode())
    return file


def is_locked(home: Path) -> bool:
    """Whether a launcher runs on these data."""
    try:
        with (home / "lock").open() as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def load_secrets(home: Path) -> Secrets:
    """The secrets of this installation; made and kept at the first call.

    Raises `CannotStart` if they are damaged, or gone while the data are there.
    """
    file = home / "secrets.json"
    if not file.exists():
        if any(home.glob("postgres-*/PG_VERSION")):
            raise CannotStart(f"{file} is missing. Bring it back from a backup: the data need it.")
        _write_private(file, json.dumps(asdict(_new_secrets()), indent=1))
    try:
        kept = Secrets(**json.loads(file.read_text()))
    except (ValueError, TypeError) as error:
        raise CannotStart(f"{file} is damaged. Bring it back from a backup: the data need it.") from error
    if not all(isinstance(secret, str) and secret for secret in asdict(kept).values()):
        raise CannotStart(f"{file} is damaged. Bring it back from a backup: the data need it.")
    return kept


def _new_secrets() -> Secrets:
    return Secrets(
        secret_key=secrets.token_urlsafe(48),
        secret_keys=base64.urlsafe_b64encode(secrets.token_bytes(32)).decode(),
        postgres_password=secrets.token_urlsafe(32),
        valkey_password=secrets.token_urlsafe(32),
    )


def _write_private(file: Path, text: str) -> None:
    # Written beside and renamed: a power cut leaves the whole file or none.
    beside = file.with_suffix(".new")
    beside.unlink(missing_ok=True)
    with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
        out.write(text)
        out.flush()
        os.fsync(out.fileno())
    beside.rename(file)


def note_running(home: Path, environment: dict[str, str]) -> Path:
    """Leave a note of how the running installation is reached, for `launcher.manage`; the note's place."""
    ours = {name: environment[name] for name in NOTED if name in environment}
    _write_private(home / RUNNING, json.dumps(ours))
    return home / RUNNING

"""The data folder of an installation: its secrets and the data of its servers."""

import base64
import fcntl
import hashlib
import json
import os
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path

from common.processes import StartError, is_reachable_by_others, is_root

ROOT = Path(__file__).resolve().parent.parent


RUNNING = "running.json"
RUNNING_VARIABLES = (
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
    """The secrets of an installation, created at the first start. Without them the data cannot be read."""

    secret_key: str
    secret_keys: str
    postgres_password: str
    valkey_password: str


def get_default_home() -> Path:
    """Return `var/` of the checkout; for root, a folder per checkout that the user `nobody` can reach."""
    if not is_root():
        return ROOT / "var"
    return Path(f"/var/lib/atelier-{hashlib.sha256(str(ROOT).encode()).hexdigest()[:10]}")


def open_home(folder: Path) -> Path:
    """Create the folder if necessary, and check that the servers can reach it. Raises `StartError`."""
    try:
        folder = folder.expanduser().resolve()
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o711 if is_root() else 0o700)
    except (OSError, RuntimeError) as error:  # RuntimeError: of `expanduser`, for an unknown user
        reason = getattr(error, "strerror", None) or str(error).rstrip(".")
        raise StartError(f"The data folder {folder} cannot be used: {reason}.") from error
    if is_root() and not is_reachable_by_others(folder):
        raise StartError(
            f"As root, the servers run as the user 'nobody', who cannot reach {folder}. "
            "Set ATELIER_HOME to a folder whose parents everybody may enter, or start as an ordinary user."
        )
    return folder


def lock_home(home: Path) -> int:
    """Lock the data folder for the lifetime of this process. Return the file descriptor of the lock file. Raises `StartError` if
    another launcher has locked the folder."""
    file = os.open(home / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        owner = os.read(file, 100).decode().strip()
        os.close(file)
        raise StartError(f"Atelier already runs on the data in {home} ({owner}). Stop it first.") from error
    os.ftruncate(file, 0)
    os.write(file, f"process {os.getpid()}".encode())
    return file


def is_locked(home: Path) -> bool:
    """Return whether a launcher runs on this data folder."""
    try:
        with (home / "lock").open() as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def load_secrets(home: Path) -> Secrets:
    """Return the secrets of this installation; create them if the data folder is new.

    Raises `StartError` if they are damaged, or if they are missing and there are data already.
    """
    file = home / "secrets.json"
    if not file.exists():
        if any(home.glob("postgres-*/PG_VERSION")):
            raise StartError(f"{file} is missing. Bring it back from a backup: the data need it.")
        created = Secrets(
            secret_key=secrets.token_urlsafe(48),
            secret_keys=base64.urlsafe_b64encode(secrets.token_bytes(32)).decode(),
            postgres_password=secrets.token_urlsafe(32),
            valkey_password=secrets.token_urlsafe(32),
        )
        _write_private(file, json.dumps(asdict(created), indent=1))
    try:
        stored = Secrets(**json.loads(file.read_text()))
    except (ValueError, TypeError) as error:
        raise StartError(f"{file} is damaged. Bring it back from a backup: the data need it.") from error
    if not all(isinstance(secret, str) and secret for secret in asdict(stored).values()):
        raise StartError(f"{file} is damaged. Bring it back from a backup: the data need it.")
    return stored


def _write_private(file: Path, text: str) -> None:
    # Written under another name and renamed: a power cut leaves the complete file or none.
    temporary = file.with_suffix(".new")
    temporary.unlink(missing_ok=True)
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
        out.write(text)
        out.flush()
        os.fsync(out.fileno())
    temporary.rename(file)


def write_running_file(home: Path, environment: dict[str, str]) -> Path:
    """Write the environment of the running installation, for `launcher.manage`. Return the path of the file."""
    values = {name: environment[name] for name in RUNNING_VARIABLES if name in environment}
    _write_private(home / RUNNING, json.dumps(values))
    return home / RUNNING

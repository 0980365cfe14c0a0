"""Runs the steps of the Dockerfile without Docker: each stage is an empty folder that becomes the root of its commands.

The base images are replaced by this machine's own programs: `/usr` is mounted read-only, with the Python that runs the tests
below `/usr/local`. So the size of the image and what its base contains are not tested. Needs root, for `chroot`.
"""

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from string import Template
from typing import IO, Any

from docker.utils.build import exclude_paths
from dockerfile_parse import DockerfileParser

from launcher.home import ROOT

PATH = "/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin"
# How this machine reaches the package registries; `docker build` gets the same by its own configuration.
PASSED_ON = ("PIP_", "NPM_CONFIG_", "NODE_EXTRA_", "SSL_CERT_", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
CONFIGURATION = (".npmrc", ".config/pip", ".pip")
# In a mount namespace of its own, so that nothing has to be unmounted: $0 is the root, $1 is mounted at /usr/local.
ENTER = """
set -e
for name in usr bin sbin lib lib32 lib64 dev; do
    [ -d "$0/$name" ] && [ ! -L "$0/$name" ] && mount --rbind "/$name" "$0/$name"
done
mount -o remount,bind,ro "$0/usr"
[ -z "$1" ] || mount --bind "$1" "$0/usr/local"
mount -t proc proc "$0/proc"
root=$0; user=$2; folder=$3; shift 3
exec chroot --userspec="$user" --groups="${user#*:}" "$root" env -i -C "$folder" "$@"
"""


def list_context() -> set[str]:
    """Return the files that `docker build` sends to the builder: all that .dockerignore leaves in."""
    patterns = [
        line.strip()
        for line in (ROOT / ".dockerignore").read_text().splitlines()
        if line.strip() and not line.startswith("#")
    ]
    sent = {path for path in exclude_paths(str(ROOT), patterns) if (ROOT / path).is_file()}
    # Docker sends these two to the builder, but does not copy them.
    return sent - {"Dockerfile", ".dockerignore"}


def read_dockerfile() -> list[tuple[str, str]]:
    """Return the instructions of the Dockerfile with their arguments, without comments."""
    with (ROOT / "Dockerfile").open("rb") as file:
        found = DockerfileParser(fileobj=file).structure
    return [(step["instruction"], step["value"]) for step in found if step["instruction"] != "COMMENT"]


@dataclass
class Stage:
    """One stage of the Dockerfile: its root folder, and the configuration that its instructions have set."""

    root: Path
    local: Path | None
    environment: dict[str, str] = field(default_factory=lambda: {"PATH": PATH, "HOME": "/root"})
    folder: PurePosixPath = PurePosixPath("/")
    user: str = "0:0"
    command: list[str] = field(default_factory=list)
    health_command: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        for name in ("usr", "dev", "proc", "tmp", "root", "run"):
            (self.root / name).mkdir(parents=True)
        (self.root / "tmp").chmod(0o1777)
        for name in ("bin", "sbin", "lib", "lib32", "lib64"):
            if Path("/", name).is_symlink():
                (self.root / name).symlink_to(Path("/", name).readlink())
            elif Path("/", name).exists():
                (self.root / name).mkdir()
        shutil.copytree("/etc", self.root / "etc", symlinks=True)
        for name in CONFIGURATION:
            if (Path.home() / name).is_dir():
                shutil.copytree(Path.home() / name, self.root / "root" / name)
            elif (Path.home() / name).exists():
                shutil.copy(Path.home() / name, self.root / "root" / name)
        if self.local:
            # The official image has its Python's library below /usr/local, too.
            self.run(["ldconfig"])

    def run(self, command: Sequence[str], **environment: str) -> None:
        """Run a command to its end. Raises `CalledProcessError` with its output as a note."""
        done = subprocess.run(
            self._enter(command, environment), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        if done.returncode:
            error = subprocess.CalledProcessError(done.returncode, list(command))
            error.add_note(done.stdout[-5000:])
            raise error

    def start(self, command: Sequence[str], log: IO[bytes], **environment: str) -> "subprocess.Popen[bytes]":
        """Start a command and return its process."""
        return subprocess.Popen(
            self._enter(command, environment), stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )

    def _enter(self, command: Sequence[str], environment: Mapping[str, str]) -> list[str]:
        variables = [f"{name}={value}" for name, value in {**self.environment, **environment}.items()]
        local = str(self.local) if self.local else ""
        place = [str(self.root), local, self.user, str(self.folder)]
        return ["unshare", "--mount", "sh", "-c", ENTER, *place, *variables, *command]

    def resolve(self, path: str) -> Path:
        """Return the path of this machine for a path of the stage."""
        return self.root / (self.folder / path).relative_to("/")


class Build:
    """Runs all stages below `folder`; `image` is the last one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._arguments: dict[str, str] = {}
        self._stages: dict[str, Stage] = {}
        self._context = sorted(list_context())
        self.image: Stage

    def run(self) -> Stage:
        """Run every step, and return the last stage."""
        for instruction, value in read_dockerfile():
            getattr(self, f"_do_{instruction.lower()}")(value)
        return self.image

    def _do_arg(self, value: str) -> None:
        name, _, default = value.partition("=")
        self._arguments[name] = default

    def _do_from(self, value: str) -> None:
        words = Template(value).substitute(self._arguments).split()
        name = words[2] if len(words) == 3 else str(len(self._stages))
        self.image = self._stages[name] = Stage(self._folder / name, _find_local(words[0]))

    def _do_run(self, value: str) -> None:
        passed_on = {name: text for name, text in os.environ.items() if name.upper().startswith(PASSED_ON)}
        self.image.run(["sh", "-c", value], **passed_on)

    def _do_workdir(self, value: str) -> None:
        self.image.folder /= value
        self.image.resolve(".").mkdir(parents=True, exist_ok=True)

    def _do_env(self, value: str) -> None:
        for word in shlex.split(value):
            name, _, text = word.partition("=")
            self.image.environment[name] = Template(text).substitute(self.image.environment)

    def _do_user(self, value: str) -> None:
        self.image.user = value

    def _do_expose(self, value: str) -> None:
        pass

    def _do_cmd(self, value: str) -> None:
        self.image.command = json.loads(value)

    def _do_healthcheck(self, value: str) -> None:
        self.image.health_command = json.loads(value.partition(" CMD ")[2])

    def _do_copy(self, value: str) -> None:
        words = value.split()
        stage = self._stages[words.pop(0).removeprefix("--from=")] if words[0].startswith("--from=") else None
        *sources, target = words
        for source in sources:
            if stage is not None:
                self._copy_from(stage.resolve(source), self.image.resolve(target))
            else:
                self._copy_context(source, target)

    def _copy_from(self, source: Path, target: Path) -> None:
        # Linked: the packages have half a gigabyte.
        shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True, copy_function=_link)

    def _copy_context(self, source: str, target: str) -> None:
        """Copy the contents of a folder to `target`, or a file to `target`, or into it if it ends with a slash."""
        found = [PurePosixPath(path) for path in self._context if PurePosixPath(path).is_relative_to(source)]
        assert found, f"COPY {source}: .dockerignore excludes all of it"
        for path in found:
            inside = path.relative_to(source) if str(path) != source else PurePosixPath(path.name)
            place = self.image.resolve(target) / inside
            if str(path) == source and not target.endswith("/"):
                place = self.image.resolve(target)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, place)


def _link(source: str, target: str) -> Any:
    Path(target).unlink(missing_ok=True)
    os.link(source, target, follow_symlinks=False)


def _find_local(base_image: str) -> Path | None:
    """Return the folder that replaces `/usr/local` of a base image; None if the program is in `/usr` anyway."""
    if "python" in base_image:
        prefix = Path(sys.base_prefix).resolve()
    else:
        prefix = Path(shutil.which("node") or "/usr/bin/node").resolve().parent.parent
    return None if prefix in (Path("/usr"), Path("/usr/local")) else prefix

"""compose.yaml, .dockerignore and the settings agree with each other and with the launcher."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from launcher.home import ROOT
from launcher.launch import WORKER
from tests.image.steps import list_context, read_dockerfile

COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())
SERVICES: dict[str, Any] = COMPOSE["services"]
APPLICATION = ("migrate", "web", "worker")
PRINT_SETTINGS = """
import json, sys
from config import settings
json.dump({name: getattr(settings, name) for name in sys.argv[1:]}, sys.stdout, default=str)
"""


def read_settings(*names: str, **environment: str) -> dict[str, Any]:
    """Return settings as a process reads them that has this environment only."""
    done = subprocess.run(
        [sys.executable, "-c", PRINT_SETTINGS, *names], cwd=ROOT, env=environment, capture_output=True, check=True
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


# --- settings from files ------------------------------------------------------------------------------------------


def test_a_setting_can_be_read_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("from-the-file\n")
    found = read_settings("SECRET_KEY", SECRET_KEY_FILE=str(tmp_path / "key"))
    assert found == {"SECRET_KEY": "from-the-file"}


def test_a_file_takes_precedence_over_a_variable(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("from-the-file")
    found = read_settings("SECRET_KEY", SECRET_KEY_FILE=str(tmp_path / "key"), SECRET_KEY="from-the-variable")
    assert found == {"SECRET_KEY": "from-the-file"}


def test_a_list_and_an_address_can_be_read_from_files(tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("new,old\n")
    (tmp_path / "mail").write_text("smtp+tls://user:password@mail.example.org:587\n")
    found = read_settings(
        "SECRET_KEYS",
        "EMAIL_HOST",
        "EMAIL_HOST_PASSWORD",
        "SENDS_MAIL",
        SECRET_KEYS_FILE=str(tmp_path / "keys"),
        EMAIL_URL_FILE=str(tmp_path / "mail"),
    )
    assert found == {
        "SECRET_KEYS": ["new", "old"],
        "EMAIL_HOST": "mail.example.org",
        "EMAIL_HOST_PASSWORD": "password",
        "SENDS_MAIL": True,
    }


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError) as error:
        read_settings("SECRET_KEY", SECRET_KEY_FILE=str(tmp_path / "missing"))
    assert f"No such file or directory: '{tmp_path}/missing'" in error.value.stderr.decode()


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("redis://valkey/0", "redis://:p%40ss%2Fword@valkey/0"),
        ("rediss://atelier@valkey:6380/3?timeout=5", "rediss://atelier:p%40ss%2Fword@valkey:6380/3?timeout=5"),
        ("redis://atelier:old@valkey/0", "redis://atelier:p%40ss%2Fword@valkey/0"),
    ],
)
def test_the_password_of_redis_is_inserted_into_its_url(url: str, expected: str) -> None:
    found = read_settings("REDIS_URL", "CELERY_BROKER_URL", REDIS_URL=url, REDIS_PASSWORD="p@ss/word")
    assert found == {"REDIS_URL": expected, "CELERY_BROKER_URL": expected}


def test_the_containers_read_servers_and_keys_from_the_secrets(tmp_path: Path) -> None:
    for name in COMPOSE["secrets"]:
        (tmp_path / name).write_text(f"the-{name}\n")
    environment = {
        name: text.replace("/run/secrets", str(tmp_path)) for name, text in SERVICES["web"]["environment"].items()
    }
    found = read_settings("DATABASES", "REDIS_URL", "SECRET_KEY", "SECRET_KEYS", **environment)
    database = found["DATABASES"]["default"]
    assert {name: database[name] for name in ("HOST", "NAME", "USER", "PASSWORD")} == {
        "HOST": "postgres",
        "NAME": "atelier",
        "USER": "atelier",
        "PASSWORD": "the-postgres_password",
    }
    assert found["REDIS_URL"] == "redis://:the-valkey_password@valkey/0"
    assert found["SECRET_KEY"] == "the-secret_key"
    assert found["SECRET_KEYS"] == ["the-secret_keys"]


# --- compose.yaml -------------------------------------------------------------------------------------------------


def test_a_worker_is_started_as_the_launcher_starts_it() -> None:
    command = SERVICES["worker"]["command"]
    assert command[: command.index("worker") + 1] == ["python", "-m", "celery", "-q", "-A", "config", "worker"]
    assert sorted(command[command.index("worker") + 1 :]) == sorted(_join(WORKER.split()[1:]))


def _join(words: list[str]) -> list[str]:
    """Join options and their values: `--pool threads` becomes `--pool=threads`."""
    joined: list[str] = []
    for word in words:
        if word.startswith("--"):
            joined.append(word)
        else:
            joined[-1] += f"={word}"
    return joined


@pytest.mark.parametrize("name", APPLICATION)
def test_the_application_has_no_rights_that_it_does_not_need(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"]
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service.get("volumes") == ["files:/files"]


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_has_a_health_check_and_is_restarted(name: str) -> None:
    service = SERVICES[name]
    assert service["restart"] == ("on-failure:3" if name == "migrate" else "unless-stopped")
    assert name in ("migrate", "web") or service["healthcheck"]["test"]


@pytest.mark.parametrize("name", ["web", "worker"])
def test_web_and_worker_wait_for_the_migrations_and_the_servers(name: str) -> None:
    assert SERVICES[name]["depends_on"] == {
        "migrate": {"condition": "service_completed_successfully"},
        "postgres": {"condition": "service_healthy"},
        "valkey": {"condition": "service_healthy"},
    }


def test_the_trusted_proxy_is_in_the_network_of_compose() -> None:
    subnet = COMPOSE["networks"]["default"]["ipam"]["config"][0]["subnet"]
    assert SERVICES["web"]["environment"]["FORWARDED_ALLOW_IPS"] == f"${{FORWARDED_ALLOW_IPS:-{subnet}}}"


def test_only_the_web_service_can_be_reached_and_volumes_are_named() -> None:
    assert [name for name, service in SERVICES.items() if "ports" in service] == ["web"]
    places = [place for service in SERVICES.values() for place in service.get("volumes", [])]
    assert {place.partition(":")[0] for place in places} == set(COMPOSE["volumes"])


# --- the image ----------------------------------------------------------------------------------------------------


def test_the_context_of_the_build_contains_the_application_and_nothing_else() -> None:
    context = list_context()
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert context <= set(tracked.stdout.split("\0"))
    assert {path.partition("/")[0] for path in context if "/" in path} >= {
        *_local_apps(),
        "launcher",
        "locale",
        "frontend",
    }
    assert not {"tests", "bench", "docs", "var", "secrets", ".git"} & {path.partition("/")[0] for path in context}


def test_every_translation_in_the_image_is_compiled() -> None:
    context = list_context()
    sources = [path for path in context if path.endswith(".po")]
    assert len(sources) == 2
    assert not [path for path in context if path.endswith(".mo")]
    assert [value for name, value in read_dockerfile() if name == "RUN" and "pybabel -q compile -d locale" in value]


def _local_apps() -> set[str]:
    found = read_settings("INSTALLED_APPS", PATH=os.environ["PATH"])["INSTALLED_APPS"]
    return {name.partition(".")[0] for name in found if (ROOT / name.partition(".")[0]).is_dir()}


def test_the_last_stage_installs_nothing_and_is_not_run_by_root() -> None:
    steps = read_dockerfile()
    last = steps[max(number for number, (name, _) in enumerate(steps) if name == "FROM") :]
    commands = [value for name, value in last if name == "RUN"]
    assert [command.split()[0] for command in commands] == ["groupadd", "install"]
    assert [value for name, value in last if name == "USER"] == ["10001:10001"]


def test_the_image_serves_as_the_launcher_does() -> None:
    python, option, module = next(json.loads(value) for name, value in reversed(read_dockerfile()) if name == "CMD")
    assert (python, option) == ("python", "-m")
    assert f'"-m", "{module}"' in (ROOT / "launcher" / "launch.py").read_text()

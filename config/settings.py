"""The settings. Those that differ between installations come from the environment; all others are fixed here."""

from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import environ
from environ.fileaware_mapping import FileAwareMapping

from operators.theme import UNFOLD as UNFOLD
from server.limits import MAX_BODY_BYTES

ROOT = Path(__file__).resolve().parent.parent


class Variables(FileAwareMapping):  # type: ignore[misc]
    """The environment variables. `NAME_FILE` names a file with the value of `NAME`, and takes precedence over `NAME` itself."""

    def __getitem__(self, name: str) -> str:
        # Editors and `echo` end a file with a newline, which is not part of a secret.
        return str(super().__getitem__(name)).rstrip("\r\n")


class Env(environ.Env):  # type: ignore[misc]
    """Reads environment variables. Each may also come from a file, as Docker and Kubernetes provide secrets."""

    ENVIRON = Variables()


env = Env()

HOME = Path(env.str("ATELIER_HOME", default=str(ROOT / "var")))
DEBUG = env.bool("DEBUG", default=False)
SECRET_KEY = env.str("SECRET_KEY", default="only-for-tests-and-tools-that-serve-nobody")
# Older keys, with which sessions and links in mails stay valid. Remove them when those have expired.
SECRET_KEY_FALLBACKS = env.list("SECRET_KEY_FALLBACKS", default=[])
# The keys that encrypt stored secrets, newest first; older ones only decrypt. A Fernet key is 32 bytes in URL-safe base64.
SECRET_KEYS = env.list("SECRET_KEYS", default=["YXRlbGllci1hdGVsaWVyLWF0ZWxpZXItYXRlbGllci0="])
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
# The URL of the web app from outside, e.g. https://atelier.example.org. Links, cookies and allowed origins depend on it.
PUBLIC_URL = env.str("PUBLIC_URL", default="").rstrip("/")
if PUBLIC_URL:
    ALLOWED_HOSTS.append(urlsplit(PUBLIC_URL).hostname)
EMBEDDED = env.bool("ATELIER_EMBEDDED", default=False)
LOCAL_URL = env.str("ATELIER_ADDRESS", default="http://localhost:8000")
# The base of links that are not built for a request, for example in mails.
WEB_APP_URL = PUBLIC_URL or LOCAL_URL
# The port on which this installation listens, so no model server can be there; None if it is not known.
OWN_PORT = urlsplit(LOCAL_URL).port
# `host:port` pairs on private networks that a tenant's `api_base` (below /v1), tools and webhooks may name. With a path
# (`gpu.lan:11434/openai/v1`) the host may only be used as a model server below that path (SEC12, SEC13).
ALLOW_PRIVATE_HOSTS = frozenset(env.list("ATELIER_ALLOW_PRIVATE_HOSTS", default=[]))
# A model for workspaces that have set none, paid by the operator's key. Empty: they get the demo model.
SYSTEM_MODEL: dict[str, Any] = {
    "provider": env.str("ATELIER_MODEL_PROVIDER", default=""),
    "api_base": env.str("ATELIER_MODEL_API_BASE", default=""),
    "key": env.str("ATELIER_MODEL_KEY", default=""),
    # Other values that the provider needs, as `region=eu-central-1,access_key_id=…` (`common.providers`).
    "options": env.dict("ATELIER_MODEL_OPTIONS", default={}),
    # The default model, then others that agents may choose. Agents cannot use any other model with this key.
    "models": tuple(dict.fromkeys(env.list("ATELIER_MODEL", default=[]) + env.list("ATELIER_MODELS", default=[]))),
}
# The search service that `web_search` asks. Empty: agents have no such tool.
WEB_SEARCH = {
    "provider": env.str("WEB_SEARCH_PROVIDER", default=""),  # searxng, brave or tavily
    "url": env.str("WEB_SEARCH_URL", default=""),
    "key": env.str("WEB_SEARCH_KEY", default=""),
}
# The public services that tools ask; none needs a key (`system_tools.public_services`). Empty: agents have no tool for it.
PUBLIC_SERVICES = {
    "places": env.str("PLACES_URL", default="https://geocoding-api.open-meteo.com"),
    "weather": env.str("WEATHER_URL", default="https://api.open-meteo.com"),
    "exchange_rates": env.str("EXCHANGE_RATES_URL", default="https://api.frankfurter.dev"),
    # MediaWiki sites; {language} is a code such as `en` or `zh`.
    "travel_guide": env.str("TRAVEL_GUIDE_URL", default="https://{language}.wikivoyage.org"),
    "encyclopedia": env.str("ENCYCLOPEDIA_URL", default="https://{language}.wikipedia.org"),
}
# Calls of workspace tools that one worker process makes at the same time, for all its runs.
TOOL_CALLS_AT_ONCE = env.int("TOOL_CALLS_AT_ONCE", default=64)
# A service of the operator that merges suggestions (docs/operations.md). Empty: the merge agent merges them.
MERGE_SERVICE = {"url": env.str("MERGE_SERVICE_URL", default=""), "secret": env.str("MERGE_SERVICE_SECRET", default="")}

INSTALLED_APPS = [
    "unfold.apps.BasicAppConfig",
    "operators.apps.OperatorsConfig",
    "operators.apps.OperatorAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "allauth",
    "allauth.account",
    "allauth.headless",
    "guardian",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "channels",
    "config",
    "common",
    "events",
    "admin_kit",
    "actors",
    "workspaces",
    "tools",
    "system_tools",
    "chats",
    "files",
    "llm",
    "agents",
    "agent_files",
    "approvals",
    "embeddings",
    "context",
    "usage",
    "memory",
    "runs",
    "boards",
    "waking",
    "schedules",
    "worker",
    "suggestions",
    "publishing",
    "notifications",
    "inspector",
    "webhooks",
    "realtime",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "actors.middleware.AllauthMiddleware",
    "allauth.account.middleware.AccountMiddleware",
]

ROOT_URLCONF = "config.urls"
ASGI_APPLICATION = "config.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

# --- servers --------------------------------------------------------------------------------------------------

# Database connections of one process: `DATABASE_POOL` for requests, and `SOCKET_THREADS` for sockets. A worker may have as many:
# four for tools, one each for its heartbeat and its sweeper, and the rest, `DATABASE_POOL - 2`, for runs.
DATABASE_POOL = env.int("DATABASE_POOL", default=8)
SOCKET_THREADS = 4
MAX_CONNECTIONS = DATABASE_POOL + SOCKET_THREADS
DATABASES: dict[str, dict[str, Any]] = {
    "default": env.db_url("DATABASE_URL", default="postgres://atelier@localhost/atelier")
    | {
        # Checks pooled connections without a round trip (RUN7).
        "ENGINE": "common.postgresql",
        "CONN_MAX_AGE": 0,
        "OPTIONS": {
            "pool": {"min_size": 1, "max_size": MAX_CONNECTIONS, "timeout": 5, "reconnect_timeout": 2},
            # For the queries of a message, planning takes PostgreSQL longer than execution (docs/performance.md).
            "server_side_binding": True,
            "prepare_threshold": 5,
        },
    }
}
if DATABASE_PASSWORD := env.str("DATABASE_PASSWORD", default=""):
    DATABASES["default"]["PASSWORD"] = DATABASE_PASSWORD
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = env.str("REDIS_URL", default="redis://localhost:6379/0")
if REDIS_PASSWORD := env.str("REDIS_PASSWORD", default=""):
    _url = urlsplit(REDIS_URL)
    _user, _, _host = _url.netloc.rpartition("@")
    REDIS_URL = _url._replace(netloc=f"{_user.partition(':')[0]}:{quote(REDIS_PASSWORD, safe='')}@{_host}").geturl()
# Where the content of files is kept: a folder, or a bucket of an S3-compatible service.
FILES_BUCKET = env.str("FILES_S3_BUCKET", default="")
FILES_S3_OPTIONS: dict[str, Any] = {
    "bucket_name": FILES_BUCKET,
    "endpoint_url": env.str("FILES_S3_ENDPOINT", default="") or None,
    "region_name": env.str("FILES_S3_REGION", default="") or None,
    "access_key": env.str("FILES_S3_ACCESS_KEY", default="") or None,
    "secret_key": env.str("FILES_S3_SECRET_KEY", default="") or None,
    "addressing_style": env.str("FILES_S3_ADDRESSING", default="path"),
    "signature_version": "s3v4",
    "file_overwrite": False,
    "default_acl": None,
}
STORAGES: dict[str, dict[str, Any]] = {
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    "files": {"BACKEND": "storages.backends.s3.S3Storage", "OPTIONS": FILES_S3_OPTIONS}
    if FILES_BUCKET
    else {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {
            "location": env.str("FILES_FOLDER", default=str(HOME / "files")),
            "file_permissions_mode": 0o600,
            "directory_permissions_mode": 0o700,
        },
    },
}
# The internal location of the proxy that sends stored files itself (X-Accel-Redirect), e.g. /stored-files/. Empty: this process
# sends them.
FILES_ACCEL_PATH = env.str("FILES_ACCEL_PATH", default="")
MAX_FILE_BYTES = env.int("ATELIER_MAX_FILE_BYTES", default=50 * 1024 * 1024)
# The bytes of all files of one workspace; 0 is no limit.
MAX_WORKSPACE_FILE_BYTES = env.int("ATELIER_MAX_WORKSPACE_FILE_BYTES", default=10 * 1024**3)

CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        # The default of redis-py 8 closes idle sockets after 5 s.
        "CONFIG": {
            "hosts": [{"address": REDIS_URL, "max_connections": 4000, "socket_timeout": None}],
            "prefix": "realtime",
        },
    }
}
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "OPTIONS": {"socket_connect_timeout": 1.0, "socket_timeout": 2.0},
    }
}

CELERY_BROKER_URL = REDIS_URL
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_DEFAULT_QUEUE = "work"
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # no limit, since runs continue without the broker
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
# Without `ack_emulation` a worker keeps the tasks that it has received in its memory only, which saves three Redis calls per run.
# A killed worker loses tasks that it has not started: runs are found in PostgreSQL, and people request a lost mail again.
CELERY_BROKER_TRANSPORT_OPTIONS = {"ack_emulation": False, "socket_keepalive": True, "health_check_interval": 10}
# Hours after which a call or a question that waits for a person expires: the call is not made.
APPROVAL_HOURS = env.float("APPROVAL_HOURS", default=24.0)
# Days for which the requests to models are kept as they were sent (`llm/sent_requests.py`); their figures stay.
SENT_REQUEST_DAYS = env.int("SENT_REQUEST_DAYS", default=30)
# Days for which the wakes and deliveries of outside programs, and the past times of schedules, are kept.
WAKE_DAYS = env.int("WAKE_DAYS", default=30)
# Days for which the deletion of a workspace can be undone. Then its content is purged (docs/permissions.md).
WORKSPACE_PURGE_DAYS = env.int("WORKSPACE_PURGE_DAYS", default=14)
# Minutes after which an operator no longer views as another person (docs/security.md).
VIEWING_MINUTES = env.int("VIEWING_MINUTES", default=30)
# The most runs that one worker process executes at once; the others wait in PostgreSQL.
RUNS_PER_WORKER = env.int("RUNS_PER_WORKER", default=200)
# The most runs of one workspace and of one person in a worker process. Neither may have more runs than there are free slots
# (docs/security.md).
RUNS_PER_WORKSPACE = env.int("RUNS_PER_WORKSPACE", default=40)
RUNS_PER_PERSON = env.int("RUNS_PER_PERSON", default=20)
# Seconds. A lease must outlast two heartbeats (config/checks.py).
RUN_LEASE = env.float("RUN_LEASE", default=10.0)
RUN_HEARTBEAT = env.float("RUN_HEARTBEAT", default=3.0)
SWEEP_EVERY = env.float("SWEEP_EVERY", default=3.0)
# Seconds. A worker that receives no task for so long, while tasks wait in Redis, counts as disconnected and exits (RUN5).
WORKER_DISCONNECTED_AFTER = env.float("WORKER_DISCONNECTED_AFTER", default=60.0)
# A file that a healthy worker touches every few seconds, for the health check of its container.
WORKER_ALIVE_PATH = Path(path) if (path := env.str("WORKER_ALIVE_PATH", default="")) else None
# Seconds until the first word of an answer, between two words, and for a whole request. Without a value, servers on private
# addresses have more time than others (`llm/client.py`).
LLM_FIRST_TOKEN_TIMEOUT = env.float("LLM_FIRST_TOKEN_TIMEOUT", default=None)
LLM_IDLE_TIMEOUT = env.float("LLM_IDLE_TIMEOUT", default=None)
LLM_TOTAL_TIMEOUT = env.float("LLM_TOTAL_TIMEOUT", default=None)
# Seconds before each further request to a server that cannot be reached or loads its model.
LLM_RESTART_DELAYS = tuple(map(float, env.list("LLM_RESTART_DELAYS", default=["5", "10", "20"])))
# The context size, in tokens, of models that litellm's table does not list, and the most tokens that are sent to any model.
LLM_CONTEXT_SIZE = env.int("LLM_CONTEXT_SIZE", default=32_000)
LLM_MAX_CONTEXT = env.int("LLM_MAX_CONTEXT", default=128_000)

# --- accounts -------------------------------------------------------------------------------------------------

AUTH_USER_MODEL = "actors.Actor"
AUTHENTICATION_BACKENDS = ["actors.auth.PeopleBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
ACCOUNT_ADAPTER = "actors.account_adapter.AccountAdapter"
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_SIGNUP_FORM_CLASS = "actors.account_adapter.SignupForm"
# If mail can be sent, people confirm the email of a new account before they sign in for the first time.
ACCOUNT_EMAIL_VERIFICATION = env.str(
    "ACCOUNT_EMAIL_VERIFICATION", default="mandatory" if env.str("EMAIL_URL", default="") else "none"
)
# Who may sign up: all people ("open"), people with a valid invite link ("invited"), or no one ("closed").
SIGN_UP = env.str("ATELIER_SIGN_UP", default="open")
ACCOUNT_USER_MODEL_USERNAME_FIELD = "username"
ACCOUNT_RATE_LIMITS = {
    # Failed attempts: from one IP address, and for one account.
    "login_failed": "10/m/ip,5/5m/key",
    "login": "30/m/ip",
    "signup": "30/m/ip",
    "reset_password": "10/m/ip,3/10m/key",
    "reset_password_from_key": "20/m/ip",
    "change_password": "5/m/user",
}
ACCOUNT_LOGIN_ON_PASSWORD_RESET = True
ACCOUNT_PASSWORD_RESET_TOKEN_GENERATOR = "django.contrib.auth.tokens.PasswordResetTokenGenerator"
PASSWORD_RESET_TIMEOUT = 60 * 60
HEADLESS_ONLY = True
HEADLESS_CLIENTS = ["browser", "app"]
HEADLESS_TOKEN_STRATEGY = "actors.sessions.TokenStrategy"
HEADLESS_FRONTEND_URLS = {
    "account_confirm_email": "/confirm-email/{key}",
    "account_reset_password": "/reset-password",
    "account_reset_password_from_key": "/reset-password/{key}",
    "account_signup": "/sign-up",
}
# e.g. smtp+tls://user:password@mail.example.org:587
SENDS_MAIL = bool(env.str("EMAIL_URL", default=""))
EMAIL_CONFIG = env.email_url("EMAIL_URL") if SENDS_MAIL else {"EMAIL_BACKEND": "actors.mails.LoggingEmailBackend"}
vars().update(EMAIL_CONFIG)
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = env.str("EMAIL_FROM", default="Atelier <atelier@localhost>")
ANONYMOUS_USER_NAME = None  # guardian: people who are not signed in have no rights
GUARDIAN_MONKEY_PATCH_USER = False
SILENCED_SYSTEM_CHECKS = ["guardian.W001"]  # grants are read by our own permission functions, not by a backend

SESSION_ENGINE = "actors.sessions"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = 60 * 60 * 24 * 30
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_FAILURE_VIEW = "config.error_pages.forbidden"
SECURE_COOKIES = PUBLIC_URL.startswith("https://")
SESSION_COOKIE_SECURE = SECURE_COOKIES
# With an https URL, requests by http are redirected, and browsers do not use http again (HSTS). The scheme of a request comes
# from the proxy (`X-Forwarded-Proto`), if `FORWARDED_ALLOW_IPS` names the proxy.
SECURE_SSL_REDIRECT = SECURE_COOKIES
SECURE_HSTS_SECONDS = 60 * 60 * 24 * 365 if SECURE_COOKIES else 0
FORWARDED_ALLOW_IPS = env.str("FORWARDED_ALLOW_IPS", default="")
CSRF_COOKIE_SECURE = SECURE_COOKIES
CSRF_TRUSTED_ORIGINS = [PUBLIC_URL] if PUBLIC_URL else []
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        # Components are positioned by style attributes; inline style sheets stay forbidden.
        "style-src-attr": ["'unsafe-inline'"],
        "img-src": ["'self'", "blob:", "data:"],
        "font-src": ["'self'"],
        "connect-src": ["'self'"],
        "manifest-src": ["'self'"],
        "frame-ancestors": ["'none'"],
        "base-uri": ["'none'"],
        "form-action": ["'self'"],
    },
}

# --- API ------------------------------------------------------------------------------------------------------

# Requests that one web process handles at once, each in a thread (`WEB_THREADS`). Up to `WEB_WAITING` are active or wait; more are
# refused.
WEB_THREADS = env.int("WEB_THREADS", default=DATABASE_POOL)
WEB_WAITING = env.int("WEB_WAITING", default=1000)
DATA_UPLOAD_MAX_MEMORY_SIZE = MAX_BODY_BYTES


def _rate(name: str, rate: float, burst: float) -> tuple[float, float]:
    rate, burst = env.list(f"ATELIER_RATE_{name}", cast=float, default=[rate, burst])
    return rate, burst


# Rate limits (actors/rates.py, SEC21): (tokens per second, burst), so 60 an hour are (60 / 3600, 60). 0: no limit.
RATES = {
    "requests": _rate("REQUESTS", 50, 300),  # of one person
    "posts": _rate("POSTS", 30, 60),  # messages of one person
    "workspace_posts": _rate("WORKSPACE_POSTS", 100, 300),  # messages of all people in one workspace
    # What one person requests that needs a call of a model or of another server: merges, comparisons, retries, tests, MCP servers.
    "jobs": _rate("JOBS", 0.2, 30),
    "diffs": _rate("DIFFS", 2, 30),  # diffs of two whole texts that one person requests
    "public_agents": _rate("PUBLIC_AGENTS", 0.2, 20),  # public agents that one person adds to chats
    "added_people": _rate("ADDED_PEOPLE", 1 / 60, 30),  # how often one person adds the same other person to chats
    # Publications of one person: each new version is a line in all chats of the public agent.
    "publications": _rate("PUBLICATIONS", 0.02, 3),
    "client_errors": _rate("CLIENT_ERRORS", 0.05, 10),  # errors of the web app that one person's browsers report
    "all_client_errors": _rate("ALL_CLIENT_ERRORS", 1, 60),  # and those that all browsers report
    # Seconds of CPU of a web process that one person's requests may use. Requests over this limit wait and are not refused.
    "cpu": _rate("CPU", 0.3, 5),
    # And those of all people in one workspace. Over this limit they get no more threads together than one person.
    "workspace_cpu": _rate("WORKSPACE_CPU", 0.3, 2),
    "anonymous": _rate("ANONYMOUS", 20, 200),  # requests from one IP address without sign-in
    "passwords": _rate("PASSWORDS", 0.05, 5),  # confirmations of the password by one person who is signed in
}


def _quota(name: str, default: int) -> int:
    return int(env.int(f"ATELIER_QUOTA_{name}", default=default))


# Limits of numbers of objects (common/quotas.py). 0: no limit.
QUOTAS = {
    "workspaces": _quota("WORKSPACES", 100),  # of one person
    "workspace_members": _quota("WORKSPACE_MEMBERS", 2000),
    "agents": _quota("AGENTS", 500),  # of one workspace
    "chats": _quota("CHATS", 5000),  # made by one person in one workspace
    "links": _quota("LINKS", 100),  # valid ones into one chat
    "files": _quota("FILES", 20_000),  # of one workspace
    "tool_servers": _quota("TOOL_SERVERS", 50),  # of one workspace
    "workspace_tools": _quota("WORKSPACE_TOOLS", 500),  # of one workspace
    "schedules": _quota("SCHEDULES", 200),  # of one workspace
    "suggestions": _quota("SUGGESTIONS", 500),  # open ones of one person in one workspace
}
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "actors.auth.BearerToken",
        "actors.auth.BrowserSession",
        "actors.auth.AppSession",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["actors.auth.SignedIn"],
    "DEFAULT_THROTTLE_CLASSES": ["actors.rates.Throttle"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["common.rest.StorableJSONParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "common.rest.handle_error",
    "UNAUTHENTICATED_USER": None,
    # `?format=` has no special meaning.
    "URL_FORMAT_OVERRIDE": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Atelier",
    "VERSION": "1",
    "OAS_VERSION": "3.1.1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "COMPONENT_SPLIT_REQUEST": True,
    "POSTPROCESSING_HOOKS": ["realtime.schema.complete_document"],
}

# --- the rest -------------------------------------------------------------------------------------------------

USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
LANGUAGE_COOKIE_SECURE = SECURE_COOKIES
LANGUAGE_COOKIE_HTTPONLY = True
LANGUAGE_COOKIE_SAMESITE = "Lax"
LOCALE_PATHS = [ROOT / "locale"]
FORMAT_MODULE_PATH = ["config.formats"]
LANGUAGES = [("en", "English"), ("zh-hant", "繁體中文"), ("zh-hans", "简体中文")]
STATIC_URL = "/static/"
WEB_APP = ROOT / "frontend" / "dist"
STATICFILES_DIRS = [WEB_APP] if WEB_APP.exists() else []
# Static files are served from their source folders, so `collectstatic` is not used.
WHITENOISE_USE_FINDERS = True
WHITENOISE_IMMUTABLE_FILE_TEST = r"^/static/assets/"
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"secrets": {"()": "common.logs.ScrubSecrets"}, "request": {"()": "common.request_ids.AddRequestId"}},
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(request_prefix)s%(message)s"}},
    "handlers": {
        "console": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["secrets", "request"]},
    },
    "root": {"handlers": ["console"], "level": env.str("LOG_LEVEL", default="INFO")},
    "loggers": {
        "httpx": {"level": "WARNING"},
        "httpx2": {"level": "WARNING"},
        # Errors of this library about a server reach our code anyway, and a hostile server could fill the log with them.
        "mcp": {"level": "CRITICAL"},
        "uvicorn.sockets": {"level": "WARNING"},
        "LiteLLM": {"level": "WARNING"},
        # This library logs a lost Redis once a second, with a traceback; the hub logs it once.
        "channels_redis": {"level": "CRITICAL"},
        # These two log two lines for every task.
        "celery.worker.strategy": {"level": "WARNING"},
        "celery.app.trace": {"level": "WARNING"},
        # The pool logs a lost PostgreSQL once for each connection; the code that needs the connection logs it, too.
        "psycopg.pool": {"level": "ERROR"},
        # Errors of clients are in the response and need no log line.
        "django.request": {"level": "ERROR"},
    },
}

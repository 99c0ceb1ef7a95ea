"""Django settings: one file, everything that differs between machines comes from the environment.

Without any variable this is the *embedded* site: SQLite and Celery's filesystem transport under
`var/`, a secret key made once. Production sets DATABASE_URL (PostgreSQL), KEYDROME_BROKER_URL
(Redis), KEYDROME_SECRET_KEY and KEYDROME_HOSTS; docs/reference/configuration.md lists all of them.
"""

import contextlib
import os
import secrets
from pathlib import Path
from typing import Any

import environ

env = environ.FileAwareEnv()

BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = Path(env.str("KEYDROME_VAR", default=str(BASE_DIR / "var"))).resolve()
VAR_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)


def _write_once(path: Path, text: str) -> None:
    """Create `path` with `text`, whole or not at all; the first of several processes wins."""
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(text)
    with contextlib.suppress(FileExistsError):
        os.link(draft, path)
    draft.unlink()


def _secret_key() -> str:
    """Return KEYDROME_SECRET_KEY, else the key in var/secret-key, made on first use (mode 0600)."""
    given: str = env.str("KEYDROME_SECRET_KEY", default="")
    if given:
        return given
    path = VAR_DIR / "secret-key"
    if not path.exists():
        _write_once(path, secrets.token_urlsafe(48))
    return path.read_text().strip()


DEBUG = env.bool("KEYDROME_DEBUG", default=False)
SECRET_KEY = _secret_key()
ALLOWED_HOSTS = env.list("KEYDROME_HOSTS", default=["127.0.0.1", "localhost", "[::1]"])

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "leaderboard",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

ROOT_URLCONF = "web.urls"
WSGI_APPLICATION = "web.wsgi.application"

TEMPLATES: list[dict[str, Any]] = [
    {
        # Only for Django's admin.
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]


def _database() -> dict[str, Any]:
    """Return the database that DATABASE_URL names; on SQLite writers wait instead of failing."""
    database: dict[str, Any] = env.db_url(
        "DATABASE_URL", default=f"sqlite:///{VAR_DIR / 'keydrome.sqlite3'}"
    )
    if database["ENGINE"] == "django.db.backends.sqlite3":
        # IMMEDIATE takes the write lock at BEGIN: a transaction that reads first cannot fail later
        # with "locked".
        database["OPTIONS"] = {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
        }
    else:
        database["CONN_MAX_AGE"] = env.int("KEYDROME_DATABASE_MAX_AGE", default=60)
        database["CONN_HEALTH_CHECKS"] = True
    return database


DATABASES = {"default": _database()}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

STORAGES = {
    # Plots and other files about runs: private, served by views that check access; there is no
    # MEDIA_URL.
    "default": {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {
            "location": str(VAR_DIR / "artefacts"),
            "file_permissions_mode": 0o600,
            "directory_permissions_mode": 0o700,
        },
    },
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}

STATIC_URL = "static/"
STATIC_ROOT = VAR_DIR / "static"

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False

# What the leaderboard asks of runs. The embedded demo sets smoke and 3; such entries are marked
# provisional.
KEYDROME_SCALE = env.str("KEYDROME_SCALE", default="paper")
KEYDROME_SESSIONS = env.int("KEYDROME_SESSIONS", default=15)
# Overrides the scales that every board.json accepts, for example "smoke" in the embedded demo;
# empty: as the board says.
KEYDROME_BOARD_SCALE = env.str("KEYDROME_BOARD_SCALE", default="")

# Queue timing in seconds. A lease must outlive several heartbeats; the sweep finds it at most one
# period late.
KEYDROME_LEASE_SECONDS = env.int("KEYDROME_LEASE_SECONDS", default=60)
KEYDROME_SWEEP_SECONDS = env.int("KEYDROME_SWEEP_SECONDS", default=15)
KEYDROME_MAX_ATTEMPTS = env.int("KEYDROME_MAX_ATTEMPTS", default=3)

BROKER_DIR = VAR_DIR / "broker"


def _broker_url() -> str:
    """Return the broker's URL; without one in the environment, the filesystem transport."""
    named: str = env.str("KEYDROME_BROKER_URL", default="")
    if named:
        return named
    fallback: str = env.str("CELERY_BROKER_URL", default="filesystem://")
    return fallback


# Read by web/celery.py (namespace CELERY). Results live in our tables; a bell is acknowledged when
# it rings, because the lease in the run's row guards the work and the sweep repeats it.
CELERY_BROKER_URL = _broker_url()
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_ACKS_LATE = False
CELERY_TASK_REJECT_ON_WORKER_LOST = False
CELERY_TASK_CREATE_MISSING_QUEUES = False
CELERY_TASK_DEFAULT_QUEUE = "results"
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_CONCURRENCY = 1
# A broker that goes away for a moment must not kill a timed run.
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = False
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TIMEZONE = "UTC"
if CELERY_BROKER_URL.startswith("filesystem:"):
    _folders = {
        "data_folder_in": BROKER_DIR / "messages",
        "data_folder_out": BROKER_DIR / "messages",
        "processed_folder": BROKER_DIR / "processed",
        "control_folder": BROKER_DIR / "control",
    }
    for _folder in _folders.values():
        _folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, Any] = {
        **{name: str(folder) for name, folder in _folders.items()},
        "polling_interval": 0.1,
    }
else:
    CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 3600}

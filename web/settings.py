"""Django settings: one file, everything that differs between machines comes from the environment.

Without any variable this is the *embedded* site: SQLite and a broker of files under
`var/`, a secret key made once. Production sets DATABASE_URL (PostgreSQL), KEYDROME_BROKER_URL
(Redis), KEYDROME_SECRET_KEY and KEYDROME_HOSTS; docs/reference/environment.md lists all of them.
"""

import contextlib
import os
import secrets
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import environ

env = environ.FileAwareEnv()  # type: ignore[no-untyped-call] # no type information is published

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
    "django.forms",  # so that form fields render through Jinja2, see FORM_RENDERER
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
    "csp",
    "leaderboard",
    "web",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "web.middleware.permissions_policy",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "web.middleware.limit_request_size",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "csp.middleware.CSPMiddleware",
    "allauth.account.middleware.AccountMiddleware",
]
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]

ROOT_URLCONF = "web.urls"
WSGI_APPLICATION = "web.wsgi.application"

TEMPLATES: list[dict[str, Any]] = [
    {
        # Every page of the site; allauth's too, found here before its own.
        "BACKEND": "django.template.backends.jinja2.Jinja2",
        "APP_DIRS": True,
        "OPTIONS": {
            "environment": "web.jinja.environment",
            "context_processors": [
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
    {
        # Only for Django's admin and allauth's mails.
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
        # A percent-encoded host is the folder of a Unix socket; write it in lower case, as all hosts in URLs.
        database["HOST"] = unquote(database["HOST"])
        database["CONN_MAX_AGE"] = env.int("KEYDROME_DATABASE_MAX_AGE", default=60)
        database["CONN_HEALTH_CHECKS"] = True
    return database


FORM_RENDERER = "django.forms.renderers.TemplatesSetting"

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
    # Names with a digest, so that browsers may keep files for ever; `collectstatic` fills STATIC_ROOT.
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}

STATIC_URL = "static/"
STATIC_ROOT = Path(env.str("KEYDROME_STATIC_ROOT", default=str(VAR_DIR / "static")))
STATIC_ROOT.mkdir(parents=True, exist_ok=True)

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False

# Overrides the scales that every board.json accepts, for example "smoke" in the embedded demo, and
# marks every entry provisional; empty: as the board says.
KEYDROME_BOARD_SCALE = env.str("KEYDROME_BOARD_SCALE", default="")
# What is asked of a submission's runs.
KEYDROME_SCALE = env.str("KEYDROME_SCALE", default=KEYDROME_BOARD_SCALE or "paper")
KEYDROME_SESSIONS = env.int("KEYDROME_SESSIONS", default=3 if KEYDROME_BOARD_SCALE else 15)

# Queue timing in seconds. A lease must outlive several heartbeats; the sweep finds it at most one
# period late.
KEYDROME_LEASE_SECONDS = env.int("KEYDROME_LEASE_SECONDS", default=60)
KEYDROME_SWEEP_SECONDS = env.int("KEYDROME_SWEEP_SECONDS", default=15)
KEYDROME_MAX_ATTEMPTS = env.int("KEYDROME_MAX_ATTEMPTS", default=3)
# One timed run in so many has one more session, recorded and certified, unannounced; 0: none.
KEYDROME_RECORD_ONE_IN = env.int("KEYDROME_RECORD_ONE_IN", default=10)

# How far the control library may stray on a machine that ranks, in percent (leaderboard/steadiness.py).
KEYDROME_NOISE_PERCENT_MAX = env.float("KEYDROME_NOISE_PERCENT_MAX", default=10.0)
KEYDROME_DRIFT_PERCENT_MAX = env.float("KEYDROME_DRIFT_PERCENT_MAX", default=10.0)

# The class of bench machines that new runs ask for, as the status page names it; empty: any.
KEYDROME_MACHINE_CLASS = env.str("KEYDROME_MACHINE_CLASS", default="")
# What one user may ask for, organisers apart: submissions in 24 hours, and submissions that have not ended. What fails
# through the machines' fault or was cancelled before it started is not counted (leaderboard/quotas.py).
KEYDROME_SUBMISSIONS_PER_DAY = env.int("KEYDROME_SUBMISSIONS_PER_DAY", default=100)
KEYDROME_SUBMISSIONS_OPEN = env.int("KEYDROME_SUBMISSIONS_OPEN", default=20)

# How many slots of its machine a bench worker may choose from.
KEYDROME_SLOTS = env.int("KEYDROME_SLOTS", default=1)

BROKER_DIR = VAR_DIR / "broker"


def _broker_url() -> str:
    """Return the broker's URL; without one in the environment, a folder of files."""
    named: str = env.str("KEYDROME_BROKER_URL", default="")
    if named:
        return named
    fallback: str = env.str("CELERY_BROKER_URL", default="filesystem://localhost/")
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
# What Celery's scheduler rings: lost runs are found, and idle workers show that they live.
CELERY_BEAT_SCHEDULE_FILENAME = str(VAR_DIR / "beat-schedule")
CELERY_BEAT_SCHEDULE = {
    f"ring {_queue}": {
        "task": "leaderboard.doorbell",
        "args": [_queue],
        "schedule": KEYDROME_SWEEP_SECONDS,
        "options": {"queue": _queue, "expires": KEYDROME_SWEEP_SECONDS},
    }
    for _queue in ("bench", "results")
}
if CELERY_BROKER_URL.startswith("filesystem:"):
    CELERY_BROKER_TRANSPORT = "web.broker:Transport"
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

# Everything goes to stderr; who starts a process decides where that lands. Requests are the web server's to log.
LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"},
    },
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": env.str("KEYDROME_LOG_LEVEL", default="INFO")},
    # Django's own set-up shows errors on the console in debug mode only.
    "loggers": {"django": {"handlers": [], "level": "INFO", "propagate": True}},
}

# Accounts.

LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "submissions:list"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]

# Mail is off until KEYDROME_EMAIL_URL names a server: then accounts must prove their address. Until then what would be
# sent is written below var/mail, readable by the site's user only (it holds links that reset passwords).
_EMAIL_URL = env.str("KEYDROME_EMAIL_URL", default="")
if _EMAIL_URL:
    vars().update(env.email_url_config(_EMAIL_URL))  # type: ignore[no-untyped-call]
else:
    EMAIL_BACKEND = "django.core.mail.backends.filebased.EmailBackend"
    EMAIL_FILE_PATH = str(VAR_DIR / "mail")
    Path(EMAIL_FILE_PATH).mkdir(mode=0o700, exist_ok=True)
DEFAULT_FROM_EMAIL = env.str("KEYDROME_EMAIL_FROM", default="keydrome@localhost")
SERVER_EMAIL = DEFAULT_FROM_EMAIL

ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = [
    "username*",
    "email*" if _EMAIL_URL else "email",
    "password1*",
    "password2*",
]
ACCOUNT_EMAIL_VERIFICATION = "mandatory" if _EMAIL_URL else "none"
ACCOUNT_EMAIL_SUBJECT_PREFIX = "[Keydrome] "
# The names of the account that owns the reference libraries and of addresses a visitor might trust.
ACCOUNT_USERNAME_BLACKLIST = ["keydrome", "admin", "organiser", "root", "support"]
ACCOUNT_USERNAME_MIN_LENGTH = 2
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes"]
MFA_TOTP_ISSUER = "Keydrome"
# How many reverse proxies stand before the site: rate limits need the visitor's own address.
ALLAUTH_TRUSTED_PROXY_COUNT = env.int("KEYDROME_PROXIES", default=0)

CACHES = {"default": env.cache_url("KEYDROME_CACHE_URL", default="locmemcache://")}

# Uploads.

# Bytes of one uploaded library; the runner has the same limit.
KEYDROME_UPLOAD_BYTES = env.int("KEYDROME_UPLOAD_BYTES", default=64 * 1024 * 1024)
# Uploads of one user per hour; organisers are not limited.
KEYDROME_UPLOADS_PER_HOUR = env.int("KEYDROME_UPLOADS_PER_HOUR", default=30)
FILE_UPLOAD_TEMP_DIR = str(VAR_DIR / "uploads")
Path(FILE_UPLOAD_TEMP_DIR).mkdir(mode=0o700, exist_ok=True)
FILE_UPLOAD_HANDLERS = [
    "web.submissions.upload_handler.SizeLimitHandler",
    "django.core.files.uploadhandler.TemporaryFileUploadHandler",
]

# Security.

# A site with host names of its own stands behind TLS unless KEYDROME_TLS says no; the embedded one on the loopback
# interface does not.
TLS = env.bool("KEYDROME_TLS", default="KEYDROME_HOSTS" in env.ENVIRON and not DEBUG)
SECURE_SSL_REDIRECT = TLS
SESSION_COOKIE_SECURE = TLS
CSRF_COOKIE_SECURE = TLS
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if TLS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = TLS
SECURE_HSTS_PRELOAD = TLS
if env.int("KEYDROME_PROXIES", default=0) > 0:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
CSRF_TRUSTED_ORIGINS = [f"https://{host}" for host in ALLOWED_HOSTS] if TLS else []
CSRF_COOKIE_HTTPONLY = True
CSRF_FAILURE_VIEW = "web.pages.errors.csrf_failure"
X_FRAME_OPTIONS = "DENY"

# Scripts and styles come from our own files only: nothing inline, nothing evaluated, nothing from elsewhere.
# Pico draws its marks as data: images.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "font-src": ["'self'"],
        "connect-src": ["'self'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'none'"],
        "base-uri": ["'none'"],
    }
}

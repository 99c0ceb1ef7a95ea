"""Defines Django's settings. Each setting that differs between machines comes from an environment variable.

If no variable is set, the site is the *embedded* site: SQLite, a file-based message broker and a generated secret key,
all under `var/`. Production sets DATABASE_URL (PostgreSQL), KEYDROME_BROKER_URL (Redis), KEYDROME_SECRET_KEY and
KEYDROME_HOSTS. docs/reference/environment.md lists all variables.
"""

import contextlib
import os
import secrets
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import environ
from django.core.exceptions import ImproperlyConfigured


class _Env(environ.FileAwareEnv):
    """Reads the variables. The error for a value that is not a number names the variable."""

    def get_value(self, var: str, cast: Any = None, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - as in environ
        """Return the value of a variable. Raises ImproperlyConfigured if it must be a number, but is not."""
        try:
            return super().get_value(var, cast, *args, **kwargs)
        except ValueError as error:
            if cast not in {int, float}:
                raise
            kind = "a whole number" if cast is int else "a number"
            message = f"{var} is {self.ENVIRON[var]!r}: set the environment variable to {kind}"
            raise ImproperlyConfigured(message) from error


env = _Env()  # type: ignore[no-untyped-call] # no type information is published

BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = Path(env.str("KEYDROME_VAR", default=str(BASE_DIR / "var"))).resolve()
VAR_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)


def _write_once(path: Path, text: str) -> None:
    """Create the file `path` with the content `text` atomically. If the file already exists, leave it unchanged."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(text)
    with contextlib.suppress(FileExistsError):
        os.link(temporary, path)
    temporary.unlink()


def _secret_key() -> str:
    """Return KEYDROME_SECRET_KEY or, if this variable is not set, the key in var/secret-key.

    The first process creates the file var/secret-key with mode 0600.
    """
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
    "django.forms",  # FORM_RENDERER needs it to render form fields through Jinja2
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
    "csp",
    "leaderboard",
    "leaderboard.contests",
    "web",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "web.middleware.permissions_policy",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "web.middleware.limit_request_size",
    # Pages are compressed after their ETag is known. The secret CSRF tokens of forms differ on every page, so the size
    # of a compressed page does not reveal them.
    "django.middleware.gzip.GZipMiddleware",
    "django.middleware.http.ConditionalGetMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "csp.middleware.CSPMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "web.middleware.private_pages",
]
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]

ROOT_URLCONF = "web.urls"
WSGI_APPLICATION = "web.wsgi.application"

TEMPLATES: list[dict[str, Any]] = [
    {
        # All pages of the site use this backend. Because it comes first, our templates replace allauth's templates.
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
        # Only Django's admin pages and allauth's email messages use this backend.
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


def _keep_private(path: Path) -> None:
    """Let only this user read an SQLite file, which contains password hashes, sessions and secret seeds.

    Creates the file if it does not exist. SQLite gives its additional files the mode of the database.
    """
    if not path.is_absolute():
        return  # a name such as :memory:
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    for file in (path, Path(f"{path}-wal"), Path(f"{path}-shm")):
        with contextlib.suppress(FileNotFoundError, PermissionError):
            file.chmod(0o600)


def _database() -> dict[str, Any]:
    """Return the settings of the database that DATABASE_URL names; by default an SQLite file in `var/`."""
    database: dict[str, Any] = env.db_url(
        "DATABASE_URL", default=f"sqlite:///{VAR_DIR / 'keydrome.sqlite3'}"
    )
    if database["ENGINE"] == "django.db.backends.sqlite3":
        # IMMEDIATE takes SQLite's write lock at BEGIN and waits up to `timeout` seconds for other writers. Otherwise a
        # transaction that first reads and then writes could fail with "database is locked".
        _keep_private(Path(database["NAME"]))
        database["OPTIONS"] = {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
        }
    else:
        # A percent-encoded host is the folder of a Unix socket. The URL parser leaves the host encoded.
        database["HOST"] = unquote(database["HOST"])
        database["CONN_MAX_AGE"] = env.int("KEYDROME_DATABASE_MAX_AGE", default=60)
        database["CONN_HEALTH_CHECKS"] = True
    return database


FORM_RENDERER = "django.forms.renderers.TemplatesSetting"

DATABASES = {"default": _database()}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

STORAGES = {
    # Plots and other files about runs. The files are private: there is no MEDIA_URL, and views check access before they
    # send a file.
    "default": {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {
            "location": str(VAR_DIR / "artefacts"),
            "file_permissions_mode": 0o600,
            "directory_permissions_mode": 0o700,
        },
    },
    # Style sheets, scripts and icons. Their file names contain a digest, so browsers may cache the files without limit.
    # The command `collectstatic` fills STATIC_ROOT.
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}

STATIC_URL = "static/"
STATIC_ROOT = Path(env.str("KEYDROME_STATIC_ROOT", default=str(VAR_DIR / "static")))
STATIC_ROOT.mkdir(parents=True, exist_ok=True)

# The commit of this checkout, or empty if it is not known. A bundle, the downloadable file with the results of a run,
# contains it.
KEYDROME_COMMIT = env.str("KEYDROME_COMMIT", default="")

# The folder of the pages under /docs/. Sphinx writes it before the site starts (docs/site/conf.py).
KEYDROME_DOCS_ROOT = env.str("KEYDROME_DOCS_ROOT", default=str(VAR_DIR / "docs"))

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False

# If this setting is not empty, all boards (rankings) accept only runs at this scale (the size of the benchmark:
# "smoke", "laptop" or "paper"), and mark all entries as provisional. `./dev up` sets "smoke" for a demonstration.
KEYDROME_BOARD_SCALE = env.str("KEYDROME_BOARD_SCALE", default="")
# The scale (size) of a submission's runs. If it is empty, each run has the scale of its board.
KEYDROME_SCALE = env.str("KEYDROME_SCALE", default=KEYDROME_BOARD_SCALE)
# The number of sessions of each timed run. A session is one repetition in a fresh process.
KEYDROME_SESSIONS = env.int("KEYDROME_SESSIONS", default=3 if KEYDROME_BOARD_SCALE else 15)

# A run tests or times one library. A worker may execute a run until its lease on the run ends. The worker sends a
# heartbeat every second. Each heartbeat sets the end of the lease to KEYDROME_LEASE_SECONDS from now, so a lease must
# be several heartbeats long: then the worker keeps the run if a few heartbeats are lost. Every KEYDROME_SWEEP_SECONDS
# the scheduler wakes the workers, which then look for expired leases. A run that failed because of the site is tried
# again, until it has had KEYDROME_MAX_ATTEMPTS attempts.
KEYDROME_LEASE_SECONDS = env.int("KEYDROME_LEASE_SECONDS", default=60)
KEYDROME_SWEEP_SECONDS = env.int("KEYDROME_SWEEP_SECONDS", default=15)
KEYDROME_MAX_ATTEMPTS = env.int("KEYDROME_MAX_ATTEMPTS", default=3)
# On average, one in this many timed runs has a spot check: one more session, which is played like the others. Then a
# program tries to prove from all recorded calls of this session that the results are right. 0 turns spot checks off.
KEYDROME_RECORD_ONE_IN = env.int("KEYDROME_RECORD_ONE_IN", default=10)
# On average, one in this many timed sessions is audited: played again with the same seed in verified mode. In this
# mode, a process outside the jail (the sandbox of the library) makes every call, so the library cannot read the next
# calls in memory. 0 turns these audits off.
KEYDROME_AUDIT_ONE_IN = env.int("KEYDROME_AUDIT_ONE_IN", default=10)

# Every timed run also times the control library, a fixed library. On each machine, noise is how much two measurements
# of this library in one session differ, and drift is how much its results have changed since earlier runs. If one of
# them is above its limit, in percent, the machine's runs are not ranked (leaderboard/machines/control_noise.py).
KEYDROME_NOISE_PERCENT_MAX = env.float("KEYDROME_NOISE_PERCENT_MAX", default=10.0)
KEYDROME_DRIFT_PERCENT_MAX = env.float("KEYDROME_DRIFT_PERCENT_MAX", default=10.0)

# The machine class (processor, number of CPUs, memory) on which new runs must execute, written as on the status page.
# If it is empty, runs may execute on any class.
KEYDROME_MACHINE_CLASS = env.str("KEYDROME_MACHINE_CLASS", default="")
# Limits for each user except organisers: how many submissions in 24 hours, and how many that have not ended. The daily
# limit does not count submissions that failed because of the site, were refused, or were cancelled before they started
# (leaderboard/queue/quotas.py).
KEYDROME_SUBMISSIONS_PER_DAY = env.int("KEYDROME_SUBMISSIONS_PER_DAY", default=100)
KEYDROME_SUBMISSIONS_OPEN = env.int("KEYDROME_SUBMISSIONS_OPEN", default=20)
# How many sessions of repeated runs one user may queue in 24 hours.
KEYDROME_REPEATED_SESSIONS_PER_DAY = env.int("KEYDROME_REPEATED_SESSIONS_PER_DAY", default=600)

# How many slots the bench workers (processes that execute runs) of this machine share. A slot is a number that gives a
# worker's jail, the sandbox of the library, its own user and its own control group. The slots are numbered from
# KEYDROME_SLOT upwards, and each bench worker takes the first free one.
KEYDROME_SLOTS = env.int("KEYDROME_SLOTS", default=1)

BROKER_DIR = VAR_DIR / "broker"


def _broker_url() -> str:
    """Return the URL in KEYDROME_BROKER_URL or else in CELERY_BROKER_URL; by default, that of a file-based broker."""
    named: str = env.str("KEYDROME_BROKER_URL", default="")
    if named:
        return named
    fallback: str = env.str("CELERY_BROKER_URL", default="filesystem://localhost/")
    return fallback


# web/celery.py reads the settings with the prefix CELERY. Celery stores no results, because the results are in the
# leaderboard's tables. A message is acknowledged when it arrives. If the worker dies after that, the lease in the run's
# row expires, and the run is queued again.
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
# A short loss of the connection to the broker must not cancel a timed run.
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = False
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TIMEZONE = "UTC"
# Celery's scheduler regularly wakes the bench workers, which execute runs, and the results worker, which draws plots.
# Both recover lost runs, and an idle bench worker also stores that its machine is alive.
CELERY_BEAT_SCHEDULE_FILENAME = str(VAR_DIR / "beat-schedule")
CELERY_BEAT_SCHEDULE = {
    f"wake {_queue}": {
        "task": "leaderboard.wake_up",  # the name of leaderboard.tasks.wake_up in messages
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

# All log messages are written to stderr, which the process manager stores. The web server logs the requests.
LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"},
    },
    "filters": {"hosts": {"()": "web.logs.HostNameAdvice"}},
    "handlers": {
        "stderr": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["hosts"]}
    },
    "root": {"handlers": ["stderr"], "level": env.str("KEYDROME_LOG_LEVEL", default="INFO")},
    # By default Django logs errors to the console only in debug mode.
    "loggers": {"django": {"handlers": [], "level": "INFO", "propagate": True}},
}

# The next settings are about accounts.

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

# If KEYDROME_EMAIL_URL names a mail server, new users must confirm their email address. If not, messages are written to
# var/mail. The messages contain links that reset passwords. Therefore only the operating system's user that runs the
# site can read this folder.
_EMAIL_URL = env.str("KEYDROME_EMAIL_URL", default="")
KEYDROME_SENDS_MAIL = bool(_EMAIL_URL)
if _EMAIL_URL:
    vars().update(env.email_url_config(_EMAIL_URL))  # type: ignore[no-untyped-call]
else:
    EMAIL_BACKEND = "django.core.mail.backends.filebased.EmailBackend"
    EMAIL_FILE_PATH = str(VAR_DIR / "mail")
    Path(EMAIL_FILE_PATH).mkdir(mode=0o700, exist_ok=True)
DEFAULT_FROM_EMAIL = env.str("KEYDROME_EMAIL_FROM", default="keydrome@localhost")
SERVER_EMAIL = DEFAULT_FROM_EMAIL

ACCOUNT_ADAPTER = "web.accounts.AccountAdapter"
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = [
    "username*",
    "email*" if _EMAIL_URL else "email",
    "password1*",
    "password2*",
]
ACCOUNT_EMAIL_VERIFICATION = "mandatory" if _EMAIL_URL else "none"
ACCOUNT_EMAIL_SUBJECT_PREFIX = "[Keydrome] "
# Names that users cannot take: the owner of the reference libraries, and names that visitors might trust.
ACCOUNT_USERNAME_BLACKLIST = ["keydrome", "admin", "organiser", "root", "support"]
ACCOUNT_USERNAME_MIN_LENGTH = 2
# Names have only ASCII letters, so that no name looks like another one in another alphabet.
ACCOUNT_USERNAME_VALIDATORS = "web.accounts.USERNAME_VALIDATORS"
# All students of a course may share one IP address, so the limits per address are wide. The limit per account stops
# attempts to guess the password of one account. A message of web/accounts.py names its 5 minutes, and the page of error
# 429 (web/pages/errors.py) one minute.
ACCOUNT_RATE_LIMITS = {
    "login": "300/m/ip",
    "login_failed": "100/m/ip,5/5m/key",
    "signup": "100/m/ip",
}
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes"]
MFA_TOTP_ISSUER = "Keydrome"
# The number of reverse proxies in front of the site. Rate limits need this number to find the visitor's own address.
ALLAUTH_TRUSTED_PROXY_COUNT = env.int("KEYDROME_PROXIES", default=0)

CACHES = {
    "default": env.cache_url("KEYDROME_CACHE_URL", default="locmemcache://"),
    # The copies of pages (web/copies.py) have a cache of their own, so that they never displace rate limits.
    "copies": {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "LOCATION": "copies",
        "OPTIONS": {"MAX_ENTRIES": 256},
    },
}
# Visitors without a cookie receive copies of public pages. A copy older than this many seconds is rendered again in the
# background, and a copy older than twice this time is not used. 0: no copies.
KEYDROME_COPY_SECONDS = env.int("KEYDROME_COPY_SECONDS", default=5)

# The next settings are about uploads.

# The maximum size of an uploaded library in bytes. Files above 64 MiB, the default, are refused in any case.
KEYDROME_UPLOAD_BYTES = env.int("KEYDROME_UPLOAD_BYTES", default=64 * 1024 * 1024)
# The maximum size of the source code that a contestant hands in for a contest's finals.
KEYDROME_SOURCE_BYTES = env.int("KEYDROME_SOURCE_BYTES", default=16 * 1024 * 1024)
# How many files a user may upload per hour. Organisers are not limited.
KEYDROME_UPLOADS_PER_HOUR = env.int("KEYDROME_UPLOADS_PER_HOUR", default=30)
FILE_UPLOAD_TEMP_DIR = str(VAR_DIR / "uploads")
Path(FILE_UPLOAD_TEMP_DIR).mkdir(mode=0o700, exist_ok=True)
FILE_UPLOAD_HANDLERS = [
    "web.submissions.upload_handler.SizeLimitHandler",
    "django.core.files.uploadhandler.TemporaryFileUploadHandler",
]

# The next settings are about security.

# KEYDROME_TLS says whether visitors reach the site over TLS (https). The default is yes if KEYDROME_HOSTS is set and
# KEYDROME_DEBUG is off. The embedded site does not use TLS, because it is only for visitors on its own machine: it
# responds only to requests for the host names in the default of ALLOWED_HOSTS.
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

# Browsers accept scripts and styles only from the site's own files: nothing inline, nothing evaluated, nothing from
# other hosts. Images may be data: URLs: the icons of Pico.css and the QR code for authenticator apps have this form.
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

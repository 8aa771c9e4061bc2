"""Settings: the environment only, each with a default; `docs/reference/settings.md` lists them."""

import secrets
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from config import ended, logs
from config import env as source
from config.local.sockets import sockets_of
from config.pooled import PooledConnection

BASE_DIR = source.BASE
LOCAL_DIR = source.local_dir()
env = source.read()


def _secret(name: str) -> str:
    """A secret of the environment or of `run.json`; with services of one's own it must be given."""
    value: str = env.str(name, default="")
    if not value and env.str("DATABASE_URL", default=""):
        raise ImproperlyConfigured(f"{name} is not set. With DATABASE_URL set, the secrets must be set too.")
    return value or secrets.token_urlsafe(32)  # Nothing is up yet; nothing made with it is kept.


# --- what the process is ------------------------------------------------------------------------------

DEBUG = False
SECRET_KEY = _secret("SECRET_KEY")
FIELD_KEYS: list[str] = _secret("FIELD_KEYS").split(",")
AUDIT_KEY = _secret("AUDIT_KEY")
HOST = env.str("HOST", default="127.0.0.1")
PORT = env.int("PORT", default=8000)
PUBLIC_URL: str = env.str("PUBLIC_URL", default=f"http://localhost:{PORT}").rstrip("/")
ALLOWED_HOSTS: list[str] = env.list(
    "ALLOWED_HOSTS", default=sorted({"localhost", "127.0.0.1", "[::1]", urlsplit(PUBLIC_URL).hostname or ""})
)
AGENT_MODULES: list[str] = env.list("AGENT_MODULES", default=[])
LOG_LEVEL: str = env.str("LOG_LEVEL", default="INFO").upper()
LOGGING = logs.configuration(level=LOG_LEVEL, form=env.str("LOG_FORMAT", default="text"))
METRICS_TOKEN: str = env.str("METRICS_TOKEN", default="")
OUTBOUND_NETWORKS: list[str] = env.list("OUTBOUND_NETWORKS", default=[])
STORAGE_URL: str = env.str("STORAGE_URL", default=(LOCAL_DIR / "storage").as_uri())

# --- numbers ------------------------------------------------------------------------------------------

LEASE_SECONDS = env.float("LEASE_SECONDS", default=30.0)
LEASE_MARGIN = env.float("LEASE_MARGIN", default=LEASE_SECONDS / 3)
SWEEP_SECONDS = env.float("SWEEP_SECONDS", default=1.0)
SLICE_SECONDS = env.float("SLICE_SECONDS", default=60.0)
VERSION_GRACE = env.float("VERSION_GRACE", default=600.0)
MODEL_TIMEOUT = env.float("MODEL_TIMEOUT", default=120.0)
TOOL_TIMEOUT = env.float("TOOL_TIMEOUT", default=60.0)
RETRY_BASE = env.float("RETRY_BASE", default=1.0)
RETRY_CAP = env.float("RETRY_CAP", default=900.0)
RETRY_TOLD_CAP = env.float("RETRY_TOLD_CAP", default=86400.0)
MODEL_MAX_ATTEMPTS = env.int("MODEL_MAX_ATTEMPTS", default=12)
TOOL_MAX_ATTEMPTS = env.int("TOOL_MAX_ATTEMPTS", default=8)
UNSEEN_SECONDS = env.float("UNSEEN_SECONDS", default=900.0)
CHANNEL_FAILING_SECONDS = env.float("CHANNEL_FAILING_SECONDS", default=21600.0)
MAX_STEPS = env.int("MAX_STEPS", default=100)
MAX_REPEATS = env.int("MAX_REPEATS", default=3)
CRASH_LOOP = env.int("CRASH_LOOP", default=3)
PAYLOAD_INLINE = env.int("PAYLOAD_INLINE", default=32768)

# --- floors -------------------------------------------------------------------------------------------

INSTALLED_APPS = [
    "config",
    "runs",
    "approvals",
    "tenants",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "channels",
    "csp",
    "django_htmx",
    "guardian",
    "lucide",
    "pgtrigger",
    "template_partials",
]
MIDDLEWARE = [
    "tenants.streaming.StreamingMiddleware",
    "tenants.middleware.ProblemMiddleware",
    "tenants.middleware.CleanMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "config.static_files.StaticFilesMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "tenants.middleware.TenantMiddleware",
]
ROOT_URLCONF = "config.urls"
ASGI_APPLICATION = "config.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "django.template.context_processors.i18n",
                "django.template.context_processors.tz",
                "config.frame.frame",
            ],
        },
    }
]

# --- database -----------------------------------------------------------------------------------------

# A command is one process with one thread, and wants its error at once rather than the pool's patience.
_ONE_SHOT = Path(sys.argv[0]).name == "manage.py"
POOL_SIZE = env.int("DATABASE_POOL_SIZE", default=0 if _ONE_SHOT else 12)
_SOCKETS = sockets_of(LOCAL_DIR)
ended.count_as_gone()
_owner_url: str = env.str("DATABASE_OWNER_URL", default="")
_app_url: str = env.str("DATABASE_URL", default="")
if not _app_url:
    _app_url = f"postgresql://vermilion_app@/vermilion?host={_SOCKETS}"
    _owner_url = _owner_url or f"postgresql://vermilion_owner@/vermilion?host={_SOCKETS}"

DATABASES: dict[str, dict[str, Any]] = {
    "default": {
        **source.database(_app_url, idle=env.float("IDLE_TRANSACTION_SECONDS", default=60.0)),
        "CONN_HEALTH_CHECKS": True,
        "CONN_MAX_AGE": 0 if POOL_SIZE else None,
    }
}
if POOL_SIZE:
    # 0 is for prefork workers: Celery closes the whole pool around each of their tasks.
    DATABASES["default"]["OPTIONS"]["pool"] = {
        "min_size": 1,
        "max_size": POOL_SIZE,
        "timeout": 5,
        # A new connection is tried for as long as somebody waits for it. The pool would go on by itself, twice as long
        # after each try: after four minutes without a database the next was two minutes away.
        "reconnect_timeout": 5,
        "connection_class": PooledConnection,
    }
if _owner_url:
    DATABASES["owner"] = source.database(_owner_url)
    DATABASES["default"]["TEST"] = {"MIRROR": "owner"}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- queue, bell, cache -------------------------------------------------------------------------------

BROKER_URL: str = env.str("BROKER_URL", default=f"redis+socket://{_SOCKETS / 'valkey.sock'}?virtual_host=0")
_ON_VALKEY = not BROKER_URL.startswith(("amqp", "pyamqp"))
CHANNEL_URL: str = env.str("CHANNEL_URL", default=source.valkey(BROKER_URL, number=1) if _ON_VALKEY else "")
CHANNEL_PREFIX = env.str("CHANNEL_PREFIX", default="vermilion")
if not CHANNEL_URL:
    raise ImproperlyConfigured(
        "CHANNEL_URL is not set. BROKER_URL names no Valkey or Redis that could serve live pages."
    )

CELERY_BROKER_URL = BROKER_URL
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # As long as it takes; the runs in hand go on meanwhile.
CELERY_BROKER_TRANSPORT_OPTIONS = (
    {"visibility_timeout": env.int("VISIBILITY_TIMEOUT", default=3600)} if _ON_VALKEY else {}
)
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_POOL = env.str("WORKER_POOL", default="threads")
CELERY_WORKER_CONCURRENCY = env.int("WORKER_THREADS", default=8)
CELERY_WORKER_HIJACK_ROOT_LOGGER = CELERY_WORKER_REDIRECT_STDOUTS = False
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULER = "config.metronome.Metronome"
# No message expires: that would be the scheduler's clock, read by the worker's. `tenants.paced` lets go what piled up.
CELERY_BEAT_SCHEDULE = {
    name: {"task": name, "schedule": seconds}
    for name, seconds in {
        "runs.tasks.sweep": SWEEP_SECONDS,
        "approvals.tasks.sweep": SWEEP_SECONDS,
        "approvals.tasks.deliver": SWEEP_SECONDS,
        "tenants.tasks.tidy": 600.0,
        "approvals.tasks.tidy": 600.0,
        "runs.tasks.purge": 600.0,
        "runs.tasks.tell": 600.0,
        "runs.tasks.collect": 3600.0,
    }.items()
}

CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {"hosts": [CHANNEL_URL], "prefix": CHANNEL_PREFIX},
    }
}
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": env.str("CACHE_URL", default=CHANNEL_URL),
        "KEY_PREFIX": CHANNEL_PREFIX,
    }
}

# --- people -------------------------------------------------------------------------------------------

AUTHENTICATION_BACKENDS = [
    "allauth.account.auth_backends.AuthenticationBackend",
    "guardian.backends.ObjectPermissionBackend",
]
AUTH_USER_MODEL = "tenants.Person"
ANONYMOUS_USER_NAME = None
GUARDIAN_MONKEY_PATCH_USER = GUARDIAN_MONKEY_PATCH_GROUP = False
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/"
ACCOUNT_ADAPTER = "tenants.adapter.AccountAdapter"
SOCIALACCOUNT_ADAPTER = "tenants.adapter.SocialAccountAdapter"
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_REAUTHENTICATION_TIMEOUT = env.int("REAUTHENTICATION_SECONDS", default=300)
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes"]
MFA_TOTP_ISSUER = "Vermilion"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]

# --- headers ------------------------------------------------------------------------------------------

_TLS = PUBLIC_URL.startswith("https://")
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "connect-src": [SELF],
        "font-src": [SELF],
        "manifest-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}
# A browser keeps cookies by host, not by port: two of us on one machine must not sign each other's people out.
SESSION_COOKIE_NAME = "sessionid" if PORT == 8000 else f"sessionid_{PORT}"
CSRF_FAILURE_VIEW = "config.frame.csrf_failure"
CSRF_TRUSTED_ORIGINS = [PUBLIC_URL]
CSRF_COOKIE_SECURE = SESSION_COOKIE_SECURE = _TLS
SECURE_SSL_REDIRECT = _TLS
SECURE_REDIRECT_EXEMPT = [r"^(healthz|readyz|metrics)$"]  # Asked from inside, without TLS.
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if _TLS else None
SECURE_HSTS_SECONDS = 31536000 if _TLS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = _TLS
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

# --- words, times, files ------------------------------------------------------------------------------

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("zh-hans", "简体中文")]
LOCALE_PATHS = [BASE_DIR / "locale"]
USE_TZ = True
TIME_ZONE = "UTC"
STATIC_URL = "static/"
STATIC_ROOT: str | None = env.str("STATIC_ROOT", default="") or None  # WhiteNoise finds the files where they are.
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = False
vars().update(env.email_url("EMAIL_URL", default="consolemail://"))
DEFAULT_FROM_EMAIL = env.str("EMAIL_FROM", default="Vermilion <vermilion@localhost>")

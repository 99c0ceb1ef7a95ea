"""Changes messages of Django in the log that do not say what an organiser can do. web/settings.py names the filter."""

from __future__ import annotations

import logging
import re

# Django's advice for a request to a wrong host name.
_ADVICE = re.compile(r"You may need to add (?P<host>.+) to ALLOWED_HOSTS\.")


class HostNameAdvice(logging.Filter):
    """Names the environment variable for host names instead of Django's setting, and leaves out the traceback."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Change the record if it is about a wrong host name. Keep every record."""
        if record.name == "django.security.DisallowedHost":
            record.msg = _ADVICE.sub(
                r"If \g<host> is a name of this site, add it to the environment variable KEYDROME_HOSTS, "
                "and restart the web server.",
                record.getMessage(),
            )
            record.args = ()
            record.exc_info = record.exc_text = None
        return True

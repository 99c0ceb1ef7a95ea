"""Creates the WSGI application, which a web server imports: `gunicorn web.wsgi`."""

import gc
import os

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "web.settings")

application = get_wsgi_application()

# What is loaded now stays in memory until the process ends. Each full collection by Python's garbage collector would
# examine it again, and stop all requests for some 75 ms. So load all views, and exempt them from collection.
get_resolver().check()
gc.collect()
gc.freeze()

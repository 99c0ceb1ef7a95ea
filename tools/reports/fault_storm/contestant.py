"""Simulates a contestant, who uploads through the web pages and retries while the site is down.

The fault storm, which kills processes of a site at random, starts several contestants.
"""

from __future__ import annotations

import re
import threading
import time
from typing import TYPE_CHECKING

import httpx

from tools.reports.fault_storm.ask import ask

if TYPE_CHECKING:
    import random
    from pathlib import Path

TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')
PAUSE_SECONDS = 0.5
BETWEEN_UPLOADS_SECONDS = 10.0


class Contestant(threading.Thread):
    """Uploads the same file with each description in `wanted`, and retries until the database has every submission.

    Before each attempt, the thread searches the database for a submission with this description.
    """

    def __init__(self, url: str, user_name: str, file: Path, chance: random.Random) -> None:
        super().__init__()
        self.chance = chance
        self.url = url
        self.user_name = user_name
        self.file = file
        self.wanted: list[str] = []
        self.broken_off = 0
        self.done = threading.Event()

    def run(self) -> None:
        """Log in, and upload the file with every description."""
        session = ask(self._log_in)
        with httpx.Client(base_url=self.url, cookies={"sessionid": session}, timeout=30) as client:
            for description in self.wanted:
                time.sleep(self.chance.expovariate(1 / BETWEEN_UPLOADS_SECONDS))
                while not ask(lambda name=description: _exists(name)):
                    self._try(client, description)
        self.done.set()

    def _try(self, client: httpx.Client, description: str) -> None:
        """Send the upload form once; count a lost connection or a server error (5xx) in `broken_off`.

        If the page with the form has no token, wait and send nothing.
        """
        try:
            token = TOKEN.search(client.get("/submit/").text)
            if token is None:
                time.sleep(PAUSE_SECONDS)
                return
            form = {
                "csrfmiddlewaretoken": token[1],
                "description": description,
                "targets": "sigmod2009/preliminary1",
                "configuration": "",
            }
            with self.file.open("rb") as content:
                answer = client.post("/submit/", data=form, files={"file": ("storm.so", content)})
            self.broken_off += answer.status_code >= httpx.codes.INTERNAL_SERVER_ERROR
        except httpx.HTTPError:
            self.broken_off += 1
            time.sleep(PAUSE_SECONDS)

    def _log_in(self) -> str:
        """Return the key of a new logged-in session of this user; create the account if needed."""
        from django.contrib.auth.models import User  # noqa: PLC0415 - needs Django set up
        from django.test import Client  # noqa: PLC0415 - as above

        user, _ = User.objects.get_or_create(username=self.user_name)
        browser = Client()
        browser.force_login(user, backend="allauth.account.auth_backends.AuthenticationBackend")
        return str(browser.cookies["sessionid"].value)


def _exists(description: str) -> bool:
    from leaderboard.models import Submission  # noqa: PLC0415 - needs Django set up

    return Submission.objects.filter(description=description).exists()

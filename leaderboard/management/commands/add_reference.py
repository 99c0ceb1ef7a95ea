"""Submit the libraries of this repository: `python -m web.manage add_reference`."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db.models import Q

from leaderboard import catalogue, queries, services
from leaderboard.models import FINAL_STATES, Run, State
from leaderboard.standing import NOT_JUDGED
from runner.catalogue import reference_libraries, structures
from runner.contract import Verdict
from runner.manifest import RequestError
from runner.settings import load_settings

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from pathlib import Path

    from django.contrib.auth.models import User

    from leaderboard.catalogue import Target

REFERENCE_USER = "keydrome"
# The other configurations are there for who asks for them; each one more is minutes of measuring for every ./dev up.
REFERENCE_CONFIGURATIONS = ("exclusive", "rw")
POLL_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Reference:
    """One thing to submit: a library, or a structure under one configuration."""

    name: str
    path: Path
    configuration: str
    trusted: bool

    @property
    def title(self) -> str:
        """How the board calls it."""
        return f"{self.name} ({self.configuration})" if self.configuration else self.name


class Command(BaseCommand):
    """Submit through the same service as the upload form, and only what is missing."""

    help = "Submit the built reference libraries and structures as the user keydrome."
    requires_system_checks = ()  # they import every page, which takes longer than the command

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take which libraries, at which scale, with how many sessions."""
        parser.add_argument("name", nargs="*", help="libraries or structures; default: all")
        parser.add_argument("--scale", default=settings.KEYDROME_SCALE)
        parser.add_argument("--sessions", type=int, default=settings.KEYDROME_SESSIONS)
        parser.add_argument("--wait", action="store_true", help="wait until all their runs ended")
        parser.add_argument("--board", action="store_true", help="print the boards at the end")

    def handle(
        self,
        *_args: object,
        name: list[str],
        scale: str,
        sessions: int,
        wait: bool,
        board: bool,
        **_options: object,
    ) -> None:
        """Submit and say what was queued."""
        references = [r for r in all_references() if not name or r.name in name]
        unknown = set(name) - {reference.name for reference in references}
        if unknown:
            message = f"there is no reference library {', '.join(sorted(unknown))}"
            raise CommandError(message)
        unbuilt = [str(r.path) for r in references if not r.path.is_file()]
        if unbuilt:
            message = f"not built: {', '.join(dict.fromkeys(unbuilt))}; build first (./dev build)"
            raise CommandError(message)
        owner, _ = get_user_model().objects.get_or_create(
            username=REFERENCE_USER, defaults={"is_staff": True, "is_superuser": True}
        )
        for reference in references:
            try:
                queued = submit_missing(reference, owner, scale, sessions)
            except (RequestError, services.Refused) as error:
                raise CommandError(str(error)) from error
            state = f"{queued} runs queued" if queued else "nothing missing"
            self.stdout.write(f"{reference.title}: {state}")
        if wait:
            self._wait(owner)
        if board:
            call_command("show_board", stdout=self.stdout)

    def _wait(self, owner: User) -> None:
        """Say how each open run of the references ends; CommandError when no worker takes or can judge them."""
        open_runs = Run.objects.filter(submission__owner=owner).exclude(state__in=FINAL_STATES)
        waiting = set(open_runs.values_list("pk", flat=True))
        unjudged = 0
        while waiting:
            ended = Run.objects.filter(pk__in=waiting, state__in=FINAL_STATES).select_related(
                "submission"
            )
            for run in ended.order_by("finished_at"):
                self.stdout.write(_ending(run))
                waiting.discard(run.pk)
                unjudged += run.verdict == Verdict.INFRASTRUCTURE
            if waiting and queries.system_status().stalled:
                message = (
                    f"{len(waiting)} runs wait and no bench worker takes them: start one "
                    "(./dev up, or python -m web.manage work) and look at its log"
                )
                raise CommandError(message)
            if waiting:
                pause()
        if unjudged:
            message = (
                f"{unjudged} runs could not be judged, by a fault of this machine: mend what their reasons "
                "tell, then repeat this command"
            )
            raise CommandError(message)


def all_references() -> list[Reference]:
    """Return every reference library, and every structure but the baseline under the reference configurations."""
    place = load_settings()
    whole = [
        Reference(r.name, r.path, configuration="", trusted=r.trusted)
        for r in reference_libraries(place)
    ]
    bare = [
        Reference(r.name, r.path, configuration=configuration, trusted=False)
        for r in structures(place)
        if not r.baseline
        for configuration in REFERENCE_CONFIGURATIONS
    ]
    return whole + bare


def submit_missing(reference: Reference, owner: User, scale: str, sessions: int) -> int:
    """Submit a reference on what main boards rank and gates ask, unless its digest has a run of it; count new runs."""
    with reference.path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        wanted = [*catalogue.main_targets(), *catalogue.gate_targets()]
        missing = [
            target
            for target in wanted
            if not _exists(
                digest, reference.configuration, target, catalogue.run_scale(target, scale)
            )
        ]
        if not missing:
            return 0
        file.seek(0)
        submission = services.submit(
            owner=owner,
            file=file,
            file_name=reference.path.name,
            description=reference.name,
            targets=missing,
            configuration=reference.configuration,
            scale=scale,
            sessions=sessions,
            trusted=reference.trusted,
            reference=True,
        )
    refused = submission.runs.filter(verdict=Verdict.REFUSED).first()
    if refused is not None:
        raise services.Refused([f"{reference.title}: {refused.reason}"])
    return submission.runs.count()


def pause() -> None:
    """Wait a moment before looking at the queue again."""
    time.sleep(POLL_SECONDS)


def _ending(run: Run) -> str:
    """Return one line about a run that ended."""
    name = run.submission.description
    if run.submission.configuration:
        name = f"{name} ({run.submission.configuration})"
    outcome = run.get_verdict_display() if run.verdict else run.get_state_display()
    reason = f": {run.reason.splitlines()[0]}" if run.reason else ""
    return f"{name}, {run.benchmark} {run.instance} {run.scale}: {outcome}{reason}"


def _exists(digest: str, configuration: str, target: Target, scale: str) -> bool:
    """Whether this binary was judged on a target at the newest benchmark version, or still will be."""
    version = catalogue.benchmarks()[target.benchmark].version
    not_judged = Q(state=State.CANCELLED) | Q(verdict__in=NOT_JUDGED)
    return Run.objects.filter(
        ~not_judged,
        submission__blob_sha256=digest,
        submission__configuration=configuration,
        submission__deleted_at__isnull=True,
        benchmark=target.benchmark,
        benchmark_version=version,
        instance=target.instance,
        scale=scale,
    ).exists()

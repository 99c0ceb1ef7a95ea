"""Submits the libraries of this repository, so that boards show them for comparison.

A board ranks libraries on one benchmark instance. A structure is a library without transactions and locks. A
configuration says how Keydrome adds these to a structure.

Usage: `python -m web.manage add_reference [NAME...]`.
"""

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
from leaderboard.queue.gate_end import SUBMIT_AGAIN
from leaderboard.ranking.board_entries import NOT_JUDGED
from results.counts import counted
from runner.catalogue import reference_configurations, reference_libraries, structures
from runner.manifest import RequestError
from runner.settings import load_settings
from runner.terms import Verdict

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Sequence
    from pathlib import Path

    from django.contrib.auth.models import User

    from leaderboard.catalogue import Target

REFERENCE_USER = "keydrome"
POLL_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Reference:
    """A library, or a structure with a configuration, to submit.

    `trusted` allows the file to link more shared objects than uploaded files may.
    """

    name: str
    path: Path
    configuration: str
    trusted: bool

    @property
    def title(self) -> str:
        """Return the name of the library for this command's messages, with the configuration in brackets."""
        return f"{self.name} ({self.configuration})" if self.configuration else self.name


class Command(BaseCommand):
    """Submits the reference libraries in the same way as the upload form does, and queues only the missing runs."""

    help = (
        "Submit the reference libraries and structures, which must be built, as the user keydrome."
    )
    requires_system_checks = ()  # the checks import every page, which takes longer than the command

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Accept the libraries, the scale and the number of sessions."""
        parser.add_argument(
            "name",
            nargs="*",
            help="names of reference libraries or structures; default: all of them",
        )
        parser.add_argument(
            "--scale",
            default=settings.KEYDROME_SCALE,
            help="scale of the runs: smoke, laptop or paper; empty: the scale of each board; default: '%(default)s'",
        )
        parser.add_argument(
            "--sessions",
            type=int,
            default=settings.KEYDROME_SESSIONS,
            help="number of sessions (repetitions) of each timed run; default: %(default)s",
        )
        parser.add_argument(
            "--wait",
            action="store_true",
            help="wait until all runs of the named libraries and structures have ended",
        )
        parser.add_argument(
            "--board",
            action="store_true",
            help="at the end, print the main boards of the front page",
        )

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
        """Submit the reference libraries, and print for each how many runs were queued."""
        references = [r for r in all_references() if not name or r.name in name]
        known = {reference.name for reference in all_references()}
        if unknown := set(name) - known:
            message = (
                f"unknown reference {'library' if len(unknown) == 1 else 'libraries'} "
                f"{', '.join(sorted(unknown))}: choose from {', '.join(sorted(known))}"
            )
            raise CommandError(message)
        unbuilt = [str(r.path) for r in references if not r.path.is_file()]
        if unbuilt:
            message = f"these files are not built yet: {', '.join(dict.fromkeys(unbuilt))}: run ./dev build first"
            raise CommandError(message)
        owner, _ = get_user_model().objects.get_or_create(
            username=REFERENCE_USER, defaults={"is_staff": True, "is_superuser": True}
        )
        for reference in references:
            try:
                queued = submit_missing(reference, owner, scale, sessions)
            except (RequestError, services.Refused) as error:
                raise CommandError(str(error)) from error
            state = (
                f"{counted(queued, 'run')} queued"
                if queued
                else "nothing to queue, because each run has ended, or is queued or running already"
            )
            self.stdout.write(f"{reference.title}: {state}")
        if wait:
            self._wait(references)
        if board:
            call_command("show_board", stdout=self.stdout)

    def _wait(self, references: Sequence[Reference]) -> None:
        """Wait until all runs of these libraries have ended, and print how each run ends.

        Does not wait for other libraries, whose runs may take minutes: `./dev up` queues them in the background. Raises
        CommandError if no worker claims the runs, or if a run could not be judged because the machine failed.
        """
        waiting, titles = _open_runs(references)
        if waiting:
            names = ", ".join(titles)
            self.stdout.write(f"waiting for {counted(len(waiting), 'run')} of {names} to end ...")
            self.stdout.flush()
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
                    f"{counted(len(waiting), 'run is', 'runs are')} queued, but no bench worker claims runs: if ./dev "
                    "up has started the worker, its log var/log/bench.log says why; otherwise start one with "
                    "python -m web.manage work"
                )
                raise CommandError(message)
            if waiting:
                pause()
        if unjudged:
            message = (
                f"{counted(unjudged, 'run')} could not be judged, because this machine or Keydrome's build failed: "
                "the lines above name the causes; correct them, then repeat this command"
            )
            raise CommandError(message)


def all_references() -> list[Reference]:
    """Return every reference library, and every structure under each reference configuration.

    Boards require gates, which are correctness tests. Baselines are left out, because they store nothing and fail every
    gate. Structures without order, such as hash tables, are left out, because they cannot execute the gates' scans
    in key order. Only some configurations are reference configurations, because each one adds minutes of measuring to
    the first ./dev up on a machine.
    """
    runner_settings = load_settings()
    whole = [
        Reference(r.name, r.path, configuration="", trusted=r.trusted)
        for r in reference_libraries(runner_settings)
        if not r.baseline
    ]
    bare = [
        Reference(r.name, r.path, configuration=configuration, trusted=False)
        for r in structures(runner_settings)
        if not (r.baseline or r.unordered)
        for configuration in reference_configurations(runner_settings)
    ]
    return whole + bare


def _open_runs(references: Sequence[Reference]) -> tuple[set[int], list[str]]:
    """Return the ids of the unfinished runs of these libraries, and the titles of the libraries that have such runs."""
    waiting: set[int] = set()
    titles = []
    for reference in references:
        runs = Run.objects.exclude(state__in=FINAL_STATES).filter(
            submission__owner__username=REFERENCE_USER,
            submission__blob_sha256=_digest(reference),
            submission__configuration=reference.configuration,
        )
        if found := runs.values_list("pk", flat=True):
            waiting.update(found)
            titles.append(reference.title)
    return waiting, titles


def _digest(reference: Reference) -> str:
    with reference.path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def submit_missing(reference: Reference, owner: User, scale: str, sessions: int) -> int:
    """Submit a reference library to every target that still lacks a run of it; return the number of new runs.

    The targets are the benchmark instances of the main boards (those of a contest) and all gates. A gate is a
    correctness test that boards require.
    """
    digest = _digest(reference)
    missing = [
        target
        for target, planned in catalogue.planned_scales(catalogue.main_targets(), scale)
        if not _exists(digest, reference.configuration, target, planned)
    ]
    if not missing:
        return 0
    with reference.path.open("rb") as file:
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
        # The advice of the inspection is for contestants, who build their files themselves.
        problems = [one["problem"] for one in submission.facts["refusals"]] or [refused.reason]
        message = (
            f"{reference.title}: {reference.path} was refused: {'; '.join(problems)}: "
            "run ./dev build, which builds this file"
        )
        raise services.Refused([message])
    return submission.runs.count()


def pause() -> None:
    """Wait POLL_SECONDS before the queue is read again."""
    time.sleep(POLL_SECONDS)


def _ending(run: Run) -> str:
    """Return a line of text that says how a run ended: its verdict or state, and the reason if there is one."""
    name = run.submission.description
    if run.submission.configuration:
        name = f"{name} ({run.submission.configuration})"
    # If a run was not run, the reason says so (leaderboard/queue/gate_end.py).
    outcome = run.get_verdict_display() if run.verdict else run.get_state_display()
    reason = run.reason.splitlines()[0] if run.reason else ""
    reason = reason.replace(SUBMIT_AGAIN, "correct the library, build it, and repeat this command")
    ending = ": ".join(filter(None, [outcome if run.verdict or not reason else "", reason]))
    return f"{name}, {run.benchmark} {run.instance} {run.scale}: {ending}"


def _exists(digest: str, configuration: str, target: Target, scale: str) -> bool:
    """Return True if the target needs no new run of this binary, because a run of it is unfinished or was judged.

    Only runs of the newest benchmark version count. A run was not judged if it was cancelled or refused, or if it ended
    because of a failure of the site.
    """
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

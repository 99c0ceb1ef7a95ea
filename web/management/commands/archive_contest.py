"""Writes a finished contest as static pages: `python -m web.manage archive_contest SLUG FOLDER`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from django.core.management.base import BaseCommand, CommandError

from leaderboard.contests.models import Contest, Phase
from leaderboard.contests.results import newest_result, open_runs, store_due_results
from results.counts import counted
from web.contests.archive import write_archive

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(BaseCommand):
    """Writes the results of a contest as HTML files that need no server."""

    help = "Write the results of a finished contest as HTML files that need no server."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Accept the contest and the folder."""
        parser.add_argument("slug", help="the contest's name in its URL")
        parser.add_argument("folder", type=Path, help="new or empty folder for the pages")

    def handle(self, *_args: object, slug: str, folder: Path, **_options: object) -> None:
        """Write the pages."""
        contest = Contest.objects.filter(slug=slug).first()
        if contest is None:
            known = ", ".join(Contest.objects.values_list("slug", flat=True))
            choice = f"choose from {known}" if known else "this site has no contest"
            raise CommandError(f"unknown contest {slug!r}: {choice}")
        if contest.phase is not Phase.CLOSED:
            raise CommandError(
                f"the contest {slug!r} is not closed yet: run this command again after "
                f"{contest.results_at:%Y-%m-%d %H:%M} UTC, when its results are due"
            )
        if newest_result(contest) is None:
            store_due_results()
        if newest_result(contest) is None:
            raise CommandError(
                f"{counted(open_runs(contest), 'run of the contest has', 'runs of the contest have')} not ended, "
                "so the contest has no result yet: run this command again when they have ended"
            )
        if folder.exists() and any(folder.iterdir()):
            raise CommandError(f"the folder '{folder}' is not empty: give a new or an empty folder")
        pages = write_archive(contest, folder)
        self.stdout.write(f"wrote {counted(len(pages), 'page')}; open {pages[0]}")

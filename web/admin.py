"""Defines the admin pages for the leaderboard's tables: submissions, runs (queued or finished), boards, machines, news.

Organisers can read these tables, and edit only the news. So these pages cannot change a result. Tables can be large, so
the lists do not count all rows and do not load the large columns. The pages do not show secrets, such as the seeds of
runs that have not ended.

Organisers log in on the site's own page, which limits attempts and asks for the second factor. Django's page for
administrators does neither.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from allauth.account.decorators import secure_admin_login
from django.contrib import admin

from leaderboard.models import (
    Announcement,
    Artefact,
    BoardEntry,
    ControlSeries,
    Machine,
    Run,
    RunDetail,
    Submission,
)

if TYPE_CHECKING:
    from django.http import HttpRequest

admin.site.site_header = "Keydrome organisers"
admin.site.site_title = "Keydrome organisers"
admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign,no-untyped-call] # not typed


class ReadOnly(admin.ModelAdmin):  # type: ignore[type-arg] # generic only in the stubs
    """A table that can be read but not edited."""

    show_full_result_count = False  # counting millions of rows takes longer than the page itself

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Return False: only other code of the site creates rows, not the admin pages."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """Return False: only other code of the site changes rows, not the admin pages."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """Return False: rows are kept, including those of deleted submissions."""
        return False


@admin.register(Submission)
class SubmissionAdmin(ReadOnly):
    """Submissions, including deleted ones."""

    list_display = (
        "id",
        "created_at",
        "owner",
        "file_name",
        "kind",
        "configuration",
        "trusted",
        "deleted_at",
    )
    list_filter = ("kind", "trusted", "configuration")
    list_select_related = ("owner",)
    search_fields = ("=id", "blob_sha256__startswith", "owner__username", "description")
    date_hierarchy = "created_at"


@admin.register(Run)
class RunAdmin(ReadOnly):
    """Runs: each tests or times one library on one benchmark. The table has queued, running and finished runs."""

    list_display = (
        "id",
        "submission",
        "benchmark",
        "benchmark_version",
        "instance",
        "scale",
        "state",
        "verdict",
        "attempt",
        "machine",
        "eligible",
        "created_at",
    )
    list_filter = ("state", "verdict", "benchmark", "instance", "scale", "machine", "eligible")
    # Seeds are secret until the run has ended, because a seed determines all calls of a session (one repetition of the
    # run). After the run has ended, its own page shows the seeds.
    exclude = ("seeds",)
    list_select_related = ("submission", "machine")
    search_fields = ("=id", "=submission__id", "submission__blob_sha256__startswith")


@admin.register(RunDetail)
class RunDetailAdmin(ReadOnly):
    """The full results of runs: findings (faults that the tests found), sessions, curves and logs."""

    list_display = ("run",)
    list_select_related = ("run",)
    search_fields = ("=run__id",)

    def get_queryset(self, request: HttpRequest):  # type: ignore[no-untyped-def] # noqa: ANN201 - generic only in the stubs
        """Load the rows without the large columns."""
        return super().get_queryset(request).defer("log", "sessions", "series")


@admin.register(BoardEntry)
class BoardEntryAdmin(ReadOnly):
    """The entries of the boards, which the leaderboard computes from runs."""

    list_display = (
        "board",
        "benchmark_version",
        "machine_class",
        "position",
        "user",
        "run",
        "score",
        "provisional",
    )
    list_filter = ("board", "benchmark_version", "machine_class")
    list_select_related = ("user", "run")


@admin.register(Artefact)
class ArtefactAdmin(ReadOnly):
    """Plots of runs, without links to the files."""

    list_display = ("run", "name", "created_at")
    list_select_related = ("run",)
    # The private storage has no URLs, so the file field cannot be shown as a link.
    exclude = ("file",)


@admin.register(Machine)
class MachineAdmin(ReadOnly):
    """The machines that execute runs, with the time when each was last seen and the noise of its measurements."""

    list_display = ("name", "machine_class", "last_seen", "noise", "drift", "why_excluded")


@admin.register(ControlSeries)
class ControlSeriesAdmin(ReadOnly):
    """Results of the control library, which every timed run measures for comparison, on each machine."""

    list_display = ("run", "machine", "level", "recorded_at")
    list_filter = ("machine",)
    list_select_related = ("run", "machine")


@admin.register(Announcement)
class AnnouncementAdmin(admin.ModelAdmin):  # type: ignore[type-arg] # generic only in the stubs
    """News: the only table that organisers can edit."""

    list_display = ("title", "published_at")
    list_filter: ClassVar = ["published_at"]
    search_fields = ("title", "body")

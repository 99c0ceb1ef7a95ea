"""The organisers' back room: every table, set up so that lists stay quick and secrets are not shown by accident.

Runs, entries and details are written by services and the workers; here they can be read, and what only an organiser
may decide can be changed. Nothing here changes a result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

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


class ReadOnly(admin.ModelAdmin):  # type: ignore[type-arg] # generic only in the stubs
    """A table that is looked at, not edited."""

    show_full_result_count = False  # counting millions of rows costs more than the page

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Rows are made by the site's services only."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """Rows are changed by the site's services only."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """Nothing is lost: withdrawn submissions stay for organisers."""
        return False


@admin.register(Submission)
class SubmissionAdmin(ReadOnly):
    """What was uploaded, withdrawn submissions included."""

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
    """The queue and its history."""

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
    # Secret until they are spent; the run's page shows them then.
    exclude = ("seeds",)
    list_select_related = ("submission", "machine")
    search_fields = ("=id", "=submission__id", "submission__blob_sha256__startswith")


@admin.register(RunDetail)
class RunDetailAdmin(ReadOnly):
    """What a run showed."""

    list_display = ("run",)
    list_select_related = ("run",)
    search_fields = ("=run__id",)

    def get_queryset(self, request: HttpRequest):  # type: ignore[no-untyped-def] # noqa: ANN201 - generic only in the stubs
        """Leave the wide columns out of the list."""
        return super().get_queryset(request).defer("log", "sessions", "series")


@admin.register(BoardEntry)
class BoardEntryAdmin(ReadOnly):
    """The boards as they are shown; derived from runs."""

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
    """Plots and other files about runs."""

    list_display = ("run", "name", "created_at")
    list_select_related = ("run",)
    # The private storage has no addresses, so the file field cannot be a link.
    exclude = ("file",)


@admin.register(Machine)
class MachineAdmin(ReadOnly):
    """Bench machines and when they last gave a sign of life."""

    list_display = ("name", "machine_class", "last_seen", "noise", "drift", "unsteady")


@admin.register(ControlSeries)
class ControlSeriesAdmin(ReadOnly):
    """What the control library did on each machine."""

    list_display = ("run", "machine", "level", "recorded_at")
    list_filter = ("machine",)
    list_select_related = ("run", "machine")


@admin.register(Announcement)
class AnnouncementAdmin(admin.ModelAdmin):  # type: ignore[type-arg] # generic only in the stubs
    """News: the one table that organisers write."""

    list_display = ("title", "published_at")
    list_filter: ClassVar = ["published_at"]
    search_fields = ("title", "body")

"""Stores which boards may rank a run, because some boards accept stale reads and others do not."""

from typing import Any

from django.db import migrations, models

from leaderboard.boards import boards_for
from leaderboard.submissions.report_columns import decisive_names
from runner.report import Finding


def fill(apps: Any, _schema_editor: Any) -> None:
    """Fill `faults` of finished runs from their findings, and `ranked_on` of runs that may be ranked."""
    run_model = apps.get_model("leaderboard", "Run")
    details = apps.get_model("leaderboard", "RunDetail").objects.exclude(findings=[])
    for detail in details.only("run_id", "findings").iterator():
        findings = [Finding.from_json(finding) for finding in detail.findings]
        run_model.objects.filter(pk=detail.run_id).update(faults=decisive_names(findings))
    for run in run_model.objects.filter(eligible=True).iterator():
        run.ranked_on = [
            board.slug
            for board in boards_for(run.benchmark, run.instance)
            if run.scale in board.scales
        ]
        run.save(update_fields=["ranked_on"])


class Migration(migrations.Migration):
    dependencies = [
        ("leaderboard", "0003_submission_of_unknown_kind"),
    ]

    operations = [
        migrations.AddField(
            model_name="run",
            name="faults",
            field=models.JSONField(
                default=list, help_text="names of the required findings, and stale_read at any severity"
            ),
        ),
        migrations.AddField(
            model_name="run",
            name="ranked_on",
            field=models.JSONField(
                default=list, help_text="slugs of the boards that may rank the run"
            ),
        ),
        migrations.AlterField(
            model_name="run",
            name="eligible",
            field=models.BooleanField(default=False, help_text="for at least one board"),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]

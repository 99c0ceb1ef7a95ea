"""Rename three columns after what they contain, and describe the others in plain words. Changes no row."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboard', '0010_audited_entries'),
    ]

    operations = [
        migrations.RenameField("machine", "unsteady", "why_excluded"),
        migrations.RenameField("run", "unsteady", "why_excluded"),
        migrations.RenameField("run", "faults", "decisive_findings"),
        migrations.AlterField(
            model_name='machine',
            name='why_excluded',
            field=models.TextField(blank=True, help_text='why the results of the machine are excluded from ranking; empty: they are ranked'),
        ),
        migrations.AlterField(
            model_name='run',
            name='decisive_findings',
            field=models.JSONField(default=list, help_text='names of the required findings; stale_read even if advisory'),
        ),
        migrations.AlterField(
            model_name='run',
            name='why_excluded',
            field=models.TextField(blank=True, help_text='why the machine of the run was excluded from ranking when the run ended; empty: it was not excluded'),
        ),
        migrations.AlterField(
            model_name='announcement',
            name='published_at',
            field=models.DateTimeField(blank=True, help_text='empty: a draft; in the future: shown from then on', null=True),
        ),
        migrations.AlterField(
            model_name='boardentry',
            name='audited',
            field=models.BooleanField(default=False, help_text="this binary passed an audit on the board's benchmark instance"),
        ),
        migrations.AlterField(
            model_name='boardentry',
            name='position',
            field=models.PositiveIntegerField(blank=True, help_text='1 is the best median; empty: below the shown entries', null=True),
        ),
        migrations.AlterField(
            model_name='boardentry',
            name='run',
            field=models.ForeignKey(help_text='the newest of the merged runs', on_delete=django.db.models.deletion.CASCADE, related_name='board_entries', to='leaderboard.run'),
        ),
        migrations.AlterField(
            model_name='boardentry',
            name='slot',
            field=models.PositiveSmallIntegerField(help_text="rank among the user's own entries; 0 is the best"),
        ),
        migrations.AlterField(
            model_name='controlseries',
            name='changes',
            field=models.JSONField(default=list, help_text='logarithms of after / before, one for each session that ran the control twice'),
        ),
        migrations.AlterField(
            model_name='controlseries',
            name='level',
            field=models.FloatField(help_text="median of the benchmark's metric"),
        ),
        migrations.AlterField(
            model_name='machine',
            name='drift',
            field=models.FloatField(blank=True, help_text="relative change of the control's results from their earlier level", null=True),
        ),
        migrations.AlterField(
            model_name='machine',
            name='last_busy',
            field=models.DateTimeField(blank=True, help_text='when this machine last claimed or ended a run', null=True),
        ),
        migrations.AlterField(
            model_name='machine',
            name='machine_class',
            field=models.CharField(help_text='processor model, number of CPUs and memory', max_length=100),
        ),
        migrations.AlterField(
            model_name='machine',
            name='noise',
            field=models.FloatField(blank=True, help_text='relative difference of equal measurements; empty: unknown', null=True),
        ),
        migrations.AlterField(
            model_name='machine',
            name='refusal',
            field=models.TextField(blank=True, help_text='why the worker of the machine leaves waiting runs to other workers; empty: it takes all runs'),
        ),
        migrations.AlterField(
            model_name='run',
            name='eligible',
            field=models.BooleanField(default=False, help_text='may be ranked on at least one board'),
        ),
        migrations.AlterField(
            model_name='run',
            name='progress',
            field=models.FloatField(default=0.0, help_text='fraction of the work done, 0 to 1'),
        ),
        migrations.AlterField(
            model_name='run',
            name='ranked_on',
            field=models.JSONField(default=list, help_text='slugs of the boards that it may be ranked on'),
        ),
        migrations.AlterField(
            model_name='run',
            name='reason',
            field=models.TextField(blank=True, help_text='why the run did not pass, for its owner'),
        ),
        migrations.AlterField(
            model_name='run',
            name='seeds',
            field=models.JSONField(help_text='one seed per session, 16 hexadecimal digits; secret until the run ends'),
        ),
        migrations.AlterField(
            model_name='run',
            name='sessions',
            field=models.PositiveSmallIntegerField(help_text='number of sessions to run'),
        ),
        migrations.AlterField(
            model_name='run',
            name='verified',
            field=models.BooleanField(default=False, help_text="an audit: the driver runs outside of the library's process; never ranked"),
        ),
        migrations.AlterField(
            model_name='run',
            name='virtual_time',
            field=models.BigIntegerField(default=0, help_text='order among runs of one priority, see queue/fairness.py'),
        ),
        migrations.AlterField(
            model_name='run',
            name='wanted_class',
            field=models.CharField(blank=True, help_text='machine class that must execute the run; empty: any', max_length=100),
        ),
        migrations.AlterField(
            model_name='run',
            name='why_not',
            field=models.JSONField(default=list, help_text='reasons why it is not ranked, completing "not ranked because ..."'),
        ),
        migrations.AlterField(
            model_name='rundetail',
            name='drawn_at',
            field=models.DateTimeField(blank=True, help_text='when its plots were drawn; also set if there was nothing to draw', null=True),
        ),
        migrations.AlterField(
            model_name='rundetail',
            name='series',
            field=models.JSONField(default=dict, help_text='throughput and latency of the session whose time is nearest the median'),
        ),
        migrations.AlterField(
            model_name='submission',
            name='configuration',
            field=models.CharField(blank=True, help_text='runtime configuration, for a structure; else empty', max_length=64),
        ),
        migrations.AlterField(
            model_name='submission',
            name='deleted_at',
            field=models.DateTimeField(blank=True, help_text='when the submission was deleted from the pages; organisers still see it', null=True),
        ),
        migrations.AlterField(
            model_name='submission',
            name='facts',
            field=models.JSONField(default=dict, help_text='results of the inspection'),
        ),
        migrations.AlterField(
            model_name='submission',
            name='file_name',
            field=models.CharField(help_text='name given by the uploader; for display, never used as a path', max_length=100),
        ),
        migrations.AlterField(
            model_name='submission',
            name='kind',
            field=models.CharField(choices=[('index', 'whole library'), ('structure', 'bare structure'), ('unknown', 'unknown kind')], max_length=10),
        ),
        migrations.AlterField(
            model_name='submission',
            name='reference',
            field=models.BooleanField(default=False, help_text='submitted by the organisers for comparison; the limit of entries per user does not apply'),
        ),
        migrations.AlterField(
            model_name='submission',
            name='trusted',
            field=models.BooleanField(default=False, help_text='reference library: may link more shared objects than others'),
        ),
    ]

"""Allows the kind "unknown" for a submission whose file is neither a library nor a structure."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboard', '0002_submission_reference'),
    ]

    operations = [
        migrations.AlterField(
            model_name='submission',
            name='kind',
            field=models.CharField(choices=[('index', 'index'), ('structure', 'structure'), ('unknown', 'of unknown kind')], max_length=10),
        ),
    ]

"""Renames BoardEntry.slot to user_rank: a slot is the number of a worker's jail."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboard', '0012_board_advisories'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='boardentry',
            name='one_entry_per_slot',
        ),
        migrations.RenameField(
            model_name='boardentry',
            old_name='slot',
            new_name='user_rank',
        ),
        migrations.AddConstraint(
            model_name='boardentry',
            constraint=models.UniqueConstraint(fields=('board', 'benchmark_version', 'machine_class', 'user', 'user_rank'), name='one_entry_per_user_rank'),
        ),
    ]

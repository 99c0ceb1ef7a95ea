"""Sets the plural of BoardEntry for the admin pages. Changes no table."""

from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboard', '0004_boards_forgive_stale_reads'),
    ]

    operations = [
        migrations.AlterModelOptions(
            name='boardentry',
            options={'verbose_name_plural': 'board entries'},
        ),
    ]

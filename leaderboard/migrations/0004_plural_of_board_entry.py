from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboard', '0003_submission_of_unknown_kind'),
    ]

    operations = [
        migrations.AlterModelOptions(
            name='boardentry',
            options={'verbose_name_plural': 'board entries'},
        ),
    ]

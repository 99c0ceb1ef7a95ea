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

"""Runs a command of Django or of leaderboard/management/commands: `python -m web.manage COMMAND`."""

import os
import sys

from django.core.management import execute_from_command_line


def main() -> None:
    """Let Django execute the command line."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "web.settings")
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()

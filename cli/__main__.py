"""Runs the command `keydrome`, also as `python -m cli`."""

import sys

_INTERRUPTED = 130  # as in cli.main


def main() -> int:
    """Run the command and return the exit status. Ctrl-C may come while Python still loads the modules."""
    try:
        from cli.main import main as run  # noqa: PLC0415
    except KeyboardInterrupt:
        print("keydrome: interrupted before the command had started", file=sys.stderr)
        return _INTERRUPTED
    return run()


if __name__ == "__main__":
    sys.exit(main())

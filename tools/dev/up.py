"""Implements `./dev up`: sets up a fresh machine, starts the site, and gets reference libraries ranked on its boards.

The command can be repeated at any time: a step that is done already is skipped or changes nothing.
"""

from __future__ import annotations

import os
import shutil
import subprocess

from dev import build, packages, python_env, services
from dev.alone import alone_in_clone
from dev.paths import LOGS, PYTHON, RELEASE, ROOT, RUN, VAR
from dev.steps import StepError, Timings, become_root, digest, run, stamped

# The reference libraries that are on the boards when the command ends. To judge the other ones takes minutes. Therefore
# the command only queues them, and the site judges them in the background.
FIRST = ("berkeley", "global_lock", "btree")
SCALE = ("--scale", "smoke", "--sessions", "3")


def up() -> int:
    """Set up, build and start; run reference libraries that the boards lack, and show the boards."""
    become_root()
    with alone_in_clone(RUN / "up.lock", "another ./dev up of this clone"):
        return _up()


def _up() -> int:
    timings = Timings()
    with timings.measure("packages"):
        packages.install(packages.BUILD)
    with timings.measure("python"):
        python_env.ensure()
    with timings.measure("build"):
        build.build("release", "products")
    with timings.measure("jail check"):
        _jail_check()
    with timings.measure("database"):
        made = VAR / "keydrome.sqlite3"
        stamped("database", _database_stamp(), _prepare_database, made=made)
    with timings.measure("documentation"):
        made = VAR / "docs" / "searchindex.js"
        stamped("documentation", _documentation_stamp(), _make_documentation, made=made)
    with timings.measure("services"):
        site = services.ensure()
    with timings.measure("reference runs"):
        _manage("add_reference", *FIRST, *SCALE, "--wait", "--board")
    print(timings.table())
    _say_where(site)
    print(
        "\nThe site now executes the runs of the remaining reference libraries in the background:",
        flush=True,
    )
    _manage("add_reference", *SCALE)
    return 0


def _jail_check() -> None:
    done = subprocess.run(
        [str(RELEASE / "bin" / "jail"), "--check"], capture_output=True, text=True, check=False
    )
    print("".join(f"  {line}\n" for line in done.stdout.splitlines()), end="")
    if done.returncode != 0:
        raise StepError(
            f"`jail --check` found that the jail, the sandbox of the libraries, cannot work on this machine: "
            f"{done.stderr.strip().removeprefix('jail: ').removeprefix('refused: ')}"
        )


def _database_stamp() -> str:
    inputs = [
        ROOT / "leaderboard" / "migrations",
        ROOT / "web" / "static",
        ROOT / "web" / "settings.py",
        ROOT / "uv.lock",
    ]
    return digest(inputs, str(VAR))


def _prepare_database() -> None:
    hint = (
        "if the database is locked, run `./dev down`, which ends the site that uses it, then run `./dev up`; otherwise "
        "correct the error in the lines above `whole log`; to begin with an empty site instead, run `./dev down`, move "
        "var/ away, and run `./dev up`"
    )
    for name, arguments in {
        "migrate": ("migrate", "--no-input"),
        "demo": ("create_demo",),
        "static": ("collectstatic", "--no-input"),
        "plots": ("warm_plots",),
    }.items():
        run(services.manage(*arguments), log=name, hint=hint, env=services.environment())


def _documentation_stamp() -> str:
    inputs = [ROOT / "docs", ROOT / "web" / "static", ROOT / "uv.lock"]
    return digest(inputs, str(VAR))


def _make_documentation() -> None:
    shutil.rmtree(
        VAR / "docs", ignore_errors=True
    )  # otherwise pages that docs/ no longer has would stay
    run(
        [str(PYTHON), "-m", "sphinx", "-W", "-q", "-c", "docs/site", "docs", str(VAR / "docs")],
        log="documentation",
        hint="the message names a page of docs/ and its line; correct the page",
    )


def _manage(*arguments: str) -> None:
    """Run a management command in the foreground, so that its progress is visible."""
    done = subprocess.run(
        services.manage(*arguments),
        cwd=ROOT,
        env={**os.environ, **services.environment()},
        check=False,
    )
    if done.returncode != 0:
        raise StepError(
            f"the management command {arguments[0]} failed; read its message above, and the logs in {LOGS}"
        )


def _say_where(site: services.Site) -> None:
    password = VAR / "demo-password"
    print(f"\nOpen {site.url}")
    if password.exists():
        print(f"Log in as demo, password {password.read_text().strip()}")
    print("./dev down stops the site; ./dev up starts it again.")

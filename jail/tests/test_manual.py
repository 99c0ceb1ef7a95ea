"""Tests that the manual page, `jail --help` and docs/reference/jail.md list the same options."""

import re
import subprocess

import pytest

from jail.tests.jailing import JAIL, ROOT

PAGE = ROOT / "jail" / "jail.1"
REFERENCE = ROOT / "docs" / "reference" / "jail.md"


def options_of_help() -> set[str]:
    done = subprocess.run([str(JAIL), "--help"], capture_output=True, text=True, check=True)
    return {f"--{name}" for name in re.findall(r"--([a-z][a-z-]*)", done.stdout)}


def options_of_page() -> list[str]:
    return re.findall(r"^\.It Fl (-[a-z-]+)", PAGE.read_text(), re.MULTILINE)


def options_of_reference() -> list[str]:
    return re.findall(r"^\| `(--[a-z-]+)", REFERENCE.read_text(), re.MULTILINE)


def test_page_has_the_options_in_order() -> None:
    named = [f"-{name}" for name in options_of_page()]
    assert set(named) == options_of_help() | {"--help"}
    assert named == sorted(set(named))


def test_reference_has_the_options() -> None:
    named = options_of_reference()
    assert len(named) == len(set(named))
    assert set(named) == options_of_help()


@pytest.mark.parametrize("option", ["--require", "--without"])
def test_choices_are_the_same(option: str) -> None:
    done = subprocess.run([str(JAIL), "--help"], capture_output=True, text=True, check=True)
    choices = re.findall(rf"{option} ([a-z|]+)", done.stdout)[-1].split("|")
    on_page = re.findall(rf"^\.It Fl -{option[2:]} Cm (.*)$", PAGE.read_text(), re.MULTILINE)
    assert on_page == [" | ".join(choices)]


def test_page_is_well_formed() -> None:
    command = ["mandoc", "-T", "lint", "-W", "warning", str(PAGE)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_help_has_every_option_of_the_parser() -> None:
    source = (ROOT / "jail" / "options" / "options.c").read_text()
    parsed = re.findall(r'^ {4}\{"([a-z-]+)", (?:no|required)_argument', source, re.MULTILINE)
    assert {f"--{name}" for name in parsed} == options_of_help() | {"--help"}

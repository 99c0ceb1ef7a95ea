"""Tests the documentation: the links, files and environment variables that it names exist; its lists are complete."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
VARIABLE = re.compile(r"""["'](KEYDROME_[A-Z_]+|DATABASE_URL|CELERY_BROKER_URL)["']""")
# A word that names a file of the repository.
NAMED = re.compile(
    r"(?<![\w/.-])((?:docs|tests|tools|deploy|api|benchmarks|harness|jail|runner|leaderboard|web)/[\w./-]+\.\w+)"
)


def tracked(*patterns: str) -> list[Path]:
    listing = subprocess.run(
        ["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    return [ROOT / name for name in listing]


@pytest.mark.parametrize("page", tracked("*.md"), ids=lambda path: str(path.relative_to(ROOT)))
def test_links_and_files_exist(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    for link in LINK.findall(text):
        assert (page.parent / link).exists(), f"{page.name} links to {link}, which does not exist"
    for name in NAMED.findall(text):
        missing = not (ROOT / name).exists() and not (page.parent / name).exists()
        # Guides name files that the reader will create.
        assert not missing or "mine" in name or "NAME" in name, (
            f"{page.name} names the file {name}, which does not exist"
        )


def test_environment_is_documented() -> None:
    """The reference lists exactly the variables that the code reads."""
    used = set()
    for path in tracked("*.py", "*.cc"):
        if "tests" not in path.relative_to(ROOT).parts[:-1]:
            used |= set(VARIABLE.findall(path.read_text()))
    page = (ROOT / "docs" / "reference" / "environment.md").read_text()
    documented = set(re.findall(r"^\| `(\w+)`", page, re.MULTILINE))
    assert used == documented


def test_the_contracts_page_names_tests_that_exist() -> None:
    """The page names each test by the first words of its name, followed by an ellipsis."""
    sources = "".join(path.read_text() for path in tracked("indexes/tests/*.cc"))
    page = (ROOT / "docs" / "reference" / "index-api.md").read_text()
    named = re.findall(r"`(\w+)…`", page)
    assert named
    assert [name for name in named if not re.search(rf", {name}", sources)] == []


def test_decisions_are_listed() -> None:
    index = (ROOT / "docs" / "decisions" / "README.md").read_text()
    for page in sorted((ROOT / "docs" / "decisions").glob("0*.md")):
        title = page.read_text().splitlines()[0].removeprefix("# ")
        assert f"[{title}]({page.name})" in index


def test_kinds_have_guides() -> None:
    for folder in (ROOT / "tools" / "dev" / "templates").iterdir():
        guides = {"index": "add-an-index"}
        assert (
            ROOT / "docs" / "how-to" / f"{guides.get(folder.name, f'add-a-{folder.name}')}.md"
        ).exists()


def test_glossary_is_sorted_and_says_each_term_once() -> None:
    page = (ROOT / "docs" / "reference" / "glossary.md").read_text()
    terms = re.findall(r"^\| ([^|]+) \|", page, re.MULTILINE)[1:]
    assert terms == sorted(set(terms), key=str.lower)
    for page_name in ("README.md", "ARCHITECTURE.md"):
        assert "docs/reference/glossary.md" in (ROOT / page_name).read_text()

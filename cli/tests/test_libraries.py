"""Tests how the commands find the library and the configuration that their arguments name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.input.libraries import (
    DEFAULT_CONFIGURATION,
    Named,
    check_isolates,
    chosen_configuration,
    configured,
    find_configuration,
    find_library,
    title,
)
from cli.input.values import UsageError
from cli.local_jail import check_rights
from runner.catalogue import configuration_names, load_configuration
from runner.inspection.library import LibraryFacts, LibraryKind
from runner.settings import Settings
from runner.terms import JailLevel


@pytest.fixture
def built(settings: Settings, tmp_path: Path) -> Settings:
    """Return settings whose build folder has one library and one structure."""
    for folder, name in (("indexes", "berkeley"), ("structures", "btree")):
        path = tmp_path / "lib" / folder / f"{name}.so"
        path.parent.mkdir(parents=True)
        path.touch()
    return Settings(root=settings.root, build=tmp_path, var=tmp_path)


def test_a_reference_library_is_a_name(built: Settings, tmp_path: Path) -> None:
    lib = tmp_path / "lib"
    assert find_library("berkeley", built) == Named(lib / "indexes" / "berkeley.so")
    assert find_library("btree", built) == Named(lib / "structures" / "btree.so")
    assert find_library("btree:occ", built) == Named(lib / "structures" / "btree.so", "occ")
    with pytest.raises(UsageError, match=r"global_lock\.so is not built yet: run \./dev build"):
        find_library("global_lock", built)
    with pytest.raises(UsageError, match="mine: no such file, and no library of this build"):
        find_library("mine", built)


def test_a_file_comes_before_a_name_and_a_colon(
    built: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("berkeley").touch()
    assert find_library("berkeley", built) == Named(Path("berkeley"))
    odd = tmp_path / "a:b.so"
    odd.touch()
    assert find_library(str(odd), built) == Named(odd)
    assert find_library(f"{odd}:rw", built) == Named(odd, "rw")


def test_a_file_cannot_take_the_name_of_a_configuration(settings: Settings, tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    own = load_configuration(settings, "rw")
    file.write_text(json.dumps(own))
    assert find_configuration(str(file), settings) == own
    file.write_text(json.dumps({**own, "name": "occ"}))
    with pytest.raises(
        UsageError, match="'name' is 'occ', as in a configuration of Keydrome, but other"
    ):
        find_configuration(str(file), settings)
    file.write_text(json.dumps({**own, "name": "mine"}))
    found = find_configuration(str(file), settings)
    assert found is not None
    assert found["name"] == "mine"


VALID = {
    "name": "mine",
    "title": "mine",
    "description": "My own locks.",
    "strategy": "direct",
    "concurrency": "index_2pl",
    "lock": "rw",
}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"lokc": "rw"}, "the field 'lokc' is unknown; did you mean 'lock'?"),
        ({"cntrol": "occ"}, "the field 'cntrol' is unknown; did you mean 'concurrency'?"),
        (
            {"zzz": 1},
            "the field 'zzz' is unknown; choose one of: name, title, description, strategy, ",
        ),
        ({"title": None}, "the field 'title' is missing"),
        ({"title": 5}, "the field 'title' has the value 5; it must be a text"),
        ({"title": ""}, "the field 'title' is empty"),
        ({"name": "My Own"}, "the field 'name' has the value 'My Own'; it must consist of 1 to"),
        (
            {"lock": "exclusve"},
            "the field 'lock' has the value 'exclusve'; did you mean 'exclusive'?",
        ),
        ({"lock": 7}, "the field 'lock' has the value 7; choose one of: exclusive, rw, none"),
        (
            {"strategy": "queue"},
            "the field 'strategy' has the value 'queue'; choose one of: direct",
        ),
        (
            {"concurrency": "mvc"},
            "the field 'concurrency' has the value 'mvc'; did you mean 'mvcc'",
        ),
        ({"control": "occ"}, "the file has both; remove 'control'"),
        ({"concurrency": "none"}, "it must be 'none', because the field 'concurrency' has"),
        ({"lock": "none"}, "it must be 'exclusive' or 'rw', because the field 'concurrency' has"),
        ({"options": []}, "the field 'options' has the value []; it must be an object"),
        ({"reference": 1}, "the field 'reference' has the value 1; it must be true or false"),
        ({"options": True}, "the field 'options' has the value true; it must be an object"),
    ],
)
def test_a_wrong_field_of_a_configuration_is_named_before_the_run(
    change: dict[str, object], words: str, settings: Settings, tmp_path: Path
) -> None:
    file = tmp_path / "mine.json"
    changed = {**VALID, **change}
    file.write_text(json.dumps({name: v for name, v in changed.items() if v is not None}))
    with pytest.raises(UsageError) as refused:
        find_configuration(str(file), settings)
    assert str(refused.value).startswith(f"{file}: ")
    assert words in str(refused.value)


def test_every_right_configuration_is_accepted(settings: Settings, tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    first_format = {**VALID, "control": "occ"}
    del first_format["concurrency"]
    ours = [load_configuration(settings, name) for name in configuration_names(settings)]
    for right in (VALID, first_format, {**VALID, "options": {"fanout": 4}}, *ours):
        file.write_text(json.dumps(right))
        assert find_configuration(str(file), settings) == right


def test_a_configuration_is_given_once(settings: Settings) -> None:
    named = Named(Path("btree.so"), "occ")
    assert chosen_configuration(named, None, settings) == load_configuration(settings, "occ")
    with pytest.raises(UsageError, match="give only one of them"):
        chosen_configuration(named, "rw", settings)


def test_a_structure_has_a_default_configuration(settings: Settings) -> None:
    default = load_configuration(settings, DEFAULT_CONFIGURATION)
    structure = LibraryFacts(LibraryKind.STRUCTURE, 1)
    assert configured(structure, None, settings) == default
    assert configured(structure, {"name": "mine"}, settings) == {"name": "mine"}
    assert configured(LibraryFacts(LibraryKind.INDEX, 1), None, settings) is None
    assert title("btree.so", default, is_default=True) == (
        f"btree.so under the configuration {DEFAULT_CONFIGURATION} (the default; --config NAME chooses another)"
    )
    assert title("mine.so", None, is_default=True) == "mine.so"


def test_check_judges_only_configurations_that_isolate(settings: Settings) -> None:
    bare = load_configuration(settings, "bare")
    with pytest.raises(UsageError, match="keydrome bench LIB --config bare --benchmark ycsb"):
        check_isolates(bare)
    check_isolates(None)
    for name in set(configuration_names(settings)) - {"bare"}:
        check_isolates(load_configuration(settings, name))


def test_only_a_full_jail_needs_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    check_rights(JailLevel.WEAK)
    check_rights(JailLevel.NONE)
    with pytest.raises(UsageError, match="a full jail needs root"):
        check_rights(JailLevel.FULL)

"""Fixtures for the runner's tests: settings, and shared objects that the machine's own compiler builds."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from runner.settings import Settings, load_settings

Compile = Callable[..., Path]

GOOD = """
#include "keydrome/index.h"
ErrCode create(KeyType t, char* n) { (void)t; (void)n; return SUCCESS; }
ErrCode openIndex(const char* n, IdxState** i) { (void)n; (void)i; return SUCCESS; }
ErrCode closeIndex(IdxState* i) { (void)i; return SUCCESS; }
ErrCode beginTransaction(TxnState** t) { (void)t; return SUCCESS; }
ErrCode abortTransaction(TxnState* t) { (void)t; return SUCCESS; }
ErrCode commitTransaction(TxnState* t) { (void)t; return SUCCESS; }
ErrCode get(IdxState* i, TxnState* t, Record* r) { (void)i; (void)t; (void)r; return SUCCESS; }
ErrCode getNext(IdxState* i, TxnState* t, Record* r) { (void)i; (void)t; (void)r; return SUCCESS; }
ErrCode insertRecord(IdxState* i, TxnState* t, Key* k, const char* p) {
  (void)i; (void)t; (void)k; (void)p; return SUCCESS;
}
ErrCode deleteRecord(IdxState* i, TxnState* t, Record* r) { (void)i; (void)t; (void)r; return SUCCESS; }
"""


@pytest.fixture(scope="session")
def settings() -> Settings:
    """The settings of this repository."""
    return load_settings({})


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory, settings: Settings) -> Compile:
    """Return a function that compiles C, or C++ with language="c++", to a shared object and returns its path."""
    folder = tmp_path_factory.mktemp("compiled")
    made = 0

    def build(
        source: str,
        *flags: str,
        language: str = "c",
        shared: bool = True,
        name: str | None = None,
    ) -> Path:
        nonlocal made
        made += 1
        target = folder / (name or f"library{made}.so")
        text = folder / f"source{made}.{'cc' if language == 'c++' else 'c'}"
        text.write_text(source)
        command = ["g++" if language == "c++" else "gcc", "-O1", f"-I{settings.root}/api/include"]
        command += ["-shared", "-fPIC"] if shared else []
        outcome = subprocess.run(
            [*command, str(text), "-o", str(target), *flags],
            check=False,
            capture_output=True,
            text=True,
        )
        assert outcome.returncode == 0, outcome.stderr
        return target

    return build


@pytest.fixture(scope="session")
def good_library(compiled: Compile) -> Path:
    """The path of a library that inspection accepts, because it exports the ten calls."""
    return compiled(GOOD)

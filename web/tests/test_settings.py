"""Tests the messages about wrong environment variables."""

from __future__ import annotations

import pytest
from django.core.exceptions import ImproperlyConfigured

from web.settings import env


@pytest.mark.parametrize(
    ("read", "kind"), [(env.int, "a whole number"), (env.float, "a number")], ids=["int", "float"]
)
def test_a_variable_that_is_not_a_number_is_named(
    monkeypatch: pytest.MonkeyPatch, read: object, kind: str
) -> None:
    monkeypatch.setenv("KEYDROME_WRONG", "many")
    message = f"KEYDROME_WRONG is 'many': set the environment variable to {kind}"
    with pytest.raises(ImproperlyConfigured, match=message):
        read("KEYDROME_WRONG", default=1)  # type: ignore[operator] # a function of untyped environ

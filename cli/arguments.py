"""Parses the arguments of `keydrome`. The error for an unknown option shows the usage and the nearest known option."""

from __future__ import annotations

import argparse
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence


class Parser(argparse.ArgumentParser):
    """Parses the arguments of `keydrome`, or of one of its commands. Options cannot be abbreviated."""

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401 - passed on
        super().__init__(allow_abbrev=False, **settings)

    def parse_known_args(  # type: ignore[override] # the overloads would only repeat argparse's own
        self,
        args: Sequence[str] | None = None,
        namespace: Any = None,  # noqa: ANN401 - argparse accepts any object
    ) -> tuple[Any, list[str]]:
        """Return the parsed arguments. Ends the process if there is an unknown one.

        argparse would return the unknown arguments of a command to the parser of `keydrome`, which knows neither the
        usage of the command nor its options.
        """
        parsed, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(self._why_unknown(unknown))
        return parsed, unknown

    def _why_unknown(self, unknown: Sequence[str]) -> str:
        """Return a message about the first unknown option, or about all arguments if none of them is an option.

        Arguments after an unknown option may be its values. So they are not reported.
        """
        option = next((text.partition("=")[0] for text in unknown if text.startswith("-")), None)
        if option is None:
            return (
                f"too many arguments: {' '.join(unknown)}; `{self.prog} --help` lists the arguments"
            )
        nearest = get_close_matches(option, self._option_string_actions, n=1)
        if nearest:
            return f"there is no option {option}; did you mean {nearest[0]}?"
        return f"there is no option {option}; `{self.prog} --help` lists the options"

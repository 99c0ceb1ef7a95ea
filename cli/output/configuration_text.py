"""Says which configuration to choose if the runtime rejects one, because it does not suit the structure.

A configuration says how Keydrome's runtime adds transactions to a structure, with a concurrency control and a lock.
"""

from __future__ import annotations

from cli.input.libraries import DEFAULT_CONFIGURATION
from runner.catalogue import configuration_names, load_configuration
from runner.settings import load_settings

# How the reason begins (harness/player/library.cc) if the structure lacks what the configuration needs
# (runtime/configuration.cc).
_REFUSED = "the library refused its configuration: "
_UNSUITABLE = (f"{_REFUSED}configuration.concurrency: ", f"{_REFUSED}configuration.lock: ")


def what_to_choose(reason: str) -> str:
    """Return which configurations there are if `reason` rejects one as unsuitable, or an empty string."""
    if not reason.startswith(_UNSUITABLE):
        return ""
    settings = load_settings()
    others = (
        (name, load_configuration(settings, name))
        for name in configuration_names(settings)
        if name != DEFAULT_CONFIGURATION
    )
    listed = ", ".join(f"{name} ({one['concurrency']}, {one['lock']})" for name, one in others)
    return (
        f"--config {DEFAULT_CONFIGURATION} suits every structure. The other configurations, with concurrency and lock: "
        f"{listed}"
    )

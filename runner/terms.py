"""Defines the words that plans, reports and jobs share: verdicts, scales, severities and jail levels.

The values are part of public JSON (harness/schema) and of the database, so they must not change.
"""

from __future__ import annotations

from enum import StrEnum

# The ends of messages about a state that only an error in Keydrome's own code causes. A user cannot repair such a
# state, so the messages ask for a report. base/keydrome_error.h has the same texts. The first is for a state that the
# same input causes each time, and the second for a state that may depend on time or chance.
REPORT_ERROR = "this is an error of Keydrome: please report this message"
REPEAT_THEN_REPORT = "this is an error of Keydrome: repeat the run, and please report this message if it appears again"


class Verdict(StrEnum):
    """How a run ended.

    The referee, the process that judges a library, decides the verdict from its own checks and from the report of the
    jail, the sandbox in which the library runs.
    """

    PASSED = "passed"
    FAILED = "failed"  # a check found a fault that makes the library fail (a required finding)
    CRASHED = "crashed"  # the process in the jail ended too early
    TIMED_OUT = "timed_out"
    OUT_OF_MEMORY = "out_of_memory"
    REFUSED = "refused"  # the file breaks a rule, the request is invalid, or the jail is weaker than required
    UNSUPPORTED = "unsupported"  # the library rejects its configuration
    INFRASTRUCTURE = "infrastructure"  # Keydrome or the machine is at fault

    @property
    def predicate(self) -> str:
        """Return the verdict as a verb for a sentence whose subject is the library, such as "the library timed out"."""
        return _PREDICATES.get(self, self.value.replace("_", " "))


_PREDICATES = {
    Verdict.OUT_OF_MEMORY: "ran out of memory",
    Verdict.REFUSED: "was refused",
    Verdict.UNSUPPORTED: "refused its configuration",
    Verdict.INFRASTRUCTURE: "could not be judged",
}


class Scale(StrEnum):
    """How large an instance (a named set of parameters of a benchmark) is.

    A session (one repetition of a benchmark) takes less than a second at `smoke` and up to 20 s at `laptop`. At `paper`
    it is as large as in the published benchmark.
    """

    SMOKE = "smoke"
    LAPTOP = "laptop"
    PAPER = "paper"


class Severity(StrEnum):
    """The effect of a finding: `required` decides the verdict, `advisory` is only a warning."""

    REQUIRED = "required"
    ADVISORY = "advisory"


class JailLevel(StrEnum):
    """How well the jail protects the machine. The strongest level comes first.

    docs/reference/jail.md says what each level means.
    """

    FULL = "full"
    WEAK = "weak"
    NONE = "none"

// Decides the verdict of a session (one repetition of a benchmark) that was played: passed, failed,
// crashed and so on. No other file decides the verdict of a played session.
//
// Thread safety: the functions use only their arguments.
//
// A session passes only if all messages of the protocol (harness/protocol.h) were exchanged, and
// the judges reported no required finding. A required finding is one that makes the run fail. The
// output and the exit code of the player, the jailed process, prove nothing, because the library
// controls both.
#pragma once

#include <string>

#include "benchmarks/kit/judge/finding.h"
#include "benchmarks/kit/judge/replay.h"
#include "benchmarks/kit/script/script.h"
#include "harness/referee/session/session_result.h"

namespace keydrome {

struct RunVerdict {
  std::string name;    // passed, failed, crashed, ... (harness/schema/report.v1.schema.json)
  std::string reason;  // one sentence; empty for `passed`
};

// Adds the findings (entries of the report that say what is wrong) that follow from how the session
// went. Examples are a broken protocol, a hang, slowness, a crash, or a player's clock that
// disagrees with the referee's. `script` contains the operations of the session.
void add_session_findings(const script::Script& script, const SessionResult& result,
                          judge::Findings& findings);

// Returns the verdict. `findings` are those of the session and of all judges. `required_level` is
// the weakest isolation that the plan accepts (jail.require). The plan is the JSON file that
// describes the session.
RunVerdict decide(const SessionResult& result, const judge::Findings& findings,
                  const std::string& required_level);

// Returns how the session ended, in the form that its workload (the code of the benchmark) uses. To
// find a small cause of a failure, a workload may play parts of the session again. The workload
// then compares the ending of each part with this ending.
judge::Ending ending_of(const SessionResult& result);

// Returns the verdict for an advisory instance (a parameter set of the benchmark for which a failed
// check is only a warning). If the library failed or the session could not be judged, adds a
// warning to `findings` and returns `passed`. Returns other verdicts unchanged.
RunVerdict as_warning(RunVerdict verdict, judge::Findings& findings);

// Returns the isolation that the jail gave: full, weak or none. Returns none if the jail reported
// no level.
std::string jail_level(const JailEnd& jail);

}  // namespace keydrome

// Turns what certify() found wrong in a history into a Violation (violation.h), which people can
// read. The Violation contains the name of the anomaly and a sentence about the anomaly. For a
// cycle of transactions, it also contains one sentence for each edge: why one transaction must
// precede the next. Thread safety: pure functions, except that rename_as_stale_read() changes its
// argument.
#pragma once

#include <string>

#include "checker/certify/cycles.h"
#include "checker/certify/dependencies.h"
#include "checker/certify/versions.h"
#include "checker/certify/violation.h"

namespace keydrome::certify {

Violation describe_cycle(const Context& context, const Cycle& found);
Violation describe_finding(const Context& context, const DirectFinding& finding);
Violation describe_double_delete(const Context& context, const DoubleDelete& twice);
Violation describe_call_violation(const history::History& history,
                                  const history::CallViolation& found);
Violation describe_unknown_key(const history::History& history, const history::UnknownKey& unknown);

// Renames a violation to "stale_read". Use it if every serial order of the history contradicts real
// time. In such an order, a transaction T precedes another one that had already returned when T
// began.
void rename_as_stale_read(Violation& violation);

// Returns text such as "thread 2, event 17".
std::string place_text(history::EventRef event);

// Returns a recorded call and its result, such as: get("A", 5) returned KEY_NOTFOUND
std::string result_text(const history::History& history, history::EventRef at);

}  // namespace keydrome::certify

// A violation as facts for people: the transactions of the circle with the calls that matter, in
// time, and why each must stand before the next. Pictures, tables and pages are drawn from it
// elsewhere (the form is in harness/schema/report.v1.schema.json, "witness").
//
// Payloads are hashes in a history, so the records of a witness are called r1, r2, ... in the order
// in which they appear. Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "checker/history.h"
#include "checker/violation.h"

namespace keydrome {

// What a violation of that name means, in a sentence for somebody who has never read about
// isolation, without full stop. Empty when there is no such name.
std::string_view violation_meaning(std::string_view name);

// `ticks_per_us` turns stamps into microseconds. `violation` is one of certify(history).
Json witness_json(const History& history, const Violation& violation, double ticks_per_us);

}  // namespace keydrome

// A violation as facts for people: the transactions of the circle with the calls that matter, in
// time, and why each must stand before the next. Pictures, tables and pages are drawn from it
// elsewhere (the form is in harness/schema/report.v1.schema.json, "witness").
//
// What is shown is the minimal history (minimal.h) where there is one: every record that a call
// shows has its writer shown or was there before. Thread safety: pure functions.
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

// `violation` is one of certify(history). `with_program`: with a C program that plays it again,
// where one can be written (replay.h).
Json witness_json(const History& history, const Violation& violation, bool with_program = true);

}  // namespace keydrome

// Naming: circles and direct findings as violations: the anomaly's name, and words for every edge.
// Thread safety: pure functions.
#pragma once

#include "checker/circles.h"
#include "checker/sweep.h"
#include "checker/violation.h"
#include "checker/writers.h"

namespace keydrome {

Violation name_circle(const Case& the_case, const Circle& circle);
Violation name_finding(const Case& the_case, const DirectFinding& finding);
Violation name_double_delete(const Case& the_case, const DoubleDelete& twice);
Violation name_wrong_answer(const WrongAnswer& wrong);
Violation name_unknown_key(const UnknownKey& unknown);
// Of what turned out to be wrong in real time only.
void name_stale_read(Violation& violation);

// "thread 2, event 17"
std::string place_text(EventRef event);

}  // namespace keydrome

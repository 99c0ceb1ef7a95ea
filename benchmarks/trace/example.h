// The trace that the benchmark "trace" plays if the user names no file.
//
// Thread safety: pure function.
#pragma once

#include <string>

namespace keydrome::trace {

// Returns the text of the trace (docs/reference/trace-files.md), which is always the same. Four
// threads read and change users, whose keys are strings, and events, whose keys are integers: in
// transactions, in auto-commit calls, and in transactions that they abort.
std::string example_text();

}  // namespace keydrome::trace

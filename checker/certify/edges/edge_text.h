// Writes the edges of a cycle for people. An edge says that one transaction must precede another,
// and its text says why. Thread safety: pure functions.
#pragma once

#include <string>

#include "checker/certify/cycles.h"
#include "checker/certify/dependencies.h"

namespace keydrome::certify {

// Returns text such as "the record under key 5 of index A".
std::string record_text(const Context& context, uint32_t element);

// Returns a sentence without full stop. `from` and `to` name the two transactions, such as "T1". If
// `same_record` is true, the text calls the record "this record": use it if the text before names
// the record and the two transactions.
std::string edge_text(const Context& context, const CycleEdge& edge, const std::string& from,
                      const std::string& to, bool same_record = false);

}  // namespace keydrome::certify

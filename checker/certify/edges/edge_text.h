// Writes the edges of a cycle for people. An edge says that one transaction must precede another,
// and its text says why. Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string>

#include "checker/certify/cycles.h"
#include "checker/certify/dependencies.h"

namespace keydrome::certify {

// Returns text such as "the record under key 5 of index A".
std::string record_text(const Context& context, uint32_t element);

// What the text before an edge says: nothing about its record, or what another call of the same
// transaction found out about the same record. In the last case, the text before is in the same
// sentence and names the record, so that the edge calls it "this record".
enum class Before : uint8_t { kNothing, kOtherCall, kRecord };

// Returns a sentence without full stop. `from` and `to` name the two transactions, such as "T1".
std::string edge_text(const Context& context, const CycleEdge& edge, const std::string& from,
                      const std::string& to, Before before = Before::kNothing);

}  // namespace keydrome::certify

// The notation of scenarios, as README.md explains it: "T1: b g(1) A2.n !i(3,x) d(1,*) c".
//
// For data of our own that is compiled in; an Error names the place, and the tests parse all of it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "benchmarks/scenarios/scenario.h"

namespace keydrome::scenarios {

// Appends the steps of one turn of a session. `in_transaction` is kept from turn to turn.
Result<void> parse_turn(std::string_view turn, std::vector<bool>& in_transaction,
                        Scenario& scenario);

// Appends records: "1=a 2 B.5=x 7=p*100" (payload r unless given; *100: p1 to p100).
Result<void> parse_setup(std::string_view records, Scenario& scenario);

// Bytes written down: "\xff" is a byte, "{a*127}" 127 times the letter.
Result<std::string> parse_bytes(std::string_view text);

// The number of the handle "A", "B", "C" or "A2"; added when it is new.
Result<uint32_t> handle_number(std::string_view name, Scenario& scenario);

}  // namespace keydrome::scenarios

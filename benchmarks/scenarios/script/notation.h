// Parses the notation of scenarios (short scripts of API calls), which README.md explains: "T1: b
// g(1) A2.n !i(3,x) d(1,*) c". This text is one turn: the next steps of one session (a client
// thread, here T1).
//
// All texts of scenarios are compiled in, and the tests parse every text. An Error quotes the wrong
// text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "benchmarks/scenarios/script/scenario.h"

namespace keydrome::scenarios {

// Appends the steps of one turn. `in_transaction` says for each session whether it has a
// transaction open. The caller passes the same vector from turn to turn.
Result<void> parse_turn(std::string_view turn, std::vector<bool>& in_transaction,
                        Scenario& scenario);

// Appends the records of a text like "1=a 2 B.5=x 7=p*100". B.5 is key 5 of the index B. The
// default payload is r. 7=p*100 means 100 records with key 7 and the payloads p1 to p100.
Result<void> parse_setup(std::string_view records, Scenario& scenario);

// Returns the bytes of a literal: "\xff" is one byte, "{a*127}" is the letter a 127 times.
Result<std::string> parse_bytes(std::string_view text);

// Returns the number of a handle (an open index) in Scenario::handles, and adds the handle if it is
// new. The name is that of the index, "A", "B" or "C", or "A2" for a second handle of index A.
Result<uint32_t> handle_number(std::string_view name, Scenario& scenario);

}  // namespace keydrome::scenarios

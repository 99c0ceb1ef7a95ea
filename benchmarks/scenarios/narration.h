// Narration: a run in words, for somebody who sees the scenario for the first time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "benchmarks/scenarios/run_log.h"

namespace keydrome::scenarios {

// A call of a recorded run, in the order in which the answers came.
struct ToldCall {
  uint32_t session = 0;
  Event event{};
  bool waited = false;  // another session got an answer while this one had to wait for its own
};
// The calls of the steps; what sets a run up and reads it at the end is left out.
std::vector<ToldCall> told_calls(const RunLog& log);

// What the transaction at the end of the run read of an index.
std::vector<Event> final_records(const RunLog& log, uint32_t index);

// "T1 get(1) -> a".
std::string call_text(const Scenario& scenario, const Variant& variant,
                      const Vocabulary& vocabulary, uint32_t session, const Event& event);
// "NF or a".
std::string answers_text(const std::vector<Answer>& answers);

// The whole run: what was there, every step with its answer, what is there at the end. One line for
// each.
std::string narrate(const Scenario& scenario, const Variant& variant, const Vocabulary& vocabulary,
                    const RunLog& log);

}  // namespace keydrome::scenarios

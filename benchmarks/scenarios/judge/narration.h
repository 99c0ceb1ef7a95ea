// Describes a run of a scenario (a short script of API calls) in words, for readers who do not
// know the scenario.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "benchmarks/scenarios/judge/run_log.h"

namespace keydrome::scenarios {

// A call of a session (a client thread), as it was recorded. Calls are in the order of the times at
// which they returned.
struct ShownCall {
  uint32_t session = 0;
  history::Event event{};
  bool waited = false;  // true if a call of another session returned during this call
};
// Returns the calls of the steps, without the calls that set up the run or read everything at the
// end.
std::vector<ShownCall> shown_calls(const RunLog& log);

// Returns the records of an index, as the transaction at the end of the run read them.
std::vector<history::Event> final_records(const RunLog& log, uint32_t index);

// Returns one call with its result, such as "thread 0 get(1) -> a". Thread 0 makes the
// calls of session 1 of the script.
std::string call_text(const Scenario& scenario, const Variant& variant,
                      const Vocabulary& vocabulary, uint32_t session, const history::Event& event);
// Explains the labels in the text of narrate(): the key types of this run, and some real keys.
std::string legend(const Scenario& scenario, const Variant& variant, const Vocabulary& vocabulary);
// Returns a sentence, after a space, that gives the real values of the labels. Returns an empty
// text if the scenario gives all values.
std::string values_text(const Scenario& scenario, const Variant& variant,
                        const Vocabulary& vocabulary);

// Returns the possible results as text, such as "KEY_NOTFOUND or payload a".
std::string answers_text(const std::vector<Answer>& answers);

// Returns the whole run as text: a line with the initial records, a line for each step with its
// result, and a line with the records at the end.
std::string narrate(const Scenario& scenario, const Variant& variant, const Vocabulary& vocabulary,
                    const RunLog& log);

}  // namespace keydrome::scenarios

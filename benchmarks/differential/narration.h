// Describes a session (the API calls of one thread, with their results) for a finding: in words,
// and in the notation of the scenarios (benchmarks/scenarios/README.md).
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "benchmarks/differential/calls.h"
#include "checker/history/history.h"

namespace keydrome::differential {

inline constexpr std::size_t kLinesMax = 40;  // lines of calls that a finding shows

// Writes text about the calls of one session and their results.
class Narrator {
 public:
  // `history` is a recording of the calls of `session`, or unanswered(session), which has no
  // results. Both arguments must outlive the narrator.
  Narrator(const Case& session, const history::History& history);

  // Returns one call with its result, such as "getNext(A) -> key 5 with payload p1".
  std::string call(uint32_t position) const;

  // Returns all calls up to `last`, one line each. A long run of similar calls becomes one line.
  // The call `last` always has its own line. If there are more than kLinesMax lines, each begins
  // with the numbers of its calls.
  std::vector<std::string> lines(uint32_t last) const;

  // Says how long the keys are that the calls up to `last` show in part. Returns an empty text if
  // they show every key in full.
  std::string abbreviations(uint32_t last) const;

  // Returns the meaning of the names in the calls up to `last`: of payloads, and of an index's
  // further handles. Returns an empty text if there are no such names.
  std::string legend(uint32_t last) const;

  // Returns the calls up to `last` in the notation of the scenarios. For example, "T1: b i(1,p1)
  // g(1)=NF" is a begin, an insert, and a get that finds nothing. Long keys and strings have labels
  // such as k1, which are explained at the end. Returns an empty text if there are too many calls,
  // or none that the notation can express.
  std::string notation(uint32_t last) const;

 private:
  std::string handle(uint32_t position) const;
  std::string payload(uint64_t hash) const;
  std::string answer(const history::Event& event) const;
  std::string token(uint32_t position) const;
  std::string result_token(const history::Event& event) const;
  std::string label(const history::Event& event) const;
  bool alike(uint32_t a, uint32_t b) const;
  // Returns one line about the similar calls from `first` to before `end`.
  std::string run_text(uint32_t first, uint32_t end) const;

  const history::History& history_;
  const std::vector<history::Event>& events_;
  std::vector<std::string> handles_;  // names of the handles, by event
  // Numbers of the payloads that calls passed, by hash, in the order of the calls.
  std::unordered_map<uint64_t, std::size_t> payloads_;
  std::vector<std::vector<uint64_t>> keys_;  // by index: the keys used, in ascending order
};

}  // namespace keydrome::differential

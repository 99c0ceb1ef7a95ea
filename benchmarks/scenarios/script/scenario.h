// Scenario: a script of a few steps for one or more sessions (client threads), made to reveal one
// kind of error. Scenarios are parsed from data/*.json; README.md explains the notation.
//
// Keys and payloads are labels, whose values differ from run to run (vocabulary.h).
//
// Thread safety: plain data.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/kit/judge/finding.h"
#include "keydrome/index.h"

namespace keydrome::scenarios {

inline constexpr uint32_t kSessionsMax = 4;
inline constexpr uint32_t kIndexesMax = 3;

enum class Action : uint8_t {
  kBegin,
  kCommit,
  kAbort,
  kGet,
  kNext,
  kNextToEnd,
  kInsert,
  kDeletePair,
  kDeleteKey,
  kOpen,
  kClose,
};

// One correct result of a call. If key or payload is missing, every key or payload is correct.
struct Answer {
  uint32_t code = SUCCESS;
  std::optional<int64_t> key;
  std::optional<std::string> payload;
};

struct Step {
  uint32_t session = 0;
  Action action = Action::kBegin;
  uint32_t handle = 0;              // number in Scenario::handles
  bool auto_commit = false;         // true outside a transaction, or if marked with '!'
  bool continues = false;           // for a begin: the transaction continues after DEADLOCK
  std::optional<KeyType> key_type;  // for a bare call with a key of another type
  int64_t key = 0;
  std::string payload;
  std::vector<Answer> answers;  // correct results; if empty, the serial order decides
  std::string text;             // the notation of the step, without the answers
};

struct SetupRecord {
  uint32_t index = 0;
  int64_t key = 0;
  std::string payload;
};

// The name of an index handle. Each session that uses the name opens a handle of its own.
struct Handle {
  std::string name;    // "A", "B", "C", or "A2" for a second handle of A
  uint32_t index = 0;  // 0 for A, 1 for B, 2 for C
};

// A scenario of loops and many threads instead of steps (crowds/crowd.h).
struct Crowd {
  std::string kind;
  uint32_t threads = 0;
  uint32_t rounds = 0;
  uint32_t records = 0;
};

struct Scenario {
  std::string instance;  // instance of the benchmark
  std::string id;        // such as "S18"
  std::string title;     // such as "Write skew on two records"
  std::string about;     // explanation in words: what happens, and what must be true
  std::string finding;   // name of the finding if a library fails
  // If not empty, the scenario has no script. The text says where the scenario is tested instead,
  // or why it is not tested.
  std::string instead;
  Severity severity = Severity::kRequired;
  uint32_t sessions = 0;
  uint32_t indexes = 0;
  std::vector<Handle> handles;
  std::vector<SetupRecord> setup;
  std::vector<Step> steps;  // in the written order; empty for a crowd
  std::optional<Crowd> crowd;
  // The key types to test. If `literal_keys` is not empty, there is one type, and literal_keys
  // contains the values of the labels 0, 1, 2, ...
  std::vector<KeyType> types;
  std::vector<std::string> literal_keys;
  std::map<std::string, std::string> literal_payloads;
  // True if runs may have other records below and above the scenario's own. False if the scenario
  // depends on the first or last record or on an empty index.
  bool filler = true;
  // True if the results are compared with serial orders. Otherwise they are compared only with
  // `answers`.
  bool oracle = true;
  // True if the session makes every call exactly as written, even if the API forbids the call
  // (bare_run.h).
  bool bare = false;
  // True if the unused bytes of arguments contain garbage.
  bool garbage = false;
};

}  // namespace keydrome::scenarios

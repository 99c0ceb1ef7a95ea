// Scenario: a few sessions that step by step do what breaks a weak index, as data (data/*.json,
// README.md has the notation).
//
// Keys and payloads are labels here; what they stand for differs from run to run (run_script.h).
//
// Thread safety: plain data.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/kit/finding.h"
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

// One answer that is right. Without a key or payload, any one is.
struct Answer {
  uint32_t code = SUCCESS;
  std::optional<int64_t> key;
  std::optional<std::string> payload;
};

struct Step {
  uint32_t session = 0;
  Action action = Action::kBegin;
  uint32_t handle = 0;              // number in Scenario::handles
  bool auto_commit = false;         // outside a transaction, or with '!' inside one
  bool goes_on = false;             // a begin: the transaction goes on after DEADLOCK
  std::optional<KeyType> key_type;  // of a bare call, when it is not the index's
  int64_t key = 0;
  std::string payload;
  std::vector<Answer> answers;  // empty: whatever the serial order allows
  std::string text;             // as written, without the answers
};

struct SetupRecord {
  uint32_t index = 0;
  int64_t key = 0;
  std::string payload;
};

// A way to the data: one open handle for each session that uses it.
struct Handle {
  std::string name;    // "A", "B", "C", or "A2": a second handle of A
  uint32_t index = 0;  // 0 for A, 1 for B, 2 for C
};

// A scenario of loops and many threads instead of steps (crowd.h).
struct Crowd {
  std::string kind;
  uint32_t threads = 0;
  uint32_t rounds = 0;
  uint32_t records = 0;
};

struct Scenario {
  std::string instance;  // of the benchmark
  std::string id;        // "S18"
  std::string title;     // "Write skew on two records"
  std::string about;     // what is tried and why it must not work, for a newcomer
  std::string finding;   // how a library is accused that fails it
  // Where else it is judged or why nowhere; then it has no steps.
  std::string instead;
  Severity severity = Severity::kRequired;
  uint32_t sessions = 0;
  uint32_t indexes = 0;
  std::vector<Handle> handles;
  std::vector<SetupRecord> setup;
  std::vector<Step> steps;  // in the written order; none when there is a crowd
  std::optional<Crowd> crowd;
  // Key types in which it makes sense; all of them unless `literal_keys` says what the labels 0, 1,
  // 2... stand for.
  std::vector<KeyType> types;
  std::vector<std::string> literal_keys;
  std::map<std::string, std::string> literal_payloads;
  // Whether other records may stand below and above its own: not where the first or the last record
  // or an empty index is what it is about.
  bool filler = true;
  // Whether the outcome is compared with serial orders; otherwise only with the answers written
  // down.
  bool oracle = true;
  // The session makes every call just as it is written, be it fair or not (bare_run.h).
  bool bare = false;
  // Its calls hold garbage wherever the library need not read.
  bool garbage = false;
};

}  // namespace keydrome::scenarios

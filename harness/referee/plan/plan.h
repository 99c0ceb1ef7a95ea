// The plan of one session (one repetition of a benchmark with one library): which library, which
// benchmark and which limits. The parser reads it from JSON (harness/schema/plan.v1.schema.json),
// and rejects unknown fields.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "keydrome/index.h"

namespace keydrome {

struct LibraryPlan {
  // Path on the host. Usually a library of contract A (the ten index calls). If `structure` is set:
  // the runtime, a library that adds transactions to a data structure.
  std::string path;
  // Path on the host of a data structure of contract B; empty if `path` is a complete library.
  std::string structure;
  std::optional<Json> configuration;  // a JSON object
};

struct JailPlan {
  std::string path;              // of the jail program
  uint32_t slot = 0;             // number that gives the jail its own user and cgroups
  std::string require = "full";  // the weakest isolation that the plan accepts: full, weak or none
  std::string cpus;              // such as 0-1,4; empty: all CPUs
  std::optional<uint64_t> memory_bytes;
  std::optional<uint64_t> tmpfs_bytes;  // size of the jail's only writable file system
  std::optional<uint64_t> processes;    // threads and processes in the jail
  std::optional<uint64_t> cpu_seconds;
  bool counters = false;  // read performance counters of CPU and kernel; slows the library a little
};

// The largest value that the jail (sandbox) accepts for --wall-ms: 7 days.
inline constexpr int64_t kJailWallMsMax = int64_t{7} * 86'400 * 1000;
// The largest value that the jail accepts for --cpu-seconds: 7 days on 1024 CPUs.
inline constexpr uint64_t kJailCpuSecondsMax = uint64_t{7} * 86'400 * 1024;

struct LimitsPlan {
  uint64_t load_timeout_ms = 10000;
  uint64_t phase_timeout_ms = 0;
  // Limit of the whole session; absent: the limit in the manifest, the benchmark's description. In
  // verified mode neither limit applies.
  std::optional<uint64_t> session_timeout_ms;
  // Limit of the stored output; it applies to standard output and to standard error separately.
  uint64_t output_bytes = 65536;
};

struct Plan {
  std::string benchmark;
  uint32_t benchmark_version = 0;
  std::string instance;  // name of a set of parameter values of the benchmark
  std::string scale;
  std::map<std::string, int64_t> parameters;  // replace the values of the instance
  std::string seed;                           // 16 hexadecimal digits
  bool plain = false;                         // omit the operations that are there only as checks
  bool record = false;                        // log every call and check the history of calls
  // Verified mode: the driver, a process outside the jail, plays the operations.
  bool verified = false;
  std::string keys;   // path on the host of a file whose keys replace the benchmark's; empty: none
  std::string trace;  // path on the host of a recorded trace (a user's calls) to play; empty: none
  LibraryPlan library;
  std::string player;
  std::string driver;  // path of the driver; only in verified mode
  JailPlan jail;
  LimitsPlan limits;

  uint64_t seed_number() const;
};

// Checks field names, types and ranges. An error names the field and its allowed values.
// session/prepare.h checks later that the benchmark and the files exist.
Result<Plan> parse_plan(const Json& json);

// Inverse of parse_plan(). Also writes optional fields that have a default value.
Json to_json(const Plan& plan);

// Returns the argument of keydrome_configure in the jail. If the text is empty, keydrome_configure
// is not called. For a structure, the text is the runtime's configuration. It also contains
// `threads` (the largest number of threads that call at the same time) and the types of the
// indexes' keys. The order of the types does not matter, and neither do duplicates.
std::string configuration_text(const LibraryPlan& library, uint32_t threads,
                               const std::vector<KeyType>& key_types);

}  // namespace keydrome

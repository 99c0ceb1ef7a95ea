// The plan: what the referee is asked to do (schema/plan.v1.schema.json), parsed strictly.
//
// Thread safety: plain data.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/json.h"
#include "base/result.h"

namespace keydrome {

struct LibraryPlan {
  std::string path;                   // contract A library on the host
  std::string structure;              // contract B structure for the runtime; empty: none
  std::optional<Json> configuration;  // an object
};

struct JailPlan {
  std::string path;
  uint32_t slot = 0;
  std::string require = "full";  // full, weak or none
  std::string cpus;              // cpuset list; empty: all
  std::optional<uint64_t> memory_bytes;
  std::optional<uint64_t> tmpfs_bytes;
  std::optional<uint64_t> processes;
  std::optional<uint64_t> cpu_seconds;
  bool counters = false;  // have the processor and the kernel count; costs a little
};

// The most that the jail takes for --wall-ms: 7 days.
inline constexpr int64_t kJailWallMsMax = int64_t{7} * 86'400 * 1000;
// The same for --cpu-seconds: on 1024 processors.
inline constexpr uint64_t kJailCpuSecondsMax = uint64_t{7} * 86'400 * 1024;

struct LimitsPlan {
  uint64_t load_timeout_ms = 10000;
  uint64_t phase_timeout_ms = 0;
  uint64_t output_bytes = 65536;  // kept of stdout and of stderr each, head and tail
};

struct Plan {
  std::string benchmark;
  uint32_t benchmark_version = 0;
  std::string instance;
  std::string scale;
  std::map<std::string, int64_t> parameters;  // overrides
  std::string seed;                           // 16 hexadecimal digits
  bool plain = false;
  bool record = false;
  bool verified = false;  // the driver plays, outside of the library's process
  LibraryPlan library;
  std::string player;
  std::string driver;  // of verified mode; else empty
  JailPlan jail;
  LimitsPlan limits;

  uint64_t seed_number() const;
};

// Checks types, ranges and field names; whether the benchmark and the files exist is checked later.
// The error names the field and what it must be.
Result<Plan> parse_plan(const Json& json);

// The inverse; optional fields that have their default are written out.
Json to_json(const Plan& plan);

// What keydrome_configure is called with inside the jail; empty: not at all. A structure's runtime
// is told how many threads will call at once.
std::string configuration_text(const LibraryPlan& library, uint32_t threads);

}  // namespace keydrome

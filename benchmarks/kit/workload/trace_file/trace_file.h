// TraceFile: a recorded trace. It contains the calls of a user's own program, and the benchmark
// "trace" plays these calls.
//
// The format is text with one call in each line (docs/reference/trace-files.md):
//
//   keydrome trace 1
//   index users varchar
//   load users alice A%20text
//   0 begin
//   0 get users alice
//   0 commit
//   1 insert users bob
//
// The content is untrusted. Every file gives a TraceFile or an error with line and column. Only the
// referee, the program that runs a session, and its command `trace` read such files, outside timed
// phases. Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "benchmarks/kit/format/program.h"
#include "benchmarks/kit/script/strings.h"
#include "keydrome/index.h"

namespace keydrome::workload {

inline constexpr uint64_t kTraceIndexesMax = format::kSlots;  // a thread keeps all of them open
inline constexpr uint64_t kTraceNameBytesMax = 15;
inline constexpr uint64_t kTraceLineBytesMax = 1'024;
inline constexpr uint64_t kTraceLinesMax = 1'000'000'000;
inline constexpr uint64_t kTraceNextMax = 1'000'000;             // calls of getNext in one line
inline constexpr uint64_t kTraceTransactionMax = 100'000;        // lines of one transaction
inline constexpr uint64_t kTraceStringBytesMax = 4'000'000'000;  // of all different strings

// One line of a trace.
struct TraceCall {
  enum class What : uint8_t {
    kBegin,
    kCommit,
    kAbort,
    kGet,
    kNext,
    kInsert,
    kDeleteKey,  // deletes all payloads of the key
    kDeletePair,
  };
  What what = What::kGet;
  uint8_t index = 0;
  uint32_t key = 0;   // number of the key among those of its type; kNext: number of calls
  uint32_t pair = 0;  // kInsert, kDeletePair: number of the pair
};
static_assert(sizeof(TraceCall) == 12);

// A pair of key and payload in an index. Each load or insert line without a payload inserts a pair
// of its own.
struct TracePair {
  static constexpr uint32_t kNoText = UINT32_MAX;
  uint32_t index = 0, key = 0;
  uint32_t text = kNoText;  // number of the payload
  uint32_t inserts = 0;     // number of lines that insert it
};

// What a trace contains, for estimates and for people.
struct TraceCounts {
  uint64_t transactions = 0;                    // lines with begin
  uint64_t single_calls = 0;                    // outside of transactions
  uint64_t lines = 0;                           // between begin and end of transactions
  uint64_t next_calls = 0;                      // calls of all lines with next
  uint64_t gets = 0, inserts = 0, deletes = 0;  // without the loaded records
  uint64_t stored_keys = 0;                     // different keys in lines with load or insert
  uint64_t record_bytes = 0;                    // bytes of keys and payloads of all pairs
  uint64_t longest_bytes = 0;                   // of the longest record
};

struct TraceFile {
  struct Index {
    std::string name;
    KeyType type = INT;
  };
  std::vector<Index> indexes;
  // The different keys, by type. Their numbers count from 0, in order of appearance.
  std::vector<int32_t> int32_keys;
  std::vector<int64_t> int64_keys;
  script::Strings varchar_keys;
  script::Strings payloads;  // the different payloads
  std::vector<TracePair> pairs;
  std::vector<TraceCall> load;                  // inserts before the clock starts
  std::vector<std::vector<TraceCall>> threads;  // the timed calls
  TraceCounts counts;

  uint64_t keys() const { return int32_keys.size() + int64_keys.size() + varchar_keys.size(); }
  uint32_t keys_of(KeyType type) const;
  // Returns the memory of the trace.
  uint64_t bytes() const;
};

// Returns the name that a key type has in traces.
std::string_view trace_type_name(KeyType type);

// Returns an upper bound on the memory that read_trace_file() needs. Computes it from the size of
// the file. Returns an error if the path is not a regular file that can be read.
Result<uint64_t> trace_file_bytes(const std::string& path);

// Reads and checks a file. Stops at the first fault.
Result<TraceFile> read_trace_file(const std::string& path);

// Parses and checks the text of a trace. `name` stands for the path in errors.
Result<TraceFile> parse_trace(const std::string& name, std::string_view text);

}  // namespace keydrome::workload

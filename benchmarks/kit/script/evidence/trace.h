// Evidence: the whole results of single calls. The player, the process that calls the library,
// writes them into a trace, a list of the results of one thread. This file copies and reads traces.
//
// The scan that reads all records at the end has millions of results. Nearly all of them are
// records exactly as the script inserts them. The referee, which judges the results, keeps such a
// record as three numbers (12 bytes), from which EvidenceReader makes the same evidence again. The
// referee keeps all other results as the player wrote them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory_resource>
#include <span>
#include <string_view>
#include <vector>

#include "benchmarks/kit/script/script.h"

namespace keydrome::script {

// A record that the script inserts: the numbers of key and text in their pools, and the tag, the
// unique number at the beginning of the payload.
struct InsertedRecord {
  uint32_t key, text, tag;
};

// One record of evidence: the result of a single call. The strings refer to the bytes of the
// ThreadResult, or to those of an EvidenceReader.
struct Evidence {
  uint64_t op;               // number of the op (operation) in the thread's program
  uint64_t repetition;       // pass of the kRepeat body << 32 | number of the getNext
  uint32_t code;             // the result code
  std::string_view key;      // 4 or 8 bytes of an integer, or the string
  std::string_view payload;  // the tag in letters, then the text
  // If not null, key and payload are those of this record, in an index of this type.
  const InsertedRecord* inserted = nullptr;
  KeyType inserted_type = SHORT;
};

// Iterates over results in the form that the player writes (format::TraceRecord). Not thread-safe.
class TraceReader {
 public:
  explicit TraceReader(std::span<const std::byte> trace) : rest_(trace) {}
  // Reads the next record. Returns false at the end of the trace. Also returns false if the
  // remaining bytes are no valid record. damaged() is then true.
  bool next(Evidence& out);
  bool damaged() const { return damaged_; }
  // Return the bytes of the last record, and those after it.
  std::span<const std::byte> last() const { return last_; }
  std::span<const std::byte> rest() const { return rest_; }

 private:
  std::span<const std::byte> rest_, last_;
  bool damaged_ = false;
};

// The results of one thread. Refers to the pools of the script, which must outlive it. Thread
// safety: plain data.
struct Trace {
  // Records of consecutive getNext calls of one op. `repetition` is that of the first record.
  struct Run {
    std::size_t bytes_before = 0;  // the run comes after this many bytes of `bytes`
    uint64_t op = 0, repetition = 0;
    uint64_t count = 0;
    KeyType type = SHORT;
  };

  std::vector<std::byte> bytes;         // for TraceReader: all results that are not in a run
  std::deque<InsertedRecord> inserted;  // of all runs; a vector would be copied when it grows
  std::vector<Run> runs;
  const Pools* pools = nullptr;  // never null if there are runs
};

// Iterates over all results of a thread, in the order of its calls. Not thread-safe.
class EvidenceReader {
 public:
  explicit EvidenceReader(const Trace& trace)
      : trace_(trace), bytes_(trace.bytes), record_(trace.inserted.begin()) {}
  // Works like TraceReader::next(). The strings of `out` are valid until release().
  bool next(Evidence& out);
  // Works like next(), but leaves the strings empty if it sets `inserted`. Takes a quarter of the
  // time of next().
  bool next_number(Evidence& out);
  bool damaged() const { return bytes_.damaged(); }
  void release() { strings_.release(); }

 private:
  void make_strings(Evidence& out);

  const Trace& trace_;
  TraceReader bytes_;
  std::size_t run_ = 0;                                // position in the runs
  std::deque<InsertedRecord>::const_iterator record_;  // the next record of the runs
  uint64_t in_run_ = 0;                                // records of this run that have been read
  std::array<std::byte, 512> first_strings_{};
  std::pmr::monotonic_buffer_resource strings_{first_strings_.data(), first_strings_.size()};
};

// Looks up the inserts of a script by their tags. Thread safety: immutable after construction.
class InsertedRecords {
 public:
  explicit InsertedRecords(const Script& script);

  // Returns true if the script inserts a record with this key and payload, and sets `out`.
  bool find(const Pools& pools, KeyType type, std::string_view key, std::string_view payload,
            InsertedRecord& out) const;

  // Prefetches what find() reads for a payload. The caller must call prefetch() with each step from
  // 0 to kPrefetchSteps - 1, with some time in between. Any payload is allowed.
  static constexpr uint32_t kPrefetchSteps = 3;
  void prefetch(const Pools& pools, KeyType type, std::string_view payload, uint32_t step) const;

 private:
  struct Entry {
    uint32_t key = UINT32_MAX, text = 0;  // of the first insert with the tag
  };
  std::vector<Entry> entries_;  // by tag
};

// Copies those results of a trace that the script asks for (kEvidence, kEvidenceAll), and those of
// bare calls, which test how the library handles calls that may be illegal. Other processes may
// change `shared` meanwhile, so each byte is read once. `ops` is the thread's program. If
// `inserted` is not null, records of a scan to the end that the script inserts are kept as numbers
// (Trace::Run).
Trace copy_trace(std::span<const std::byte> shared, std::span<const format::Op> ops,
                 const Script& script, const InsertedRecords* inserted);

}  // namespace keydrome::script

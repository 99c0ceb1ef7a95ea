// Script: everything that one session of a benchmark does, sorted by phase and thread.
//
// A workload writes the script with a ScriptBuilder. This happens in the referee, the process that
// judges a session. For the player, the process that calls the library, the referee turns the
// script into an image and pieces. The image is the data that all phases share (images.h), and the
// pieces are the parts of the threads' programs (piece_writer.h). The judges compare the player's
// results with the script. The script itself never enters the jail, the sandbox in which the player
// runs.
//
// Thread safety: plain data.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "benchmarks/kit/format/procedure.h"
#include "benchmarks/kit/format/program.h"
#include "benchmarks/kit/script/strings.h"
#include "keydrome/index.h"

namespace keydrome::script {

// One index that the script creates or opens.
struct IndexSpec {
  std::string name;
  KeyType type;
};

// The keys with the numbers first <= number < end in a pool, the script's list of keys of one type.
struct KeyRange {
  uint32_t first = 0, end = 0;
};

// The keys and payload texts of a script. The ops (operations) refer to them by number.
struct Pools {
  std::vector<int32_t> int32_keys;
  std::vector<int64_t> int64_keys;
  Strings varchar_keys;
  Strings payloads = {""};  // the text of a payload after its tag; text 0 is the empty text
  std::vector<format::ProcedureEntry> procedures;
  std::vector<format::Instruction> instructions;  // of all procedures
  std::vector<int64_t> parameters;                // of all kRun ops
  // Numbers of the varchar keys that procedures (lists of instructions) compute from records, in
  // ascending order. The player receives these keys before the first phase, and every other key
  // with the op that uses it.
  std::vector<uint32_t> computed_keys;
  // By KeyType: keys that no procedure uses, so that only ops change the records under these keys.
  std::array<KeyRange, 3> kept_keys;

  bool is_kept(KeyType type, uint32_t number) const {
    return number >= kept_keys[type].first && number < kept_keys[type].end;
  }
};

// What a workload with scheduled times wants to know about the commits of a phase. Its ops kArrive
// and kUntil let transactions start, and the program end, at given times.
struct Schedule {
  // The scheduled end in ns after GO, the start of the phase: transactions that commit later are
  // late (ThreadTotals::late). By default no transaction is late.
  uint64_t end_ns = UINT64_MAX;
  // If not 0: the commits before the scheduled end are counted in windows of exactly this width
  // (ThreadTotals::scheduled).
  uint64_t window_ns = 0;
};

// One phase of a script: create, populate, test or verify, for example.
struct PhaseScript {
  std::string name;
  bool timed = false;     // true: its time is part of the result
  bool verifies = false;  // true: it is the final scan of all records
  bool pinned = false;    // true: each thread stays on one CPU
  Schedule schedule;
  std::vector<std::vector<format::Op>> threads;  // one program per thread
  std::vector<uint64_t> trace_capacity_bytes;    // by thread: room for the whole results it reports
  // For each thread, how many calls its log can hold. Empty if the phase is not recorded.
  std::vector<uint64_t> log_capacity;
};

// Returns how messages name a phase. The quotation marks separate a name of several words, such as
// "round 3 transfer", from the rest of the sentence.
inline std::string phase_text(const PhaseScript& phase) { return "phase \"" + phase.name + '"'; }

// Returns true if the threads of the phase may end before their last op (format::OpCode::kUntil).
inline bool ends_by_clock(const PhaseScript& phase) {
  return !phase.threads.empty() && !phase.threads[0].empty() &&
         phase.threads[0][0].code == format::OpCode::kUntil;
}

// The whole script. Equal parameters and seeds give equal scripts on every machine.
struct Script {
  std::vector<IndexSpec> indexes;
  Pools pools;
  std::vector<PhaseScript> phases;
  std::vector<std::string> class_names;  // names of the transaction classes, e.g. scan, get, update
  uint32_t hidden_bits = 0;  // the bits of a key that a get with kHidden hides (keys/hidden_keys.h)
};

}  // namespace keydrome::script

// EvidenceWriter: collects the evidence of one thread for the judge. Evidence consists of records,
// each with the whole result of one call. The trace is the memory for these records. A thread
// without a trace leaves only one word of 8 bytes per result. A thread with a trace writes every
// result to it, because the player, the process that calls the library, does not know which results
// are judged.
//
// Never allocates. Not thread-safe; each thread has its own object.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "benchmarks/kit/format/outcome.h"
#include "benchmarks/kit/format/program.h"
#include "benchmarks/kit/player/trace_writer.h"

namespace keydrome::player {

// The op (operation of the program) that the evidence belongs to.
struct OpPosition {
  const format::Op& op;
  uint64_t number;  // in the thread's program
  uint32_t round;   // repetition of the kRepeat body
};

class EvidenceWriter {
 public:
  explicit EvidenceWriter(std::span<std::byte> trace) : trace_(trace), enabled_(!trace.empty()) {}

  // Returns true if the thread has a trace.
  bool enabled() const { return enabled_; }
  // position() returns the current end of the evidence. rewind() removes all evidence after a
  // position, because a retry discards the evidence of the failed attempt.
  uint64_t position() const { return trace_.position(); }
  void rewind(uint64_t position) { trace_.rewind(position); }

  // Writes the code of a call that reads no record.
  void write_code(const OpPosition& at, uint32_t code) {
    if (enabled_) trace_.append(at.number, repetition(at, 0), code, {}, {});
  }

  // Writes the result of a read. `call` is 0 for a get. For a scan, it is the number of the getNext
  // call, counted from 0.
  void write_read(const OpPosition& at, uint32_t call, uint32_t code, std::string_view key,
                  std::string_view payload) {
    if (enabled_) trace_.append(at.number, repetition(at, call), code, key, payload);
  }

  // Writes the result of a bare call, which the program makes exactly as written. `type` is the
  // key's type as the library left it.
  void write_bare(const OpPosition& at, uint32_t type, uint32_t code, std::string_view key,
                  std::string_view payload) {
    trace_.append(at.number, type, code, key, payload);
  }

  void finish(format::ThreadOutcome& outcome) {
    outcome.trace_bytes = trace_.position();
    outcome.trace_dropped = trace_.dropped();
  }

 private:
  static uint64_t repetition(const OpPosition& at, uint32_t call) {
    return uint64_t{at.round} << 32 | call;
  }

  TraceWriter trace_;
  bool enabled_;
};

}  // namespace keydrome::player

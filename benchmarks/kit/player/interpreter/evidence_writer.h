// EvidenceWriter: collects the evidence of one thread for the judge. Evidence consists of trace
// records, each with the result of one call, and of digests, which are hashes of many results.
//
// Never allocates. Not thread-safe; each thread has its own object.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "benchmarks/kit/format/digest.h"
#include "benchmarks/kit/format/outcome.h"
#include "benchmarks/kit/format/program.h"
#include "benchmarks/kit/player/trace_writer.h"

namespace keydrome::player {

// The op that the evidence belongs to.
struct OpPosition {
  const format::Op& op;
  uint64_t number;  // in the thread's program
  uint32_t round;   // repetition of the kRepeat body
};

class EvidenceWriter {
 public:
  explicit EvidenceWriter(std::span<std::byte> trace) : trace_(trace) {}

  // A point in the evidence. position() returns the current end. rewind() removes all evidence
  // after a position, because a retry discards the evidence of the failed attempt.
  struct Position {
    uint64_t trace = 0;
    format::Digest segment;
  };
  Position position() const { return {.trace = trace_.position(), .segment = segment_}; }
  void rewind(const Position& position) {
    trace_.rewind(position.trace);
    segment_ = position.segment;
  }

  // Writes the code of a call that reads no record.
  void write_code(const OpPosition& at, uint32_t code) {
    if ((at.op.flags & format::kDigest) != 0)
      segment_.start_group(format::digest_item(code, {}, {}));
    if ((at.op.flags & (format::kEvidence | format::kEvidenceAll)) != 0) {
      trace_.append(at.number, repetition(at, 0), code, {}, {});
    }
  }

  // Writes the result of a read. `call` is 0 for a get. For a scan, it is the number of the getNext
  // call, counted from 0.
  void write_read(const OpPosition& at, uint32_t call, uint32_t code, std::string_view key,
                  std::string_view payload) {
    const format::OpCode op = at.op.code;
    if ((at.op.flags & format::kDigest) != 0) {
      const uint64_t item = format::digest_item(code, key, payload);
      op == format::OpCode::kGet ? segment_.start_group(item) : segment_.add(item);
    }
    const bool last = op == format::OpCode::kGet ||
                      (op == format::OpCode::kNext && call + 1 == at.op.argument) ||
                      (op == format::OpCode::kNextToEnd && code != SUCCESS);
    if ((at.op.flags & format::kEvidenceAll) != 0 ||
        ((at.op.flags & format::kEvidence) != 0 && last)) {
      trace_.append(at.number, repetition(at, call), code, key, payload);
    }
  }

  // Writes the result of a procedure.
  void write_number(const OpPosition& at, int64_t number) {
    if ((at.op.flags & format::kEvidence) == 0) return;
    trace_.append(at.number, repetition(at, 0), SUCCESS, {},
                  {reinterpret_cast<const char*>(&number), sizeof number});
  }

  // Writes the result of a bare call. `type` is the key's type as the library left it.
  void write_bare(const OpPosition& at, uint32_t type, uint32_t code, std::string_view key,
                  std::string_view payload) {
    trace_.append(at.number, type, code, key, payload);
  }

  // Writes the digest of all reads since the last kMark to the trace and starts a new digest.
  void mark(const OpPosition& at) {
    trace_.append(at.number, segment_.value(), SUCCESS, {}, {});
    segment_ = format::Digest();
  }

  // Adds the digest of all reads since the last kMark or end_transaction() to the thread's digest.
  void end_transaction() {
    if (segment_.empty()) [[likely]]
      return;
    total_.chain(segment_.value());
    segment_ = format::Digest();
  }

  void finish(format::ThreadOutcome& outcome) {
    end_transaction();
    outcome.digest = total_.value();
    outcome.trace_bytes = trace_.position();
    outcome.trace_dropped = trace_.dropped();
  }

 private:
  static uint64_t repetition(const OpPosition& at, uint32_t call) {
    return uint64_t{at.round} << 32 | call;
  }

  TraceWriter trace_;
  format::Digest total_, segment_;
};

}  // namespace keydrome::player

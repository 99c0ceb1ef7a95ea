// TraceWriter: appends records of evidence to a thread's part of the outcome memfd, the memory in
// which a run leaves its results. Evidence is the result of single calls, which the judge checks
// after the run (format/outcome.h).
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "benchmarks/kit/format/outcome.h"

namespace keydrome::player {

// Records that do not fit are dropped and counted. Never allocates. Not thread-safe.
class TraceWriter {
 public:
  explicit TraceWriter(std::span<std::byte> trace) : trace_(trace) {}

  // position() returns the current end of the trace. rewind() removes everything after a position,
  // because the evidence of a transaction is discarded when the transaction is retried.
  uint64_t position() const { return used_; }
  void rewind(uint64_t position) { used_ = position; }
  uint64_t dropped() const { return dropped_; }

  void append(uint64_t op, uint64_t repetition, uint32_t code, std::string_view key,
              std::string_view payload) {
    const uint64_t bytes = format::trace_record_bytes(key.size(), payload.size());
    if (bytes > trace_.size() - used_) {
      ++dropped_;
      return;
    }
    const format::TraceRecord record{.op = op,
                                     .repetition = repetition,
                                     .code = code,
                                     .key_bytes = static_cast<uint16_t>(key.size()),
                                     .payload_bytes = static_cast<uint16_t>(payload.size())};
    std::byte* at = trace_.data() + used_;
    std::memcpy(at, &record, sizeof record);
    if (!key.empty()) std::memcpy(at + sizeof record, key.data(), key.size());
    if (!payload.empty())
      std::memcpy(at + sizeof record + key.size(), payload.data(), payload.size());
    used_ += bytes;
  }

 private:
  std::span<std::byte> trace_;
  uint64_t used_ = 0;
  uint64_t dropped_ = 0;
};

}  // namespace keydrome::player

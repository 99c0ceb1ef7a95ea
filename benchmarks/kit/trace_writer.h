// TraceWriter: appends evidence to a thread's part of the outcome memfd.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "benchmarks/kit/outcome.h"

namespace keydrome {

// The bytes that a trace record with that key and payload takes.
constexpr uint64_t trace_record_bytes(uint64_t key_bytes, uint64_t payload_bytes) {
  return (sizeof(TraceRecord) + key_bytes + payload_bytes + 7) / 8 * 8;
}

// Not thread-safe; never allocates. What does not fit is counted and left out.
class TraceWriter {
 public:
  explicit TraceWriter(std::span<std::byte> trace) : trace_(trace) {}

  // The position, to come back to when a transaction is run again.
  uint64_t position() const { return used_; }
  void rewind(uint64_t position) { used_ = position; }
  uint64_t dropped() const { return dropped_; }

  void append(uint64_t op, uint64_t repetition, uint32_t code, std::string_view key,
              std::string_view payload) {
    const uint64_t bytes = trace_record_bytes(key.size(), payload.size());
    if (bytes > trace_.size() - used_) {
      ++dropped_;
      return;
    }
    const TraceRecord record{.op = op,
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

}  // namespace keydrome

// PoolsView: the player's view of the pools image (program.h): index names, keys and payload texts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"
#include "benchmarks/kit/program.h"

namespace keydrome {

// Strings of a pool, borrowed from the image.
class StringPool {
 public:
  StringPool() = default;
  StringPool(const uint32_t* offsets, const char* bytes, uint64_t count)
      : offsets_(offsets), bytes_(bytes), count_(count) {}
  std::string_view operator[](uint32_t i) const {
    return {bytes_ + offsets_[i], offsets_[i + 1] - offsets_[i]};
  }
  uint64_t size() const { return count_; }

 private:
  const uint32_t* offsets_ = nullptr;
  const char* bytes_ = nullptr;
  uint64_t count_ = 0;
};

// Borrows the image, which must stay mapped. Read-only, so any thread may use it.
struct PoolsView {
  std::span<const IndexEntry> indexes;
  std::span<const int32_t> int32_keys;
  std::span<const int64_t> int64_keys;
  StringPool varchar_keys;
  StringPool payloads;
  std::span<const ProcedureEntry> procedures;
  std::span<const Instruction> instructions;
  std::span<const int64_t> parameters;

  // Checks version, offsets and string lengths, so that a truncated image is an error and not a
  // crash.
  static Result<PoolsView> open(std::span<const std::byte> image);
};

}  // namespace keydrome

// PoolsView: gives the player read access to the pools image (format/program.h). The pools image
// contains index names, keys, payload texts and procedures. The referee writes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"
#include "benchmarks/kit/format/program.h"

namespace keydrome::player {

// A pool of strings. It refers to the bytes of the image and copies nothing.
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

// Refers to the image, which must stay mapped as long as the view is used. Thread safety:
// read-only.
struct PoolsView {
  std::span<const format::IndexEntry> indexes;
  std::span<const int32_t> int32_keys;
  std::span<const int64_t> int64_keys;
  StringPool varchar_keys;
  StringPool payloads;
  std::span<const format::ProcedureEntry> procedures;
  std::span<const format::Instruction> instructions;
  std::span<const int64_t> parameters;

  // Checks version, offsets and lengths of the image. So a damaged image gives an error instead of
  // a crash.
  static Result<PoolsView> open(std::span<const std::byte> image);
};

}  // namespace keydrome::player

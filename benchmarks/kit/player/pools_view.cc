// Implements PoolsView::open(): checks every offset, count and length of the pools image before the
// player uses it.
#include "benchmarks/kit/player/pools_view.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "benchmarks/kit/player/arguments.h"
#include "keydrome/index.h"

namespace keydrome::player {
namespace {

Error damaged() {
  return Error{"the pools image is damaged: one of its offsets, counts or lengths is out of range"};
}

template <typename T>
bool view_array(std::span<const std::byte> image, uint64_t offset, uint64_t count,
                std::span<const T>& out) {
  if (offset % alignof(T) != 0 || offset > image.size()) return false;
  if (count > (image.size() - offset) / sizeof(T)) return false;
  out = {reinterpret_cast<const T*>(image.data() + offset), count};
  return true;
}

bool view_strings(std::span<const std::byte> image, uint64_t offset, uint64_t count,
                  uint32_t length_max, StringPool& out) {
  std::span<const uint32_t> offsets;
  if (count >= UINT32_MAX || !view_array(image, offset, count + 1, offsets)) return false;
  const uint64_t bytes_offset = offset + offsets.size_bytes();
  if (offsets[0] != 0 ||
      uint64_t{offsets[count]} + format::kReadAhead > image.size() - bytes_offset)
    return false;
  for (uint64_t i = 0; i < count; ++i) {
    if (offsets[i + 1] < offsets[i] || offsets[i + 1] - offsets[i] > length_max) return false;
  }
  out =
      StringPool(offsets.data(), reinterpret_cast<const char*>(image.data() + bytes_offset), count);
  return true;
}

bool view_procedures(std::span<const std::byte> image, const format::PoolsHeader& header,
                     PoolsView& view) {
  const auto is_within = [&](const format::ProcedureEntry& entry) {
    return entry.count > 0 && uint64_t{entry.first} + entry.count <= view.instructions.size() &&
           view.instructions[entry.first + entry.count - 1].code == format::InstructionCode::kEnd;
  };
  return view_array(image, header.procedure_offset, header.procedure_count, view.procedures) &&
         view_array(image, header.instruction_offset, header.instruction_count,
                    view.instructions) &&
         view_array(image, header.parameter_offset, header.parameter_count, view.parameters) &&
         std::all_of(view.procedures.begin(), view.procedures.end(), is_within);
}

}  // namespace

Result<PoolsView> PoolsView::open(std::span<const std::byte> image) {
  format::PoolsHeader header{};
  if (image.size() < sizeof(header)) return damaged();
  std::memcpy(&header, image.data(), sizeof(header));
  if (header.version != format::kProgramVersion)
    return Error{
        "referee and player come from different versions of Keydrome: the pools image has "
        "version " +
        std::to_string(header.version) + ", but this player reads version " +
        std::to_string(format::kProgramVersion)};
  PoolsView view;
  const bool fits = view_array(image, header.index_offset, header.index_count, view.indexes) &&
                    view_array(image, header.int32_offset, header.int32_count, view.int32_keys) &&
                    view_array(image, header.int64_offset, header.int64_count, view.int64_keys) &&
                    view_strings(image, header.varchar_offset, header.varchar_count,
                                 MAX_VARCHAR_LEN, view.varchar_keys) &&
                    view_strings(image, header.payload_offset, header.payload_count,
                                 MAX_PAYLOAD_LEN - format::kTagBytes, view.payloads) &&
                    view_procedures(image, header, view);
  if (!fits) return damaged();
  for (const format::IndexEntry& entry : view.indexes) {
    if (std::memchr(entry.name, 0, sizeof entry.name) == nullptr) return damaged();
  }
  return view;
}

}  // namespace keydrome::player

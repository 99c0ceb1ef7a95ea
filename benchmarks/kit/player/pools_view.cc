// Implements PoolsView::open() and PieceView::open(). They check the offsets and counts of an
// image, the memory in which the player, the process that calls the library, receives keys, texts
// and operations. The checks come before the player uses the image.
#include "benchmarks/kit/player/pools_view.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/keydrome_error.h"
#include "benchmarks/kit/format/piece.h"
#include "benchmarks/kit/player/arguments.h"
#include "keydrome/index.h"

namespace keydrome::player {
namespace {

std::string damaged(const std::string& what) {
  return what + ", as received from the referee, are damaged: an offset, a count or a length is " +
         "out of range";
}

Error damaged_session() { return Error{damaged("the session data") + "; " + kRepeatThenReport}; }

Error damaged_piece() { return Error{damaged("the next calls of a thread")}; }

Error wrong_version(uint32_t version) {
  return Error{"the session data from the referee have version " + std::to_string(version) +
               " of the format, but this program reads version " +
               std::to_string(format::kProgramVersion) +
               ", so the two come from different versions of Keydrome: run ./dev build, then "
               "repeat the run"};
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
                  StringPool& out) {
  std::span<const uint32_t> offsets;
  if (count >= UINT32_MAX || !view_array(image, offset, count + 1, offsets)) return false;
  const uint64_t bytes_offset = offset + offsets.size_bytes();
  if (offsets[0] != 0 ||
      uint64_t{offsets[count]} + format::kReadAhead > image.size() - bytes_offset)
    return false;
  out =
      StringPool(offsets.data(), reinterpret_cast<const char*>(image.data() + bytes_offset), count);
  return true;
}

// Checks the length of every string. view_strings() does not check these lengths.
bool has_lengths(const StringPool& strings, uint32_t length_max) {
  for (uint32_t i = 0; i < strings.size(); ++i) {
    if (strings[i].size() > length_max) return false;
  }
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
         std::all_of(view.procedures.begin(), view.procedures.end(), is_within);
}

}  // namespace

Result<PoolsView> PoolsView::open(std::span<const std::byte> image) {
  format::PoolsHeader header{};
  if (image.size() < sizeof(header)) return damaged_session();
  std::memcpy(&header, image.data(), sizeof(header));
  if (header.version != format::kProgramVersion) return wrong_version(header.version);
  PoolsView view;
  const bool fits =
      view_array(image, header.index_offset, header.index_count, view.indexes) &&
      view_strings(image, header.payload_offset, header.payload_count, view.payloads) &&
      has_lengths(view.payloads, MAX_PAYLOAD_LEN - format::kTagBytes) &&
      view_strings(image, header.computed_offset, header.computed_count, view.computed_keys) &&
      has_lengths(view.computed_keys, MAX_VARCHAR_LEN) && view_procedures(image, header, view);
  if (!fits) return damaged_session();
  for (const format::IndexEntry& entry : view.indexes) {
    if (std::memchr(entry.name, 0, sizeof entry.name) == nullptr) return damaged_session();
  }
  return view;
}

Result<PieceView> PieceView::open(const PoolsView& session, std::span<const std::byte> image) {
  format::PieceHeader header{};
  if (image.size() < sizeof(header)) return damaged_piece();
  std::memcpy(&header, image.data(), sizeof(header));
  // The session has the right version, so a piece with another one is damaged.
  if (header.version != format::kProgramVersion) return damaged_piece();
  PieceView piece{.pools = session, .ops = {}, .last = header.last != 0};
  PoolsView& pools = piece.pools;
  const bool has_texts = session.payloads.size() == 0;
  const bool fits =
      view_array(image, header.op_offset, header.op_count, piece.ops) &&
      view_array(image, header.int32_offset, header.int32_count, pools.int32_keys) &&
      view_array(image, header.int64_offset, header.int64_count, pools.int64_keys) &&
      view_array(image, header.parameter_offset, header.parameter_count, pools.parameters) &&
      view_array(image, header.string_offset, header.string_count, pools.parameter_strings) &&
      (header.string_count == 0 || header.string_count == header.parameter_count) &&
      view_strings(image, header.varchar_offset, header.varchar_count, pools.varchar_keys) &&
      (!has_texts ||
       view_strings(image, header.payload_offset, header.payload_count, pools.payloads));
  if (!fits) return damaged_piece();
  return piece;
}

}  // namespace keydrome::player

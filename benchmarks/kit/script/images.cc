// Implements images.h: copies the parts of a script into one buffer and writes their offsets into
// its header.
#include "benchmarks/kit/script/images.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "base/check.h"
#include "benchmarks/kit/script/piece_writer.h"

namespace keydrome::script {
namespace {

constexpr std::size_t kAlign = 16;

// Appends aligned parts to an image and returns the offset of each part.
class ImageWriter {
 public:
  ImageWriter() : image_(sizeof(format::PoolsHeader)) {}

  template <typename T>
  uint64_t append(const T* data, std::size_t count) {
    image_.resize((image_.size() + kAlign - 1) / kAlign * kAlign);
    const std::size_t offset = image_.size();
    append_raw(data, count * sizeof(T));
    return offset;
  }

  // The format has offsets of 32 bits (format/program.h), because an image has few strings.
  uint64_t append_strings(const Strings& strings) {
    KEYDROME_CHECK(strings.bytes().size() <= UINT32_MAX);
    const std::vector<uint32_t> offsets(strings.offsets().begin(), strings.offsets().end());
    const uint64_t offset = append(offsets.data(), offsets.size());
    append_raw(strings.bytes().data(), strings.bytes().size());
    return offset;
  }

  void append_zeros(std::size_t bytes) { image_.resize(image_.size() + bytes); }

  std::vector<std::byte> finish(const format::PoolsHeader& header) {
    std::memcpy(image_.data(), &header, sizeof header);
    return std::move(image_);
  }

 private:
  void append_raw(const void* data, std::size_t bytes) {
    const std::byte* from = static_cast<const std::byte*>(data);
    image_.insert(image_.end(), from, from + bytes);
  }

  std::vector<std::byte> image_;
};

// Returns the keys that procedures (lists of instructions) compute, at the numbers that they have
// in the script.
Strings computed_keys(const Pools& pools) {
  Strings keys;
  for (const uint32_t number : pools.computed_keys) {
    while (keys.size() < number) keys.add("");
    keys.add(pools.varchar_keys[number]);
  }
  return keys;
}

}  // namespace

std::vector<std::byte> pools_image(const Script& script) {
  std::vector<format::IndexEntry> indexes(script.indexes.size());
  for (std::size_t i = 0; i < indexes.size(); ++i) {
    const IndexSpec& spec = script.indexes[i];
    KEYDROME_CHECK(spec.name.size() < format::kIndexNameBytes);
    indexes[i].type = spec.type;
    std::memcpy(indexes[i].name, spec.name.data(), spec.name.size());
  }
  const Pools& pools = script.pools;
  ImageWriter writer;
  format::PoolsHeader header{};
  header.version = format::kProgramVersion;
  header.index_count = indexes.size();
  header.index_offset = writer.append(indexes.data(), indexes.size());
  header.procedure_count = pools.procedures.size();
  header.procedure_offset = writer.append(pools.procedures.data(), pools.procedures.size());
  header.instruction_count = pools.instructions.size();
  header.instruction_offset = writer.append(pools.instructions.data(), pools.instructions.size());
  const Strings computed = computed_keys(pools);
  header.computed_count = computed.size();
  header.computed_offset = writer.append_strings(computed);
  // If the session has too many texts for the image, the image's pool of texts is empty. Each piece
  // (part of a thread's program, format/piece.h) then contains its own texts.
  const Strings none;
  const Strings& texts = texts_in_session(script) ? pools.payloads : none;
  header.payload_count = texts.size();
  header.payload_offset = writer.append_strings(texts);
  writer.append_zeros(format::kReadAhead);
  return writer.finish(header);
}

}  // namespace keydrome::script

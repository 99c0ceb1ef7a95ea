// Implements images.h: copies the parts of a script into one buffer and writes their offsets into
// its header.
#include "benchmarks/kit/script/images.h"

#include <cstring>
#include <span>
#include <string>

#include "benchmarks/kit/format/piece.h"

namespace keydrome::script {
namespace {

constexpr std::size_t kAlign = 64;  // of a cache line

// Appends aligned pieces to an image and returns the offset of each piece.
class ImageWriter {
 public:
  explicit ImageWriter(std::size_t header_bytes) : image_(header_bytes) {}

  template <typename T>
  uint64_t append(const T* data, std::size_t count) {
    image_.resize((image_.size() + kAlign - 1) / kAlign * kAlign);
    const std::size_t offset = image_.size();
    append_raw(data, count * sizeof(T));
    return offset;
  }

  uint64_t append_strings(const Strings& strings) {
    const uint64_t offset = append(strings.offsets().data(), strings.offsets().size());
    append_raw(strings.bytes().data(), strings.bytes().size());
    return offset;
  }

  void append_zeros(std::size_t bytes) { image_.resize(image_.size() + bytes); }

  template <typename Header>
  std::vector<std::byte> finish(const Header& header) {
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

// Returns the number of the first op at or after `from + ops_per_round` where a round may begin.
// Returns the number of ops if there is none.
uint64_t next_cut(const std::vector<format::Op>& ops, uint64_t from, uint64_t ops_per_round) {
  for (uint64_t at = from + ops_per_round; at < ops.size(); ++at) {
    if ((ops[at].flags & format::kUnitStart) != 0) return at;
  }
  return ops.size();
}

// Returns the keys that procedures compute, at their numbers of the script.
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
  ImageWriter writer(sizeof(format::PoolsHeader));
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
  // Without texts, the pool is empty, and each piece brings its own.
  const Strings none;
  const Strings& texts = texts_in_session(script) ? pools.payloads : none;
  header.payload_count = texts.size();
  header.payload_offset = writer.append_strings(texts);
  writer.append_zeros(format::kReadAhead);
  return writer.finish(header);
}

RoundPlan plan_rounds(const PhaseScript& phase, uint64_t ops_per_round) {
  KEYDROME_CHECK(ops_per_round > 0);
  RoundPlan plan;
  plan.cuts.emplace_back(phase.threads.size(), 0);
  bool more = true;
  while (more) {
    std::vector<uint64_t> next(phase.threads.size());
    more = false;
    for (std::size_t t = 0; t < next.size(); ++t) {
      next[t] = next_cut(phase.threads[t], plan.cuts.back()[t], ops_per_round);
      more = more || next[t] < phase.threads[t].size();
    }
    plan.cuts.push_back(std::move(next));
  }
  return plan;
}

std::vector<std::byte> round_image(const PieceWriter& writer, const PhaseScript& phase,
                                   const RoundPlan& plan, uint32_t round) {
  KEYDROME_CHECK(round < plan.rounds() && phase.threads.size() <= format::kThreadsMax);
  ImageWriter image(sizeof(format::RoundHeader));
  format::RoundHeader header{};
  header.version = format::kProgramVersion;
  header.threads = static_cast<uint32_t>(phase.threads.size());
  header.round = round;
  header.last = round + 1 == plan.rounds() ? 1 : 0;
  for (std::size_t t = 0; t < phase.threads.size(); ++t) {
    const uint64_t begin = plan.cuts[round][t], end = plan.cuts[round + 1][t];
    const std::vector<std::byte> piece =
        writer.write(std::span(phase.threads[t]).subspan(begin, end - begin), header.last != 0);
    header.spans[t].bytes = piece.size();
    header.spans[t].offset = image.append(piece.data(), piece.size());
  }
  return image.finish(header);
}

}  // namespace keydrome::script

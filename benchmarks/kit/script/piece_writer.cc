// Implements piece_writer.h. A piece is the part of a thread's program that the thread receives at
// once, with the keys that its ops (operations) use. The writer walks through the ops of a piece
// twice, first to count what they use and then to copy it.
#include "benchmarks/kit/script/piece_writer.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/check.h"
#include "benchmarks/kit/format/piece.h"

namespace keydrome::script {
namespace {

constexpr uint64_t kPieceAlign = 16;

// Returns the op as the player, the process that calls the library, receives it: without the fields
// that show which results are judged, and how. The library shares the player's memory and must not
// learn this.
format::Op for_player(format::Op op) {
  const bool is_insert = op.code == format::OpCode::kInsert;
  op.flags &= is_insert ? format::kPlayerFlags & ~format::kMayExist : format::kPlayerFlags;
  op.kind = 0;
  op.class_ = 0;
  return op;
}

constexpr bool takes_key(format::InstructionCode code) {
  return code == format::InstructionCode::kGet || code == format::InstructionCode::kScan ||
         code == format::InstructionCode::kInsert || code == format::InstructionCode::kDelete;
}

// A slot is a variable for a handle. A procedure is a list of instructions that computes the
// arguments of its calls. Returns the slots through which the procedure makes calls whose keys are
// numbers: bit s is 1 for slot s. If the index has string keys, the number names a string of the
// pool.
uint32_t slots_by_number(const Script& script, const format::ProcedureEntry& entry) {
  uint32_t slots = 0;
  for (uint32_t i = entry.first; i < entry.first + entry.count; ++i) {
    const format::Instruction& instruction = script.pools.instructions[i];
    if (takes_key(instruction.code)) slots |= 1u << instruction.c;
  }
  return slots;
}

std::vector<uint32_t> starts_of_runs(const Script& script) {
  std::vector<uint32_t> starts;
  if (script.pools.procedures.empty()) return starts;
  for (const PhaseScript& phase : script.phases) {
    for (const std::vector<format::Op>& ops : phase.threads) {
      for (const format::Op& op : ops) {
        if (op.code == format::OpCode::kRun) starts.push_back(op.key);
      }
    }
  }
  std::ranges::sort(starts);
  return starts;
}

// Chooses where the parts of a piece begin.
class Layout {
 public:
  uint64_t place(uint64_t bytes) {
    const uint64_t offset = (end_ + kPieceAlign - 1) / kPieceAlign * kPieceAlign;
    end_ = offset + bytes;
    return offset;
  }
  uint64_t place_strings(uint64_t count, uint64_t bytes) {
    return place((count + 1) * sizeof(uint32_t) + bytes);
  }
  uint64_t end() const { return end_; }

 private:
  uint64_t end_ = sizeof(format::PieceHeader);
};

// Sets the header of a piece. Returns the size of the piece in bytes.
uint64_t lay_out(const PieceCounts& counts, format::PieceHeader& header) {
  Layout layout;
  header.version = format::kProgramVersion;
  header.op_count = counts.ops;
  header.op_offset = layout.place(counts.ops * sizeof(format::Op));
  header.int32_count = counts.int32_keys;
  header.int32_offset = layout.place(counts.int32_keys * sizeof(int32_t));
  header.int64_count = counts.int64_keys;
  header.int64_offset = layout.place(counts.int64_keys * sizeof(int64_t));
  header.parameter_count = counts.parameters;
  header.parameter_offset = layout.place(counts.parameters * sizeof(int64_t));
  header.string_count = counts.has_strings ? counts.parameters : 0;
  header.string_offset = layout.place(header.string_count * sizeof(uint32_t));
  header.varchar_count = counts.varchar_keys;
  header.varchar_offset = layout.place_strings(counts.varchar_keys, counts.varchar_bytes);
  header.payload_count = counts.texts;
  header.payload_offset = layout.place_strings(counts.texts, counts.text_bytes);
  return layout.end() + format::kReadAhead;
}

uint64_t size_of(const PieceCounts& counts) {
  format::PieceHeader header{};
  return lay_out(counts, header);
}

}  // namespace

bool texts_in_session(const Script& script) {
  return script.pools.payloads.size() <= kSessionTextsMax ||
         std::ranges::any_of(script.pools.instructions, [](const format::Instruction& instruction) {
           return instruction.code == format::InstructionCode::kText;
         });
}

// Walks through the ops of a piece. Passes each key, text and parameter of an op to `Pools` (a
// Counter or a Filler), and replaces its number with the number that `Pools` returns.
template <typename Pools>
class PieceWriter::Converter {
 public:
  Converter(const PieceWriter& writer, Pools& pools) : writer_(writer), pools_(pools) {}

  format::Op convert(const format::Op& from) {
    format::Op op = for_player(from);
    switch (op.code) {
      case format::OpCode::kOpen:
        types_[op.slot] = writer_.script_.indexes[op.argument].type;
        break;
      case format::OpCode::kGet:
        op.key = pools_.key(types_[op.slot], op.key, op.argument);
        op.argument = (from.flags & format::kHidden) != 0 ? writer_.script_.hidden_bits : 0;
        break;
      case format::OpCode::kDeleteKey:
        op.key = pools_.key(types_[op.slot], op.key);
        break;
      case format::OpCode::kInsert:
      case format::OpCode::kDeletePair:
        op.key = pools_.key(types_[op.slot], op.key);
        op.payload = text(op.payload);
        break;
      case format::OpCode::kBareCall: {
        const format::BareCall call = format::BareCall::unpacked(op.argument);
        if (call.has_key()) op.key = pools_.key(call.key_type, op.key);
        if (call.has_payload()) op.payload = text(op.payload);
        break;
      }
      case format::OpCode::kRun:
        op.key = pools_.parameters(writer_.parameters_of(op), uses_strings(op.payload));
        break;
      default:
        break;
    }
    return op;
  }

 private:
  uint32_t text(uint32_t number) { return writer_.with_texts_ ? pools_.text(number) : number; }

  bool uses_strings(uint32_t procedure) const {
    const uint32_t slots = writer_.slots_by_number_[procedure];
    for (std::size_t slot = 0; slot < types_.size(); ++slot) {
      if ((slots >> slot & 1u) != 0 && types_[slot] == VARCHAR) return true;
    }
    return false;
  }

  const PieceWriter& writer_;
  Pools& pools_;
  std::array<KeyType, format::kSlots> types_{};
};

// Counts the entries of a piece.
class PieceWriter::Counter {
 public:
  explicit Counter(const Script& script) : pools_(script.pools) {}

  uint32_t key(KeyType type, uint32_t number, uint32_t /*hiding*/ = 0) {
    if (type == VARCHAR) {
      ++counts_.varchar_keys;
      counts_.varchar_bytes += pools_.varchar_keys[number].size();
    } else {
      ++(type == SHORT ? counts_.int32_keys : counts_.int64_keys);
    }
    return 0;
  }
  uint32_t text(uint32_t number) {
    ++counts_.texts;
    counts_.text_bytes += pools_.payloads[number].size();
    return 0;
  }
  uint32_t parameters(std::span<const int64_t> values, bool with_strings) {
    counts_.parameters += values.size();
    counts_.has_strings = counts_.has_strings || with_strings;
    for (const int64_t value : values) {
      if (with_strings && is_string(value)) key(VARCHAR, static_cast<uint32_t>(value));
    }
    return 0;
  }
  void op() { ++counts_.ops; }
  const PieceCounts& counts() const { return counts_; }

 private:
  bool is_string(int64_t value) const {
    return value >= 0 && static_cast<uint64_t>(value) < pools_.varchar_keys.size();
  }

  const Pools& pools_;
  PieceCounts counts_;
};

// Writes the entries of a piece.
class PieceWriter::Filler {
 public:
  // REQUIRES: `image` is zeroed and has the size that `header` needs.
  Filler(const Script& script, const format::PieceHeader& header, std::byte* image)
      : pools_(script.pools),
        ops_(at<format::Op>(image, header.op_offset)),
        int32_(at<int32_t>(image, header.int32_offset)),
        int64_(at<int64_t>(image, header.int64_offset)),
        parameters_(at<int64_t>(image, header.parameter_offset)),
        strings_(header.string_count == 0 ? nullptr : at<uint32_t>(image, header.string_offset)),
        varchar_(image, header.varchar_offset, header.varchar_count),
        texts_(image, header.payload_offset, header.payload_count) {}

  // `hiding` is the bits that hide an int64 key, or 0 (format/hidden_key.h).
  uint32_t key(KeyType type, uint32_t number, uint32_t hiding = 0) {
    if (type == VARCHAR) return varchar_.add(pools_.varchar_keys[number]);
    if (type == SHORT) {
      int32_[int32_count_] = pools_.int32_keys[number];
      return int32_count_++;
    }
    int64_[int64_count_] = pools_.int64_keys[number] ^ int64_t { hiding };
    return int64_count_++;
  }
  uint32_t text(uint32_t number) { return texts_.add(pools_.payloads[number]); }
  uint32_t parameters(std::span<const int64_t> values, bool with_strings) {
    const uint32_t first = parameter_count_;
    for (const int64_t value : values) {
      parameters_[parameter_count_] = value;
      const bool is_string =
          with_strings && value >= 0 && static_cast<uint64_t>(value) < pools_.varchar_keys.size();
      if (strings_ != nullptr) {
        strings_[parameter_count_] =
            is_string ? key(VARCHAR, static_cast<uint32_t>(value)) : format::kNoString;
      }
      ++parameter_count_;
    }
    return first;
  }
  void op(const format::Op& op) { *ops_++ = op; }

 private:
  // A pool of strings.
  class StringsFiller {
   public:
    StringsFiller(std::byte* image, uint64_t offset, uint64_t count)
        : offsets_(at<uint32_t>(image, offset)),
          bytes_(reinterpret_cast<char*>(image + offset + (count + 1) * sizeof(uint32_t))) {}
    uint32_t add(std::string_view text) {
      text.copy(bytes_ + offsets_[count_], text.size());
      offsets_[count_ + 1] = offsets_[count_] + static_cast<uint32_t>(text.size());
      return count_++;
    }

   private:
    uint32_t* offsets_;
    char* bytes_;
    uint32_t count_ = 0;
  };

  template <typename T>
  static T* at(std::byte* image, uint64_t offset) {
    return reinterpret_cast<T*>(image + offset);
  }

  const Pools& pools_;
  format::Op* ops_;
  int32_t* int32_;
  int64_t* int64_;
  int64_t* parameters_;
  uint32_t* strings_;
  StringsFiller varchar_, texts_;
  uint32_t int32_count_ = 0, int64_count_ = 0, parameter_count_ = 0;
};

PieceWriter::PieceWriter(const Script& script)
    : script_(script), with_texts_(!texts_in_session(script)), run_starts_(starts_of_runs(script)) {
  for (const format::ProcedureEntry& entry : script.pools.procedures)
    slots_by_number_.push_back(slots_by_number(script, entry));
}

// Returns the parameters of a kRun op, which executes a procedure. The script says where they
// begin, and how many parameters the procedure reads at most, but not how many this op has. They
// end where the parameters of the next kRun op begin.
std::span<const int64_t> PieceWriter::parameters_of(const format::Op& run) const {
  const std::vector<int64_t>& all = script_.pools.parameters;
  const uint64_t most = script_.pools.procedures[run.payload].parameters;
  uint64_t end = std::min<uint64_t>(run.key + most, all.size());
  const auto next = std::ranges::upper_bound(run_starts_, run.key);
  if (next != run_starts_.end()) end = std::min<uint64_t>(end, *next);
  return std::span(all).subspan(run.key, end - run.key);
}

PieceCounts PieceWriter::count(std::span<const format::Op> ops) const {
  Counter counter(script_);
  Converter<Counter> converter(*this, counter);
  for (const format::Op& op : ops) {
    converter.convert(op);
    counter.op();
  }
  return counter.counts();
}

uint64_t PieceWriter::cut(std::span<const format::Op> ops, uint64_t from,
                          uint64_t bytes_max) const {
  Counter counter(script_);
  Converter<Counter> converter(*this, counter);
  uint64_t end = from;  // end of the longest piece that fits; `from` if there is none
  for (uint64_t at = from;; ++at) {
    if (at > from && (at == ops.size() || (ops[at].flags & format::kUnitStart) != 0)) {
      if (size_of(counter.counts()) > bytes_max) return end == from ? at : end;
      end = at;
    }
    if (at >= ops.size()) return ops.size();
    converter.convert(ops[at]);
    counter.op();
  }
}

uint64_t PieceWriter::size_bytes(std::span<const format::Op> ops) const {
  return size_of(count(ops));
}

std::vector<std::byte> PieceWriter::write(std::span<const format::Op> ops, bool last) const {
  format::PieceHeader header{};
  std::vector<std::byte> image(lay_out(count(ops), header));
  header.last = last ? 1 : 0;
  std::memcpy(image.data(), &header, sizeof header);
  Filler filler(script_, header, image.data());
  Converter<Filler> converter(*this, filler);
  for (const format::Op& op : ops) filler.op(converter.convert(op));
  return image;
}

}  // namespace keydrome::script

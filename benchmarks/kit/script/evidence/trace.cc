// Implements trace.h: reads, copies and shortens the traces of threads. A trace is a list of whole
// results of calls. The player, the process that calls the library, has written the traces, so
// nothing in them is trusted.
#include "benchmarks/kit/script/evidence/trace.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "benchmarks/kit/format/outcome.h"
#include "benchmarks/kit/format/payload_tag.h"

namespace keydrome::script {
namespace {

constexpr std::size_t kKeyBytesMax = MAX_VARCHAR_LEN + 1, kPayloadBytesMax = MAX_PAYLOAD_LEN + 1;

// Returns the size in bytes of a record with its key and payload. Returns nothing if the key or the
// payload is too long, or if the size is more than `available`.
std::optional<std::size_t> record_bytes(const format::TraceRecord& record, std::size_t available) {
  if (record.key_bytes > kKeyBytesMax || record.payload_bytes > kPayloadBytesMax)
    return std::nullopt;
  const std::size_t padded = format::trace_record_bytes(record.key_bytes, record.payload_bytes);
  return padded <= available ? std::optional(padded) : std::nullopt;
}

// Returns true if the script asks for this record of evidence. The player writes the records of all
// calls of a thread with a trace, so that the library cannot know which of them are judged.
bool is_wanted(const format::Op& op, const format::TraceRecord& record) {
  if (op.code == format::OpCode::kBareCall || (op.flags & format::kEvidenceAll) != 0) return true;
  if ((op.flags & format::kEvidence) == 0) return false;
  if (op.code == format::OpCode::kNextToEnd) return record.code != SUCCESS;
  return op.code != format::OpCode::kNext ||
         static_cast<uint32_t>(record.repetition) + 1 == op.argument;
}

std::string_view key_bytes(const Pools& pools, KeyType type, uint32_t number) {
  if (type == VARCHAR) return pools.varchar_keys[number];
  if (type == SHORT)
    return {reinterpret_cast<const char*>(&pools.int32_keys[number]), sizeof(int32_t)};
  return {reinterpret_cast<const char*>(&pools.int64_keys[number]), sizeof(int64_t)};
}

std::size_t key_count(const Pools& pools, KeyType type) {
  if (type == VARCHAR) return pools.varchar_keys.size();
  return type == SHORT ? pools.int32_keys.size() : pools.int64_keys.size();
}

// A copy of one record of shared memory.
class RecordCopy {
 public:
  // Copies the first record of `bytes`. Returns false if there is no valid one.
  bool copy(std::span<const std::byte> bytes) {
    if (bytes.size() < sizeof head_) return false;
    std::memcpy(&head_, bytes.data(), sizeof head_);
    const std::optional<std::size_t> size = record_bytes(head_, bytes.size());
    if (!size) return false;
    size_ = *size;
    // Use the head that was checked, because the library may have changed the shared one since.
    std::memcpy(bytes_.data(), &head_, sizeof head_);
    std::memcpy(bytes_.data() + sizeof head_, bytes.data() + sizeof head_, size_ - sizeof head_);
    return true;
  }

  const format::TraceRecord& head() const { return head_; }
  std::span<const std::byte> bytes() const { return std::span(bytes_).first(size_); }
  std::string_view key() const {
    return {reinterpret_cast<const char*>(bytes_.data()) + sizeof head_, head_.key_bytes};
  }
  std::string_view payload() const { return {key().data() + head_.key_bytes, head_.payload_bytes}; }

 private:
  format::TraceRecord head_{};
  std::size_t size_ = 0;
  std::array<std::byte, format::trace_record_bytes(kKeyBytesMax, kPayloadBytesMax)> bytes_{};
};

// Follows the ops of a program, so that it knows which index each scan reads.
class ScanTypes {
 public:
  ScanTypes(std::span<const format::Op> ops, const Script& script) : ops_(ops), script_(script) {}

  // Returns the key type of the index that op `number` scans. Returns nothing if the op is no scan
  // to the end, or if of() was called for a later op before.
  std::optional<KeyType> of(uint64_t number) {
    if (number == last_) return type_;
    type_ = std::nullopt;
    if (number < next_ || number >= ops_.size()) return type_;
    for (last_ = number; next_ <= number; ++next_) {
      if (ops_[next_].code == format::OpCode::kOpen)
        slots_[ops_[next_].slot] = ops_[next_].argument;
    }
    if (ops_[number].code == format::OpCode::kNextToEnd)
      type_ = script_.indexes[slots_[ops_[number].slot]].type;
    return type_;
  }

 private:
  std::span<const format::Op> ops_;
  const Script& script_;
  std::array<uint32_t, format::kSlots> slots_{};
  uint64_t next_ = 0;           // the first op that of() has not seen
  uint64_t last_ = UINT64_MAX;  // the op for which of() last computed type_
  std::optional<KeyType> type_;
};

// Adds a record to the last run (Trace::Run) if it is the next record of this run. Otherwise begins
// a new run with it.
void add_inserted(const format::TraceRecord& head, KeyType type, const InsertedRecord& record,
                  Trace& trace) {
  const Trace::Run* last = trace.runs.empty() ? nullptr : &trace.runs.back();
  const bool follows = last != nullptr && last->bytes_before == trace.bytes.size() &&
                       last->op == head.op && last->type == type &&
                       last->repetition + last->count == head.repetition;
  if (!follows) {
    trace.runs.push_back({.bytes_before = trace.bytes.size(),
                          .op = head.op,
                          .repetition = head.repetition,
                          .count = 0,
                          .type = type});
  }
  ++trace.runs.back().count;
  trace.inserted.push_back(record);
}

void append(std::span<const std::byte> bytes, std::vector<std::byte>& to) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

}  // namespace

bool TraceReader::next(Evidence& out) {
  if (rest_.empty() || damaged_) return false;
  format::TraceRecord record{};
  damaged_ = true;
  if (rest_.size() < sizeof record) return false;
  std::memcpy(&record, rest_.data(), sizeof record);
  const std::optional<std::size_t> size = record_bytes(record, rest_.size());
  if (!size) return false;
  last_ = rest_.first(*size);
  const char* text = reinterpret_cast<const char*>(rest_.data()) + sizeof record;
  out = Evidence{.op = record.op,
                 .repetition = record.repetition,
                 .code = record.code,
                 .key = {text, record.key_bytes},
                 .payload = {text + record.key_bytes, record.payload_bytes}};
  rest_ = rest_.subspan(*size);
  damaged_ = false;
  return true;
}

bool EvidenceReader::next(Evidence& out) {
  if (!next_number(out)) return false;
  if (out.inserted != nullptr) make_strings(out);
  return true;
}

bool EvidenceReader::next_number(Evidence& out) {
  const std::size_t read = trace_.bytes.size() - bytes_.rest().size();
  if (run_ == trace_.runs.size() || trace_.runs[run_].bytes_before != read) return bytes_.next(out);
  const Trace::Run& run = trace_.runs[run_];
  out = Evidence{.op = run.op,
                 .repetition = run.repetition + in_run_,
                 .code = SUCCESS,
                 .key = {},
                 .payload = {},
                 .inserted = &*record_,
                 .inserted_type = run.type};
  ++record_;
  if (++in_run_ < run.count) return true;
  in_run_ = 0;
  ++run_;
  return true;
}

void EvidenceReader::make_strings(Evidence& out) {
  const InsertedRecord& record = *out.inserted;
  const std::string_view text = trace_.pools->payloads[record.text];
  const std::size_t bytes = format::kTagBytes + text.size();
  char* const payload = static_cast<char*>(strings_.allocate(bytes, 1));
  format::write_tag(record.tag, payload);
  std::memcpy(payload + format::kTagBytes, text.data(), text.size());
  out.key = key_bytes(*trace_.pools, out.inserted_type, record.key);
  out.payload = {payload, bytes};
}

InsertedRecords::InsertedRecords(const Script& script) {
  const auto for_each_insert = [&](const auto& visit) {
    for (const PhaseScript& phase : script.phases) {
      for (const std::vector<format::Op>& ops : phase.threads) {
        for (const format::Op& op : ops) {
          if (op.code == format::OpCode::kInsert) visit(op);
        }
      }
    }
  };
  std::size_t tags = 0;
  for_each_insert(
      [&](const format::Op& op) { tags = std::max(tags, op.argument + std::size_t{1}); });
  entries_.resize(tags);
  for_each_insert([&](const format::Op& op) {
    Entry& entry = entries_[op.argument];
    if (entry.key == UINT32_MAX) entry = {.key = op.key, .text = op.payload};
  });
}

bool InsertedRecords::find(const Pools& pools, KeyType type, std::string_view key,
                           std::string_view payload, InsertedRecord& out) const {
  const std::optional<uint32_t> tag = format::read_tag(payload);
  if (!tag || *tag >= entries_.size()) return false;
  const Entry& entry = entries_[*tag];
  out = {.key = entry.key, .text = entry.text, .tag = *tag};
  return entry.key < key_count(pools, type) && key == key_bytes(pools, type, entry.key) &&
         payload.substr(format::kTagBytes) == pools.payloads[entry.text];
}

// Step 0 prefetches the entry of the tag, step 1 the positions of the strings, step 2 the strings.
void InsertedRecords::prefetch(const Pools& pools, KeyType type, std::string_view payload,
                               uint32_t step) const {
  asm volatile("");  // without this, g++ 12 removes calls of this function as having no effect
  const std::optional<uint32_t> tag = format::read_tag(payload);
  if (!tag || *tag >= entries_.size()) return;
  if (step == 0) return __builtin_prefetch(&entries_[*tag]);
  const Entry& entry = entries_[*tag];
  if (entry.key >= key_count(pools, type)) return;
  const auto prefetch_string = [step](const Strings& strings, uint32_t number) {
    const uint64_t& offset = strings.offsets()[number];
    __builtin_prefetch(step == 1 ? static_cast<const void*>(&offset)
                                 : strings.bytes().data() + offset);
  };
  prefetch_string(pools.payloads, entry.text);
  if (type == VARCHAR) return prefetch_string(pools.varchar_keys, entry.key);
  if (step == 1) __builtin_prefetch(key_bytes(pools, type, entry.key).data());
}

namespace {

// Copies a trace in batches of records. The records of a scan come in the order of their keys, so
// InsertedRecords::find() reads memory at random places. TraceCopier prefetches these places for a
// whole batch. Otherwise each comparison would wait for several cache misses.
class TraceCopier {
 public:
  TraceCopier(std::span<const std::byte> shared, std::span<const format::Op> ops,
              const Script& script, const InsertedRecords* inserted)
      : shared_(shared), ops_(ops), pools_(script.pools), inserted_(inserted), types_(ops, script) {
    trace_.pools = &pools_;
  }

  Trace copy() {
    while (read_batch()) {
      for (uint32_t step = 0; step < InsertedRecords::kPrefetchSteps; ++step) {
        for (const Copied& copied : std::span(batch_).first(count_)) {
          if (copied.type) inserted_->prefetch(pools_, *copied.type, copied.record.payload(), step);
        }
      }
      for (const Copied& copied : std::span(batch_).first(count_)) add(copied);
    }
    append(shared_, trace_.bytes);  // the rest, which is empty unless the trace is damaged
    return std::move(trace_);
  }

 private:
  struct Copied {
    RecordCopy record;
    std::optional<KeyType> type;  // of the scanned index, if the record may be an inserted one
  };

  // Returns false if there are no more valid records.
  bool read_batch() {
    for (count_ = 0; count_ < batch_.size() && batch_[count_].record.copy(shared_); ++count_) {
      Copied& copied = batch_[count_];
      const format::TraceRecord& head = copied.record.head();
      copied.type =
          inserted_ != nullptr && head.code == SUCCESS ? types_.of(head.op) : std::nullopt;
      shared_ = shared_.subspan(copied.record.bytes().size());
    }
    return count_ > 0;
  }

  void add(const Copied& copied) {
    const format::TraceRecord& head = copied.record.head();
    // Keep a record whose op does not exist, so that the judge reports it.
    if (head.op < ops_.size() && !is_wanted(ops_[head.op], head)) return;
    InsertedRecord found{};
    if (copied.type && inserted_->find(pools_, *copied.type, copied.record.key(),
                                       copied.record.payload(), found)) {
      add_inserted(head, *copied.type, found, trace_);
    } else {
      append(copied.record.bytes(), trace_.bytes);
    }
  }

  std::span<const std::byte> shared_;  // not yet copied
  const std::span<const format::Op> ops_;
  const Pools& pools_;
  const InsertedRecords* const inserted_;
  ScanTypes types_;
  std::array<Copied, 16> batch_;
  std::size_t count_ = 0;  // valid elements of batch_
  Trace trace_;
};

}  // namespace

Trace copy_trace(std::span<const std::byte> shared, std::span<const format::Op> ops,
                 const Script& script, const InsertedRecords* inserted) {
  return TraceCopier(shared, ops, script, inserted).copy();
}

}  // namespace keydrome::script

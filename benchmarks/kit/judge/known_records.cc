// Implements KnownRecords: goes through all changes, key by key, and notes the inserts that are the
// only change of their key and have committed. A get of such a key has only one right result.
#include "benchmarks/kit/judge/known_records.h"

#include <algorithm>
#include <limits>

namespace keydrome::judge {

KnownRecords::KnownRecords(const script::Script& script, const KeyRanks& ranks,
                           const ExpectedState& expected)
    : script_(&script),
      ranks_(&ranks),
      text_offsets_(script.pools.payloads.offsets().data()),
      texts_(script.pools.payloads.bytes().data()) {
  const std::span<const Change> changes = expected.changes();
  records_.resize(expected.tags());
  for (const KeyType type : {SHORT, INT, VARCHAR})
    changed_[type].resize(ranks.count(type) / 64 + 1);
  for (auto first = changes.begin(); first != changes.end();) {
    const auto last = std::find_if(first, changes.end(),
                                   [&](const Change& change) { return change.key != first->key; });
    add_key({first, last});
    first = last;
  }
}

// Adds the changes of one key.
void KnownRecords::add_key(std::span<const Change> changes) {
  const Change& first = changes.front();
  changed_[script_->indexes[first.index].type][first.rank / 64] |= uint64_t{1} << first.rank % 64;
  for (const Change& change : changes) {
    if (change.what != Change::What::kInsert) continue;
    Record& record = records_[change.tag];
    const bool is_first = record.inserts == 0;
    record.inserts = is_first ? 1 : 2;
    record.index = kNoIndex;
    const Moment& moment = change.moment;
    if (!is_first || changes.size() > 1 || change.effect != Change::Effect::kYes) continue;
    if (moment.phase > std::numeric_limits<decltype(record.phase)>::max()) continue;
    record.key = change.number;
    record.text = change.text;
    record.index = change.index;
    record.phase = static_cast<uint16_t>(moment.phase);
    record.thread = moment.thread & kThreadMask;
  }
}

// Compares a window, the four payload bytes that a word contains, that reaches beyond the end of
// the text. The library may return any bytes after the NUL at the end of a text, so only the bytes
// up to this NUL are compared.
bool KnownRecords::has_end(uint64_t word, uint32_t window, uint32_t text) const {
  const uint64_t from = text_offsets_[text] + window - format::kTagBytes;
  const uint64_t end = text_offsets_[text + 1];
  if (from > end) return is_window(word, 0, 0);
  uint32_t bytes = 0;
  std::memcpy(&bytes, texts_ + from, end - from);
  return is_window(word, bytes, ~(~0u << 8 * (end - from) << 8));
}

}  // namespace keydrome::judge

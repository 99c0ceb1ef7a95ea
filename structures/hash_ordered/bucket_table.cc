// Implements BucketTable (bucket_table.h), an array of buckets. Each bucket holds the pairs of one
// interval of codes (code.h). A code is a number that is computed from a pair.
#include "structures/hash_ordered/bucket_table.h"

#include <algorithm>
#include <memory>
#include <new>

namespace keydrome::hash_ordered {
namespace {

// A pair never has more symbols (bytes and end marks, pair.h).
constexpr uint32_t kSymbolsMax = KEYDROME_KEY_BYTES_MAX + KEYDROME_PAYLOAD_BYTES_MAX + 2;

}  // namespace

BucketTable::Division BucketTable::Division::of(const Probe& first, const Probe& last,
                                                uint32_t mark, const Room& room) {
  Division made;
  made.prefix = common_symbols(first, last, mark, kSymbolsMax);
  made.mark = mark;
  made.alphabet = mark == 0 ? Alphabet::kBytes : Alphabet::kText;
  made.base = code_of(first, made.prefix, mark, made.alphabet);
  uint64_t largest = code_of(last, made.prefix, mark, made.alphabet);
  if (made.base == largest) {
    made.alphabet = Alphabet::kExact;
    made.base = code_of(first, made.prefix, mark, made.alphabet);
    largest = code_of(last, made.prefix, mark, made.alphabet);
  }
  const uint64_t width = largest - made.base;
  if (room.below) made.base -= std::min(made.base, width);
  if (room.above) largest += std::min(~largest, width);
  const uint64_t range = largest - made.base;  // the number of codes, less one
  const uint32_t buckets = room.buckets * (1 + (room.below ? 1 : 0) + (room.above ? 1 : 0));
  if (range < buckets) {
    made.buckets = static_cast<uint32_t>(range) + 1;
    return made;
  }
  made.buckets = buckets;
  // The bucket of a code is (code - base) * factor / 2^64. `factor` is the largest number with
  // which the code `largest` still belongs to the last bucket.
  const Wide all = static_cast<Wide>(buckets) << 64;
  made.factor = static_cast<uint64_t>((all - 1) / range);
  return made;
}

size_t BucketTable::bytes(const Division& division, const Probe& reference) {
  const size_t text = division.prefix == 0 ? 0 : reference.key.size() + reference.payload.size();
  return sizeof(BucketTable) + division.buckets * sizeof(Bucket) +
         words(division.buckets) * sizeof(uint64_t) + text;
}

BucketTable* BucketTable::make(void* memory, const Division& division, const Probe& reference) {
  auto* table = new (memory) BucketTable(division);
  std::uninitialized_value_construct_n(table->slots(), division.buckets);
  std::uninitialized_value_construct_n(table->bitmap(), words(division.buckets));
  if (division.prefix == 0) return table;
  table->reference_key_ = static_cast<uint8_t>(reference.key.size());
  table->reference_payload_ = static_cast<uint8_t>(reference.payload.size());
  char* to = std::copy(reference.key.begin(), reference.key.end(), table->text());
  std::copy(reference.payload.begin(), reference.payload.end(), to);
  return table;
}

Probe BucketTable::reference() const {
  const std::string_view key(text(), reference_key_);
  return {head_of(key), key, {text() + reference_key_, reference_payload_}, false};
}

int BucketTable::compare_prefix(const Probe& pair) const {
  const Probe prefix = reference();
  const uint32_t common = common_symbols(pair, prefix, division_.mark, division_.prefix);
  if (common == division_.prefix) return 0;
  return pair.symbol(common, division_.mark) < prefix.symbol(common, division_.mark) ? -1 : 1;
}

void BucketTable::note(uint32_t bucket) {
  const uint64_t bit = uint64_t{1} << bucket % kWordBits;
  uint64_t& word = bitmap()[bucket / kWordBits];
  word = at(bucket).empty() ? word & ~bit : word | bit;
}

uint32_t BucketTable::occupied(uint32_t bucket) const {
  if (bucket >= buckets()) return buckets();
  uint32_t word = bucket / kWordBits;
  uint64_t bits = bitmap()[word] & ~uint64_t{0} << bucket % kWordBits;
  while (bits == 0) {
    if (++word == words(buckets())) return buckets();
    bits = bitmap()[word];
  }
  return word * kWordBits + static_cast<uint32_t>(std::countr_zero(bits));
}

uint32_t BucketTable::last_occupied() const {
  auto word = static_cast<uint32_t>(words(buckets())) - 1;
  while (bitmap()[word] == 0) --word;
  return word * kWordBits + static_cast<uint32_t>(std::bit_width(bitmap()[word])) - 1;
}

}  // namespace keydrome::hash_ordered

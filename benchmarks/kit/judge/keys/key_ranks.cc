// Implements KeyRanks: sorts the keys of each pool (list of keys of one type) and gives equal keys
// the same rank.
#include "benchmarks/kit/judge/keys/key_ranks.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/parallel.h"
#include "benchmarks/kit/judge/keys/sort_notes.h"
#include "benchmarks/kit/judge/keys/sort_strings.h"

namespace keydrome::judge {
namespace {

template <typename Integer>
std::vector<uint32_t> sorted_numbers(const std::vector<Integer>& keys) {
  constexpr uint64_t kSign = uint64_t{1} << 63;
  std::vector<Note> notes, spare;
  notes.reserve(keys.size());
  for (const int64_t key : keys) {
    notes.push_back({.head = static_cast<uint64_t>(key) ^ kSign,
                     .number = static_cast<uint32_t>(notes.size())});
  }
  sort_notes(notes, spare);
  std::vector<uint32_t> numbers;
  numbers.reserve(notes.size());
  for (const Note& note : notes) numbers.push_back(note.number);
  return numbers;
}

std::vector<uint32_t> sorted_numbers(const script::Strings& keys) { return ascending(keys); }

// Sorts the keys. Sets rank_of[number] to the rank of key `number`, and entry[rank] to the number
// of one key with this rank.
template <typename Keys>
void rank_keys(const Keys& keys, std::vector<uint32_t>& rank_of, std::vector<uint32_t>& entry) {
  rank_of.resize(keys.size());
  for (const uint32_t number : sorted_numbers(keys)) {
    if (entry.empty() || keys[entry.back()] != keys[number]) entry.push_back(number);
    rank_of[number] = static_cast<uint32_t>(entry.size() - 1);
  }
}

// Searches from `near` upwards in steps that double, then between the last two steps.
template <typename Keys, typename Value>
std::optional<uint32_t> find_key(const Keys& keys, const std::vector<uint32_t>& entry,
                                 const Value& value, std::size_t near) {
  const auto is_less = [&](uint32_t number, const Value& wanted) { return keys[number] < wanted; };
  std::size_t first = 0, last = entry.size();
  if (near < last && !(value < keys[entry[near]])) {
    first = near;
    for (std::size_t step = 1; first + step < last; step *= 2) {
      if (!is_less(entry[first + step - 1], value)) {
        last = first + step;
        break;
      }
      first += step;
    }
  }
  const auto found =
      std::lower_bound(entry.begin() + static_cast<std::ptrdiff_t>(first),
                       entry.begin() + static_cast<std::ptrdiff_t>(last), value, is_less);
  if (found == entry.end() || keys[*found] != value) return std::nullopt;
  return static_cast<uint32_t>(found - entry.begin());
}

// Returns the integer key that these bytes contain. Returns nothing if the length is wrong.
template <typename Number>
std::optional<Number> number_of(std::string_view bytes) {
  Number number{};
  if (bytes.size() != sizeof number) return std::nullopt;
  std::memcpy(&number, bytes.data(), bytes.size());
  return number;
}

}  // namespace

KeyRanks::KeyRanks(const script::Pools& pools) : pools_(&pools) {
  in_parallel(3, [&](std::size_t type) {
    if (type == SHORT) rank_keys(pools.int32_keys, rank_of_[SHORT], entry_[SHORT]);
    if (type == INT) rank_keys(pools.int64_keys, rank_of_[INT], entry_[INT]);
    if (type == VARCHAR) rank_keys(pools.varchar_keys, rank_of_[VARCHAR], entry_[VARCHAR]);
  });
}

std::optional<uint32_t> KeyRanks::find(KeyType type, std::string_view bytes, uint32_t near) const {
  if (type == VARCHAR) return find_key(pools_->varchar_keys, entry_[VARCHAR], bytes, near);
  if (type == SHORT) {
    const std::optional<int32_t> number = number_of<int32_t>(bytes);
    return number ? find_key(pools_->int32_keys, entry_[SHORT], *number, near) : std::nullopt;
  }
  const std::optional<int64_t> number = number_of<int64_t>(bytes);
  return number ? find_key(pools_->int64_keys, entry_[INT], *number, near) : std::nullopt;
}

void KeyRanks::prefetch_key(KeyType type, uint32_t rank, uint32_t step) const {
  asm volatile("");  // without this, g++ 12 removes calls of this function as having no effect
  if (step == 0) return __builtin_prefetch(&entry_[type][rank]);
  const uint32_t number = entry_[type][rank];
  if (type == VARCHAR) {
    const uint64_t& offset = pools_->varchar_keys.offsets()[number];
    __builtin_prefetch(step == 1 ? static_cast<const void*>(&offset)
                                 : pools_->varchar_keys.bytes().data() + offset);
  } else if (step == 1) {
    __builtin_prefetch(bytes(type, rank).data());
  }
}

std::string_view KeyRanks::bytes(KeyType type, uint32_t rank) const {
  const uint32_t number = entry_[type][rank];
  if (type == VARCHAR) return pools_->varchar_keys[number];
  if (type == SHORT)
    return {reinterpret_cast<const char*>(&pools_->int32_keys[number]), sizeof(int32_t)};
  return {reinterpret_cast<const char*>(&pools_->int64_keys[number]), sizeof(int64_t)};
}

std::string KeyRanks::text_of(KeyType type, std::string_view bytes) {
  if (type == VARCHAR) return '"' + std::string(bytes) + '"';
  if (const std::optional<int32_t> narrow = number_of<int32_t>(bytes))
    return std::to_string(*narrow);
  return std::to_string(number_of<int64_t>(bytes).value_or(0));
}

}  // namespace keydrome::judge

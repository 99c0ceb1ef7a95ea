// Implements ascending(): sorts strings by eight bytes at a time, with a radix sort for large
// groups.
#include "benchmarks/kit/judge/sort_strings.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>

namespace keydrome::judge {
namespace {

constexpr std::size_t kHeadBytes = sizeof(uint64_t);
constexpr std::size_t kManyNotes = 20'000;  // smaller groups are sorted by comparison

// An entry to sort: the number of a string and eight bytes of the string.
struct Note {
  uint64_t head;  // eight bytes of the string, the first byte highest; zeros after its end
  uint32_t number;
};

uint64_t head_of(std::string_view text) {
  uint64_t bytes = 0;
  std::memcpy(&bytes, text.data(), std::min(text.size(), sizeof bytes));
  return __builtin_bswap64(bytes);
}

// Sorts the notes by their heads with a radix sort. Each pass is stable and sorts by eleven bits,
// beginning with the lowest. For a million notes, this is several times as fast as a comparison
// sort.
void sort_by_digits(std::span<Note> notes, std::vector<Note>& spare) {
  constexpr uint32_t kBits = 11, kDigits = 1 << kBits, kPasses = (64 + kBits - 1) / kBits;
  const auto digit = [](const Note& note, uint32_t pass) {
    return note.head >> pass * kBits & (kDigits - 1);
  };
  std::vector<std::array<uint32_t, kDigits>> ends(kPasses);
  for (const Note& note : notes) {
    for (uint32_t pass = 0; pass < kPasses; ++pass) ++ends[pass][digit(note, pass)];
  }
  spare.resize(notes.size());
  std::span<Note> from = notes, to = spare;
  for (uint32_t pass = 0; pass < kPasses; ++pass) {
    if (ends[pass][digit(from[0], pass)] == notes.size()) continue;  // all digits are equal
    std::array<uint32_t, kDigits>& next = ends[pass];
    std::exclusive_scan(next.begin(), next.end(), next.begin(), 0u);
    for (const Note& note : from) to[next[digit(note, pass)]++] = note;
    std::swap(from, to);
  }
  if (from.data() != notes.data()) std::copy(from.begin(), from.end(), notes.begin());
}

// Sorts strings by their bytes from position `from` on. REQUIRES: their first `from` bytes are
// equal, and each string has at least `from` bytes.
void sort_from(std::size_t from, std::span<Note> notes, const script::Strings& texts,
               std::vector<Note>& spare) {
  for (Note& note : notes) {
    const std::string_view text = texts[note.number];
    note.head = head_of(text.substr(std::min(from, text.size())));
  }
  if (notes.size() < kManyNotes) {
    std::ranges::sort(notes, {}, &Note::head);
  } else {
    sort_by_digits(notes, spare);
  }
  for (auto first = notes.begin(); first != notes.end();) {
    const uint64_t head = first->head;
    const auto last =
        std::find_if(first + 1, notes.end(), [&](const Note& note) { return note.head != head; });
    const bool equal = (head & 0xff) == 0;  // the strings end within these eight bytes
    if (last - first > 1 && !equal) sort_from(from + kHeadBytes, {first, last}, texts, spare);
    first = last;
  }
}

// Returns the length of the common prefix of all strings.
std::size_t common_bytes(const script::Strings& texts) {
  const std::string_view first = texts[0];
  std::size_t common = first.size();
  for (const std::string_view text : texts) {
    const auto end = std::ranges::mismatch(text.substr(0, common), first).in2;
    common = static_cast<std::size_t>(end - first.begin());
  }
  return common;
}

}  // namespace

std::vector<uint32_t> ascending(const script::Strings& texts) {
  if (texts.empty()) return {};
  std::vector<Note> notes, spare;
  notes.reserve(texts.size());
  for (uint32_t number = 0; number < texts.size(); ++number) {
    notes.push_back({.head = 0, .number = number});
  }
  sort_from(common_bytes(texts), notes, texts, spare);
  std::vector<uint32_t> numbers;
  numbers.reserve(notes.size());
  for (const Note& note : notes) numbers.push_back(note.number);
  return numbers;
}

}  // namespace keydrome::judge

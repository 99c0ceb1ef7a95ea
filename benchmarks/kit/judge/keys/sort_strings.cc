// Implements ascending(): sorts strings by eight bytes at a time.
#include "benchmarks/kit/judge/keys/sort_strings.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>

#include "benchmarks/kit/judge/keys/sort_notes.h"

namespace keydrome::judge {
namespace {

constexpr std::size_t kHeadBytes = sizeof(uint64_t);

uint64_t head_of(std::string_view text) {
  uint64_t bytes = 0;
  std::memcpy(&bytes, text.data(), std::min(text.size(), sizeof bytes));
  return __builtin_bswap64(bytes);
}

// Sorts strings by their bytes from position `from` on. REQUIRES: their first `from` bytes are
// equal, and each string has at least `from` bytes.
void sort_from(std::size_t from, std::span<Note> notes, const script::Strings& texts,
               std::vector<Note>& spare) {
  for (Note& note : notes) {
    const std::string_view text = texts[note.number];
    note.head = head_of(text.substr(std::min(from, text.size())));
  }
  sort_notes(notes, spare);
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

// Implements sort_notes(): sorts few notes by comparison and many notes digit by digit.
#include "benchmarks/kit/judge/keys/sort_notes.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <utility>

namespace keydrome::judge {
namespace {

constexpr std::size_t kManyNotes = 20'000;

// Each pass is stable and sorts by eleven bits, beginning with the lowest. For a million notes,
// this is several times as fast as a comparison sort.
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

}  // namespace

void sort_notes(std::span<Note> notes, std::vector<Note>& spare) {
  if (std::ranges::is_sorted(notes, {}, &Note::head)) return;
  if (notes.size() < kManyNotes) {
    std::ranges::sort(notes, {},
                      [](const Note& note) { return std::pair(note.head, note.number); });
  } else {
    sort_by_digits(notes, spare);
  }
}

}  // namespace keydrome::judge

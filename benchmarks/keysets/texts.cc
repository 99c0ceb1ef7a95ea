#include "benchmarks/keysets/texts.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <utility>

#include "base/check.h"

namespace keydrome::keysets {
namespace {

constexpr std::size_t kHeadBytes = sizeof(uint64_t);
constexpr std::size_t kManyNotes = 20'000;

}  // namespace

DistinctTexts::DistinctTexts(uint32_t count, std::size_t length_max, const TextSource& source,
                             Rng& rng)
    : length_max_(length_max) {
  KEYDROME_CHECK(length_max <= UINT16_MAX);
  drawn_.reserve(count * length_max);  // of addresses; memory is taken when it is written
  texts_.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    const std::size_t start = drawn_.size();
    source.stem(rng, drawn_);
    texts_.push_back(end_text(start, drawn_.size() - start, source, rng));
  }
  sort(texts_);
  std::erase_if(texts_, [](const Note& note) { return note.start == kTwice; });
  while (!twice_.empty()) {
    const std::vector<Note> others = draw_again(source, rng);
    merge(others);
  }
}

// The stem stands at the end of what is drawn; its tail is drawn.
DistinctTexts::Note DistinctTexts::end_text(std::size_t start, std::size_t stem,
                                            const TextSource& source, Rng& rng) {
  source.tail(rng, drawn_);
  drawn_.resize(std::min(drawn_.size(), start + length_max_));
  KEYDROME_CHECK(drawn_.size() > start && drawn_.size() < kTwice);
  return {.head = 0,
          .start = static_cast<uint32_t>(start),
          .length = static_cast<uint16_t>(drawn_.size() - start),
          .stem = static_cast<uint16_t>(std::min(stem, length_max_))};
}

// Texts that came a second time come to be in twice_; their notes stay where they are.
void DistinctTexts::sort(std::span<Note> notes) {
  if (notes.empty()) return;
  drawn_.append(kHeadBytes, '\0');  // so that a head can be read behind the last text
  const std::string_view first = text_of(notes.front());
  std::size_t common = first.size();
  for (const Note& note : notes) {
    const std::string_view text = text_of(note).substr(0, common);
    common = static_cast<std::size_t>(std::mismatch(text.begin(), text.end(), first.begin()).first -
                                      text.begin());
  }
  sort_from(common, notes);
}

// For texts that are alike before `from`, and have no end there.
void DistinctTexts::sort_from(std::size_t from, std::span<Note> notes) {
  for (Note& note : notes) note.head = head_of(note, from);
  if (notes.size() < kManyNotes) {
    std::sort(notes.begin(), notes.end(),
              [](const Note& a, const Note& b) { return a.head < b.head; });
  } else {
    sort_by_digits(notes);
  }
  for (auto first = notes.begin(); first != notes.end();) {
    const uint64_t head = first->head;
    const auto last =
        std::find_if(first + 1, notes.end(), [&](const Note& note) { return note.head != head; });
    const std::span<Note> equal(first, last);
    if (equal.size() > 1 && (head & 0xff) == 0) keep_one(equal);  // they end here
    if (equal.size() > 1 && (head & 0xff) != 0) sort_from(from + kHeadBytes, equal);
    first = last;
  }
}

// By the heads' bits, eleven at a time and the lowest first: each pass keeps what is equal as it
// was. Where there are a million, several times as fast as comparing.
void DistinctTexts::sort_by_digits(std::span<Note> notes) {
  constexpr uint32_t kBits = 11, kDigits = 1 << kBits, kPasses = (64 + kBits - 1) / kBits;
  const auto digit = [](const Note& note, uint32_t pass) {
    return note.head >> pass * kBits & (kDigits - 1);
  };
  std::vector<std::array<uint32_t, kDigits>> ends(kPasses);
  for (const Note& note : notes) {
    for (uint32_t pass = 0; pass < kPasses; ++pass) ++ends[pass][digit(note, pass)];
  }
  spare_.resize(notes.size());
  std::span<Note> from = notes, to = spare_;
  for (uint32_t pass = 0; pass < kPasses; ++pass) {
    if (ends[pass][digit(from[0], pass)] == notes.size()) continue;  // all alike
    std::array<uint32_t, kDigits>& next = ends[pass];
    std::exclusive_scan(next.begin(), next.end(), next.begin(), 0u);
    for (const Note& note : from) to[next[digit(note, pass)]++] = note;
    std::swap(from, to);
  }
  if (from.data() != notes.data()) std::copy(from.begin(), from.end(), notes.begin());
}

// The one that was drawn first, so that it does not depend on how texts are sorted.
void DistinctTexts::keep_one(std::span<Note> equal) {
  const auto first = std::min_element(
      equal.begin(), equal.end(), [](const Note& a, const Note& b) { return a.start < b.start; });
  for (auto note = equal.begin(); note != equal.end(); ++note) {
    if (note == first) continue;
    twice_.push_back(*note);
    note->start = kTwice;
  }
}

uint64_t DistinctTexts::head_of(const Note& note, std::size_t from) const {
  if (from >= note.length) return 0;
  uint64_t bytes = 0;
  std::memcpy(&bytes, drawn_.data() + note.start + from, sizeof bytes);
  const std::size_t left = note.length - from;
  const uint64_t head = __builtin_bswap64(bytes);
  return left >= kHeadBytes ? head : head & ~(UINT64_MAX >> 8 * left);
}

// What was drawn twice, each with another tail, in the order in which it was drawn.
std::vector<DistinctTexts::Note> DistinctTexts::draw_again(const TextSource& source, Rng& rng) {
  std::vector<Note> notes = std::move(twice_);
  twice_.clear();
  std::sort(notes.begin(), notes.end(),
            [](const Note& a, const Note& b) { return a.start < b.start; });
  for (Note& note : notes) {
    const std::size_t start = drawn_.size();
    drawn_.append(drawn_, note.start, note.stem);
    note = end_text(start, note.stem, source, rng);
  }
  sort(notes);
  std::erase_if(notes, [](const Note& note) { return note.start == kTwice; });
  return notes;
}

// Few into many: each looks for its place, and only those at the places' ends are looked at.
void DistinctTexts::merge(std::span<const Note> sorted) {
  std::vector<Note>& merged = spare_;
  merged.clear();
  merged.reserve(texts_.capacity());
  auto from = texts_.begin();
  for (const Note& note : sorted) {
    const auto place = std::lower_bound(
        from, texts_.end(), text_of(note),
        [this](const Note& other, std::string_view text) { return text_of(other) < text; });
    merged.insert(merged.end(), from, place);
    from = place;
    const bool is_new = place == texts_.end() || text_of(*place) != text_of(note);
    (is_new ? merged : twice_).push_back(note);
  }
  merged.insert(merged.end(), from, texts_.end());
  texts_.swap(merged);
}

}  // namespace keydrome::keysets

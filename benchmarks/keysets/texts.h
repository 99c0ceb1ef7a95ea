// Millions of different texts in ascending order: what takes longest when a set of strings is made.
//
// All texts that are drawn stand behind one another; what is sorted are notes of 16 bytes, by the
// first eight bytes in which the texts differ, and by the next eight where these are equal. So a
// text is looked at once in eight bytes and not in each comparison, which would be a cache miss,
// and the same notes that lie side by side show which texts were drawn twice.
//
// Not thread-safe; referee only, never inside the clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/kit/rng.h"

namespace keydrome::keysets {

// A text is a stem and a tail, each of which is appended to what is there; together at least one
// byte and none of them zero. Of a text that was drawn already only the tail is drawn again, so
// that rare texts do not change how often a stem comes.
struct TextSource {
  std::function<void(Rng&, std::string&)> stem, tail;
};

class DistinctTexts {
 public:
  // `count` texts, cut at `length_max` < 64 KiB. Together they are shorter than 4 GiB, and the
  // source has many more than `count`, or this takes long.
  DistinctTexts(uint32_t count, std::size_t length_max, const TextSource& source, Rng& rng);

  // In ascending order, as std::string_view compares.
  std::size_t size() const { return texts_.size(); }
  std::size_t bytes_max() const { return drawn_.size(); }  // of all together
  std::string_view operator[](std::size_t place) const { return text_of(texts_[place]); }

 private:
  // Drawn texts are known by where they start: the earlier, the lower.
  struct Note {
    uint64_t head;   // eight bytes of the text, the first of them highest; zeros behind its end
    uint32_t start;  // kTwice: drawn already, and noted in twice_
    uint16_t length, stem;
  };
  static constexpr uint32_t kTwice = UINT32_MAX;

  std::string_view text_of(const Note& note) const {
    return std::string_view(drawn_).substr(note.start, note.length);
  }
  Note end_text(std::size_t start, std::size_t stem, const TextSource& source, Rng& rng);
  void sort(std::span<Note> notes);
  void sort_from(std::size_t from, std::span<Note> notes);
  void sort_by_digits(std::span<Note> notes);
  void keep_one(std::span<Note> equal);
  uint64_t head_of(const Note& note, std::size_t from) const;
  std::vector<Note> draw_again(const TextSource& source, Rng& rng);
  void merge(std::span<const Note> sorted);

  std::size_t length_max_;
  std::string drawn_;
  std::vector<Note> texts_;  // sorted
  std::vector<Note> spare_;  // while they are sorted or merged
  std::vector<Note> twice_;
};

}  // namespace keydrome::keysets

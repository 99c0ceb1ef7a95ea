// Implements PhaseWatch, which tracks the progress of the threads of a phase. It samples the
// outcome, a memfd into which the threads write words (results of calls) and positions (numbers of
// the current operations).
#include "harness/referee/hang/phase_watch.h"

#include <cstring>
#include <utility>

#include "benchmarks/kit/format/outcome.h"
#include "benchmarks/kit/script/word_follower.h"
#include "harness/calls.h"

namespace keydrome {

PhaseWatch::PhaseWatch(const script::OutcomeLayout& layout, std::span<const std::byte> image,
                       std::span<const std::byte> slots)
    : header_(layout.header),
      image_(image),
      slots_(slots),
      threads_(layout.header.threads, ThreadProgress{}) {}

template <typename Value>
Value PhaseWatch::read(std::size_t thread, std::size_t offset) const {
  Value value{};
  std::memcpy(
      &value,
      image_.data() + header_.thread_offset + thread * sizeof(format::ThreadOutcome) + offset,
      sizeof value);
  return value;
}

uint64_t PhaseWatch::word(std::size_t thread, uint64_t number) const {
  uint64_t value = 0;
  std::memcpy(&value, image_.data() + header_.spans[thread].words_offset + number * sizeof value,
              sizeof value);
  return value;
}

// Finds, by bisection, a word that is 0, and that is the first word or follows a word that is not
// 0. Returns its index, or the capacity if it finds no such word. Usually this is the end of the
// words. Procedures (small programs in an operation) may write words that are 0, so there may be
// several such places. As long as the thread writes nothing, all samples find the same place, so
// the result still shows whether the thread makes progress.
uint64_t PhaseWatch::end_of_words(std::size_t thread) const {
  uint64_t low = 0, high = header_.spans[thread].words_capacity;
  while (low < high) {
    const uint64_t middle = low + (high - low) / 2;
    word(thread, middle) == 0 ? high = middle : low = middle + 1;
  }
  return low;
}

void PhaseWatch::sample(uint64_t now_ns) {
  for (std::size_t t = 0; t < threads_.size(); ++t) {
    ThreadProgress& thread = threads_[t];
    const auto position = read<uint64_t>(t, offsetof(format::ThreadOutcome, position));
    const uint64_t words = end_of_words(t);
    if (thread.since_ns != 0 && thread.position == position && thread.words == words) continue;
    thread = {.position = position,
              .words = words,
              .since_ns = now_ns,
              .advanced_ns = thread.since_ns == 0 ? 0 : now_ns};
  }
}

// If the position is kInWords, the thread's words show which operation the thread has reached. The
// used words end with the last word that is not 0. Words before that word may be 0, too; the words
// after it are unused.
uint64_t PhaseWatch::reached(std::size_t number, std::span<const format::Op> ops) const {
  const uint64_t position = threads_[number].position;
  if ((position & format::kInWords) == 0) return position;
  uint64_t count = header_.spans[number].words_capacity;
  while (count > 0 && word(number, count - 1) == 0) --count;
  std::vector<uint64_t> words(count);
  for (uint64_t i = 0; i < count; ++i) words[i] = word(number, i);
  return script::reached_op(ops, std::move(words));
}

uint32_t PhaseWatch::thread_id(std::size_t number) const {
  if (!slots_.empty()) {
    uint32_t id = 0;
    std::memcpy(&id, slots_.data() + number * sizeof(CallSlot) + offsetof(CallSlot, thread_id),
                sizeof id);
    return id;
  }
  return read<uint32_t>(number, offsetof(format::ThreadOutcome, thread_id));
}

}  // namespace keydrome

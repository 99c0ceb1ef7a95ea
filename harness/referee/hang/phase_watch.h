// Tracks how far the threads of a running phase are, and since when each thread has made no
// progress.
//
// The player, the jailed process with the library under test, writes its results into the outcome,
// a memfd. A result of a call is a word of 8 bytes. A thread also writes its position (the number
// of its current operation) if the words do not show the position. The referee, the trusted process
// that runs the benchmark, reads both while the phase runs. The library could forge positions and
// words. So they only help to explain a hang, with one exception. An instance (parameter set of a
// benchmark) may be advisory, i.e. its failed checks are only warnings. There, positions and words
// also decide whether a crash or hang is more than a warning.
//
// A thread's words are usually not 0, and unused words are 0. So a sample finds the end of the
// words by bisection, in about 25 reads for each thread. Few of these reads are near the end, where
// the player writes. Only these few can slow down the player, because they take a cache line from
// its CPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "benchmarks/kit/script/outcome_layout.h"

namespace keydrome {

class PhaseWatch {
 public:
  struct ThreadProgress {
    uint64_t position = 0;  // ThreadOutcome::position
    uint64_t words = 0;     // number of words, as far as bisection can tell
    uint64_t since_ns = 0;  // time of the first sample with these values of position and words
    // Time of the last sample whose values differed from those of the sample before; 0: there was
    // none, so the thread was not seen to advance.
    uint64_t advanced_ns = 0;
  };

  // Borrows the memory of `image` and `slots`. `image` is the outcome memfd. In verified mode, a
  // process outside the jail (sandbox) decides on the calls and sends them to the player through
  // call slots in shared memory (harness/calls.h). `slots` is this memory, which contains the
  // thread ids.
  PhaseWatch(const script::OutcomeLayout& layout, std::span<const std::byte> image,
             std::span<const std::byte> slots = {});

  void sample(uint64_t now_ns);
  std::size_t threads() const { return threads_.size(); }
  // The state at the last sample.
  const ThreadProgress& thread(std::size_t number) const { return threads_[number]; }
  // Returns the number of the operation that the thread had reached at the last sample, in the form
  // that program_position() expects. `ops` is the thread's program (its list of operations).
  uint64_t reached(std::size_t number, std::span<const format::Op> ops) const;
  // Returns the id of the jailed thread that calls the library for thread `number`. The id is the
  // one that gettid() returns inside the jail.
  uint32_t thread_id(std::size_t number) const;

 private:
  template <typename Value>
  Value read(std::size_t thread, std::size_t offset) const;
  uint64_t word(std::size_t thread, uint64_t number) const;
  uint64_t end_of_words(std::size_t thread) const;

  const format::OutcomeHeader header_;
  std::span<const std::byte> image_;
  std::span<const std::byte> slots_;
  std::vector<ThreadProgress> threads_;
};

}  // namespace keydrome

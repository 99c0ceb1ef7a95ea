// Tracks how far the threads of a running phase are, and since when each thread has made no
// progress.
//
// The referee reads the counters in the outcome memfd while the jailed player writes them. The
// library could forge the counters, so they only help to explain a hang and never decide a verdict.
// For each thread, a sample reads two counters in different cache lines. Each read can take a cache
// line from the player's CPU, so a sample costs each thread at most two cache misses.
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
    uint64_t progress = 0;  // ThreadOutcome::progress_op
    uint64_t words = 0;     // ThreadOutcome::words
    uint64_t since_ns = 0;  // time of the first sample with these values of progress and words
  };

  // Borrows the memory of `image` and `slots`. `image` is the outcome memfd. In verified mode,
  // `slots` is the memory of the call slots (harness/calls.h), which contain the thread ids.
  PhaseWatch(const script::OutcomeLayout& layout, std::span<const std::byte> image,
             std::span<const std::byte> slots = {});

  void sample(uint64_t now_ns);
  std::size_t threads() const { return threads_.size(); }
  // The state at the last sample.
  const ThreadProgress& thread(std::size_t number) const { return threads_[number]; }
  // Returns the id of the jailed thread that calls the library for thread `number`. The id is the
  // one that gettid() returns inside the jail.
  uint32_t thread_id(std::size_t number) const;

 private:
  template <typename Value>
  Value read(std::size_t thread, std::size_t offset) const;

  std::span<const std::byte> image_;
  std::span<const std::byte> slots_;
  uint64_t thread_offset_;
  std::vector<ThreadProgress> threads_;
};

}  // namespace keydrome

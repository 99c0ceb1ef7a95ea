// How far the threads of a phase are while it runs, and for how long they have not moved.
//
// Reads the outcome memfd that the player writes: the numbers are the player's word. Cost: a look
// reads two numbers a thread; nothing is written, so the player pays at most a cache miss.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "benchmarks/kit/outcome_layout.h"

namespace keydrome {

class PhaseWatch {
 public:
  struct Stand {
    uint64_t progress = 0;  // ThreadOutcome::progress_op
    uint64_t calls = 0;
    uint64_t since_ns = 0;  // of the first look that saw both
  };

  // Borrows the image, and in verified mode the slots, where the library's threads say who they
  // are.
  PhaseWatch(const OutcomeLayout& layout, std::span<const std::byte> image,
             std::span<const std::byte> slots = {});

  void look(uint64_t now_ns);
  std::size_t threads() const { return stands_.size(); }
  const Stand& stand(std::size_t thread) const { return stands_[thread]; }
  // gettid() of the thread, in the jail.
  uint32_t thread_id(std::size_t thread) const;

 private:
  template <typename Value>
  Value read(std::size_t thread, std::size_t offset) const;

  std::span<const std::byte> image_;
  std::span<const std::byte> slots_;
  uint64_t thread_offset_;
  std::vector<Stand> stands_;
};

}  // namespace keydrome

// Memory that the referee passes into the jail: sealed inputs, which no process can modify, and
// shared regions, which no process can resize.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <span>

#include "base/result.h"
#include "base/unique_fd.h"

namespace keydrome {

// Returns a memfd with a copy of `bytes`, sealed against writing, growing and shrinking.
Result<UniqueFd> sealed_input(std::span<const std::byte> bytes);

// A zeroed memfd of fixed size that the referee and a child process map. create() touches all
// pages, so the kernel charges them to the referee's cgroup, and the player need not allocate them
// while its time is measured.
class SharedRegion {
 public:
  static Result<SharedRegion> create(size_t bytes);
  SharedRegion(SharedRegion&& other) noexcept;
  SharedRegion& operator=(SharedRegion&&) = delete;
  ~SharedRegion();

  int fd() const { return fd_.get(); }
  // The child process may write at any time. Callers must copy the bytes first and then check the
  // copy.
  std::span<std::byte> bytes() const { return {static_cast<std::byte*>(memory_), size_}; }

 private:
  SharedRegion(UniqueFd fd, void* memory, size_t size);

  UniqueFd fd_;
  void* memory_;
  size_t size_;
};

}  // namespace keydrome

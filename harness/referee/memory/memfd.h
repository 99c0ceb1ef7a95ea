// Memory that the referee shares with a child process: memfds that no process can resize. The child
// may write to some of them, and may only read others. The referee is the trusted process that runs
// a benchmark; a child may be the player, the untrusted process with the library under test.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "base/unique_fd.h"

namespace keydrome {

// A zeroed memfd of fixed size that the referee and a child process map. create() touches its first
// pages, which are those that timed phases use. So the kernel charges them to the referee's cgroup,
// and allocates none of them while the player's time is measured. All later pages are the *rest*,
// which has no memory until touch_rest(). If a child writes to the rest earlier, the kernel charges
// the pages to the child's cgroup.
class SharedRegion {
 public:
  // What other processes may do with the memfd.
  enum class Others { kReadOnly, kMayWrite };

  // Creates at least `bytes` bytes, in whole pages. The rest begins with the first whole page after
  // `touched` bytes, if there is one. Throws std::bad_alloc if the referee has reached the bound of
  // its memory.
  static Result<SharedRegion> create(size_t bytes, Others others = Others::kMayWrite,
                                     size_t touched = SIZE_MAX);
  SharedRegion(SharedRegion&& other) noexcept;
  SharedRegion& operator=(SharedRegion&&) = delete;
  ~SharedRegion();

  int fd() const { return fd_.get(); }
  // With kMayWrite, the child process may write at any time. Callers must then copy the bytes
  // first, and check the copy.
  std::span<std::byte> bytes() const { return {static_cast<std::byte*>(memory_), size_}; }

  std::span<std::byte> before_rest() const { return bytes().first(rest_); }

  // Frees the memory of the rest. The bytes of the rest are zero afterwards.
  Result<void> empty_rest();
  // Touches the pages of the rest.
  Result<void> touch_rest();

 private:
  SharedRegion(UniqueFd fd, void* memory, size_t size, size_t rest);

  UniqueFd fd_;
  void* memory_;
  size_t size_;
  size_t rest_;  // where the rest begins
};

}  // namespace keydrome

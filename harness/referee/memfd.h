// Anonymous files that cross into the jail: inputs that nobody can change any more, and outcomes
// that nobody can resize.
//
// Thread safety: values.
#pragma once

#include <cstddef>
#include <span>

#include "base/result.h"
#include "harness/unique_fd.h"

namespace keydrome {

// A memfd with a copy of `bytes`, sealed against writing, growing and shrinking.
Result<UniqueFd> sealed_input(std::span<const std::byte> bytes);

// A zeroed memfd of fixed size that both sides map. Its pages are touched here, so that they are
// charged to the referee and cost the player nothing inside the clock.
class SharedRegion {
 public:
  static Result<SharedRegion> create(size_t bytes);
  SharedRegion(SharedRegion&& other) noexcept;
  SharedRegion& operator=(SharedRegion&&) = delete;
  ~SharedRegion();

  int fd() const { return fd_.get(); }
  // The other side may write at any time: copy out once, then check the copy.
  std::span<std::byte> bytes() const { return {static_cast<std::byte*>(memory_), size_}; }

 private:
  SharedRegion(UniqueFd fd, void* memory, size_t size);

  UniqueFd fd_;
  void* memory_;
  size_t size_;
};

}  // namespace keydrome

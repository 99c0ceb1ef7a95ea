// Maps a memfd of the referee, the process that runs the benchmark, into this process until the
// object is destroyed. This process is the player, which runs the library in the jail (sandbox), or
// the driver, which plays the operations outside the jail in verified mode.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

namespace keydrome {

class Mapping {
 public:
  // kRead maps the file read-only. If the file is sealed, this mapping cannot be made writable.
  // kShare maps the file writable. Both mappings show changes by other processes.
  enum class Access { kRead, kShare };

  Mapping() = default;
  // Maps the whole file, and loads its pages up to the first that has no memory. After an error
  // bytes() is empty.
  Mapping(int fd, Access access);
  Mapping(Mapping&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Mapping();

  std::span<std::byte> bytes() const { return bytes_; }

  // Forbids every later change of the mapping (mseal), so that the library cannot unmap it or map
  // other memory in its place. The mapping then stays until the process ends. Does nothing before
  // Linux 6.10.
  void seal() const;

 private:
  std::span<std::byte> bytes_;
};

}  // namespace keydrome

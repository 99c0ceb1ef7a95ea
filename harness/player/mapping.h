// A memfd mapped into the player for as long as the object lives.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

namespace keydrome {

class Mapping {
 public:
  enum class Access { kRead, kShare };  // private and read-only, or shared and writable

  Mapping() = default;
  // Maps the whole file with all its pages present; empty when that fails.
  Mapping(int fd, Access access);
  Mapping(Mapping&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Mapping();

  std::span<std::byte> bytes() const { return bytes_; }

 private:
  std::span<std::byte> bytes_;
};

}  // namespace keydrome

// MappedArray: an array of zeros in memory from mmap, so that it never uses memory of malloc.
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <type_traits>
#include <utility>

namespace keydrome::bench {

// Ends the process if there is no memory. Not thread-safe, except for concurrent reads.
template <class T>
class MappedArray {
  static_assert(std::is_trivial_v<T>);

 public:
  explicit MappedArray(uint64_t count) : bytes_((count + 1) * sizeof(T)) {
    void* memory =
        mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
      std::fprintf(stderr,
                   "structure_bench: the system cannot provide %llu bytes of memory; give smaller "
                   "numbers to --counts or --operations\n",
                   static_cast<unsigned long long>(bytes_));
      std::exit(2);
    }
    data_ = static_cast<T*>(memory);
  }
  MappedArray(MappedArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}
  MappedArray& operator=(MappedArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  MappedArray(const MappedArray&) = delete;
  MappedArray& operator=(const MappedArray&) = delete;
  ~MappedArray() {
    if (data_ != nullptr) munmap(data_, bytes_);
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](uint64_t index) { return data_[index]; }
  const T& operator[](uint64_t index) const { return data_[index]; }

 private:
  T* data_ = nullptr;
  uint64_t bytes_;
};

}  // namespace keydrome::bench

// Stores the beginning and the end of a stream, such as the output of a library, in a bounded
// number of bytes.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace keydrome {

class OutputCapture {
 public:
  // Stores up to `limit_bytes` bytes: one half from the beginning, the other half from the end.
  explicit OutputCapture(size_t limit_bytes);

  void append(std::span<const char> bytes);

  bool truncated() const { return total_ > head_.size() + tail_.size(); }
  // Returns the stored bytes. If bytes are missing, a line in the middle states how many. Each NUL
  // byte becomes '?', because PostgreSQL does not store NUL in text. The text may contain
  // invalid UTF-8; Json replaces the invalid bytes.
  std::string text() const;

 private:
  size_t head_limit_;
  size_t tail_limit_;
  size_t total_ = 0;
  std::string head_;
  std::string tail_;      // becomes a ring buffer when it is full
  size_t tail_next_ = 0;  // position of the ring's oldest byte
};

}  // namespace keydrome

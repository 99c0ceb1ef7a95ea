// Keeps the head and the tail of a stream of unlimited length within a fixed number of bytes.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace keydrome {

class OutputCapture {
 public:
  // `limit_bytes` is kept in all, half of it from the beginning and half from the end.
  explicit OutputCapture(size_t limit_bytes);

  void append(std::span<const char> bytes);

  bool truncated() const { return total_ > head_.size() + tail_.size(); }
  // What was kept, with a line in the middle that says how much is missing. NUL bytes, which no
  // database takes, are replaced by '?'. May hold invalid UTF-8; Json replaces it.
  std::string text() const;

 private:
  size_t head_limit_;
  size_t tail_limit_;
  size_t total_ = 0;
  std::string head_;
  std::string tail_;      // a ring once it is full
  size_t tail_next_ = 0;  // where the ring's oldest byte is
};

}  // namespace keydrome

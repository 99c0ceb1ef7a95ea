// Implements OutputCapture: stores the beginning of a stream, such as the output of a library, in a
// string, and the end in a ring buffer.
#include "harness/referee/processes/output_capture.h"

#include <algorithm>

namespace keydrome {

OutputCapture::OutputCapture(size_t limit_bytes)
    : head_limit_(limit_bytes / 2), tail_limit_(limit_bytes - limit_bytes / 2) {}

void OutputCapture::append(std::span<const char> bytes) {
  total_ += bytes.size();
  const size_t to_head = std::min(bytes.size(), head_limit_ - head_.size());
  head_.append(bytes.data(), to_head);
  bytes = bytes.subspan(to_head);
  // Skip bytes that later bytes of this call would overwrite in the ring.
  if (bytes.size() > tail_limit_) bytes = bytes.last(tail_limit_);
  for (const char byte : bytes) {
    if (tail_.size() < tail_limit_) {
      tail_.push_back(byte);
    } else {
      tail_[tail_next_] = byte;
      tail_next_ = (tail_next_ + 1) % tail_limit_;
    }
  }
}

std::string OutputCapture::text() const {
  std::string text = head_;
  if (truncated()) {
    const size_t missing = total_ - head_.size() - tail_.size();
    text += "\n[... " + std::to_string(missing) + " bytes left out ...]\n";
  }
  text.append(tail_, tail_next_);
  text.append(tail_, 0, tail_next_);
  std::replace(text.begin(), text.end(), '\0', '?');
  return text;
}

}  // namespace keydrome

// Implements UndoLog, the changes that a transaction can roll back. The log is an array of bytes,
// which contains key, payload and footer of each change.
#include "runtime/content/undo_log.h"

#include <algorithm>
#include <cstring>

namespace keydrome::runtime {

void UndoLog::reserve(size_t bytes) {
  const size_t needed = bytes_.size() + bytes;
  if (needed > bytes_.capacity()) bytes_.reserve(std::max(needed, 2 * bytes_.capacity()));
}

void UndoLog::append(const Change& change) {
  const Footer footer{change.index, static_cast<uint16_t>(change.key.size),
                      static_cast<uint16_t>(change.payload.size), change.inserted};
  const auto add = [this](const void* data, size_t size) {
    const auto* bytes = static_cast<const uint8_t*>(data);
    bytes_.insert(bytes_.end(), bytes, bytes + size);
  };
  add(change.key.data, change.key.size);
  add(change.payload.data, change.payload.size);
  add(&footer, sizeof footer);
}

UndoLog::Footer UndoLog::newest_footer() const {
  Footer footer;
  std::memcpy(&footer, bytes_.data() + bytes_.size() - sizeof footer, sizeof footer);
  return footer;
}

Change UndoLog::newest() const {
  const Footer footer = newest_footer();
  const uint8_t* payload = bytes_.data() + bytes_.size() - sizeof footer - footer.payload_size;
  const uint8_t* key = payload - footer.key_size;
  return {footer.index, footer.inserted, {key, footer.key_size}, {payload, footer.payload_size}};
}

void UndoLog::drop_newest() {
  const Footer footer = newest_footer();
  const size_t size = sizeof footer + footer.payload_size + footer.key_size;
  bytes_.erase(bytes_.end() - static_cast<std::ptrdiff_t>(size), bytes_.end());
}

void UndoLog::clear() {
  bytes_.clear();
  // `bytes_ = {}` would assign an empty list and keep the memory.
  if (bytes_.capacity() > kKeepBytes) bytes_ = std::vector<uint8_t>();
}

}  // namespace keydrome::runtime

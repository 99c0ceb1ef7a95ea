// Implements ReadLog, the reads of one transaction in one index. The log is an array of bytes. It
// contains a header and up to two bounds (places in the index) for each step of a read.
#include "runtime/content/read_log.h"

#include <algorithm>
#include <cstring>

namespace keydrome::runtime {

namespace {

constexpr uint8_t kAfter = 1;
constexpr uint8_t kHasPayload = 2;

uint8_t flags_of(const Bound& bound) {
  return static_cast<uint8_t>((bound.after ? kAfter : 0) |
                              (bound.payload.data != nullptr ? kHasPayload : 0));
}

}  // namespace

bool ReadLog::continues(const Bound& from) const {
  if (!has_last_pair_ || !from.after || from.payload.data == nullptr) return false;
  const uint8_t* key = bytes_.data() + last_pair_;
  return equal(from.key, {key, last_key_size_}) &&
         equal(from.payload, {key + last_key_size_, last_payload_size_});
}

void ReadLog::append(KeydromeBytes bytes) {
  const auto* data = static_cast<const uint8_t*>(bytes.data);
  if (bytes.size > 0) bytes_.insert(bytes_.end(), data, data + bytes.size);
}

void ReadLog::add(const Bound& from, Step::Outcome outcome, const Bound& to) {
  Header header{};
  header.outcome = outcome;
  header.continues = continues(from);
  if (!header.continues) {
    header.from_flags = flags_of(from);
    header.from_key_size = static_cast<uint8_t>(from.key.size);
    header.from_payload_size = static_cast<uint8_t>(from.payload.size);
  }
  if (outcome != Step::Outcome::kNone) {
    header.to_flags = flags_of(to);
    header.to_key_size = static_cast<uint8_t>(to.key.size);
    header.to_payload_size = static_cast<uint8_t>(to.payload.size);
  }
  constexpr size_t kMost =
      sizeof(Header) + 2 * (KEYDROME_KEY_BYTES_MAX + KEYDROME_PAYLOAD_BYTES_MAX);
  if (bytes_.capacity() - bytes_.size() < kMost) {
    bytes_.reserve(std::max(bytes_.size() + kMost, 2 * bytes_.capacity()));
  }
  append({&header, sizeof header});
  if (!header.continues) {
    append(from.key);
    append(from.payload);
  }
  last_pair_ = bytes_.size();
  if (outcome != Step::Outcome::kNone) {
    append(to.key);
    append(to.payload);
  }
  has_last_pair_ = outcome == Step::Outcome::kPair;
  last_key_size_ = header.to_key_size;
  last_payload_size_ = header.to_payload_size;
}

void ReadLog::clear() {
  bytes_.clear();
  has_last_pair_ = false;
  // `bytes_ = {}` would assign an empty list and keep the memory.
  if (bytes_.capacity() > kKeepBytes) bytes_ = std::vector<uint8_t>();
}

Bound ReadLog::Reader::read_bound(uint8_t flags, uint8_t key_size, uint8_t payload_size) {
  Bound bound{{at_, key_size}, kAnyPayload, (flags & kAfter) != 0};
  at_ += key_size;
  if ((flags & kHasPayload) != 0) bound.payload = {at_, payload_size};
  at_ += payload_size;
  return bound;
}

bool ReadLog::Reader::next(Step& step) {
  if (at_ == end_) return false;
  Header header;
  std::memcpy(&header, at_, sizeof header);
  at_ += sizeof header;
  step.outcome = header.outcome;
  step.continues = header.continues;
  if (header.continues) {
    step.from = last_pair_;
    step.from.after = true;
  } else {
    step.from = read_bound(header.from_flags, header.from_key_size, header.from_payload_size);
  }
  if (header.outcome != Step::Outcome::kNone) {
    step.to = read_bound(header.to_flags, header.to_key_size, header.to_payload_size);
  }
  if (header.outcome == Step::Outcome::kPair) last_pair_ = step.to;
  return true;
}

}  // namespace keydrome::runtime

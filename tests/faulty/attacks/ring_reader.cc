// Implements ring_reader.h: finds the ring, the memory through which the operations arrive, and
// follows its gets.
#include "tests/faulty/attacks/ring_reader.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace attacks {
namespace {

using keydrome::RingHeader;
using keydrome::format::Op;
using keydrome::format::OpCode;
using keydrome::format::PieceHeader;

constexpr uintptr_t kPageBytes = 4096;
constexpr uintptr_t kDistance = uintptr_t{256} << 20;  // the player's mappings are near the code
constexpr uint64_t kRingBytesMax = uint64_t{1} << 30;
constexpr int kFirstGets = 64;

// Returns true if the page can be read: the kernel reads the set of signals before it refuses the
// first argument.
bool is_readable(uintptr_t page) {
  constexpr int kNoSuchHow = 77;
  errno = 0;
  syscall(SYS_rt_sigprocmask, kNoSuchHow, page, nullptr, sizeof(uint64_t));
  return errno != EFAULT;
}

bool looks_like_ring(uintptr_t page) {
  const auto* ring = reinterpret_cast<const RingHeader*>(page);
  if (ring->version != keydrome::format::kProgramVersion || ring->threads != 1) return false;
  const keydrome::RingThread& only = ring->thread[0];
  const uint64_t first = only.half_offset[0], second = only.half_offset[1];
  if (first < sizeof(RingHeader) || second < first + only.half_bytes || second > kRingBytesMax)
    return false;
  return only.half_bytes >= sizeof(PieceHeader) && is_readable((page + first) & ~(kPageBytes - 1));
}

}  // namespace

bool RingReader::find_ring() {
  const uintptr_t here = reinterpret_cast<uintptr_t>(&is_readable) & ~(kPageBytes - 1);
  for (uintptr_t page = here - kDistance; page < here + kDistance; page += kPageBytes) {
    if (!is_readable(page) || !is_readable(page + sizeof(RingHeader)) || !looks_like_ring(page))
      continue;
    ring_ = reinterpret_cast<const RingHeader*>(page);
    return true;
  }
  return false;
}

const PieceHeader* RingReader::piece(uint32_t number) const {
  const keydrome::RingThread& only = ring_->thread[0];
  if (only.filled.load(std::memory_order_acquire) <= number) return nullptr;
  const auto* bytes = reinterpret_cast<const std::byte*>(ring_) + only.half_offset[number % 2];
  return reinterpret_cast<const PieceHeader*>(bytes);
}

bool RingReader::enter(uint32_t number) {
  const PieceHeader* piece = this->piece(number);
  if (piece == nullptr) return false;
  const auto* base = reinterpret_cast<const std::byte*>(piece);
  number_ = number;
  ops_ = reinterpret_cast<const Op*>(base + piece->op_offset);
  keys_ = reinterpret_cast<const int64_t*>(base + piece->int64_offset);
  key_count_ = piece->int64_count;
  op_ = 0;
  count_ = piece->op_count;
  while (count_ > 0 && ops_[count_ - 1].code != OpCode::kGet) --count_;
  is_last_ = piece->last != 0;
  return true;
}

bool RingReader::next(NextGet& get) {
  if (ring_ == nullptr || (ops_ == nullptr && !enter(0))) return false;
  do {
    while (op_ < count_ && ops_[op_].code != OpCode::kGet) ++op_;
    if (op_ < count_) {
      const Op& op = ops_[op_++];
      get = {op.key < key_count_ ? keys_[op.key] : -1, &op};
      return true;
    }
  } while (!is_last_ && enter(number_ + 1));
  return false;
}

bool RingReader::expect(int64_t key, NextGet& get) {
  if (ring_ == nullptr) return false;
  const RingReader before = *this;
  if (next(get) && get.key == key) return true;
  *this = before;
  return restart_at(key, get);
}

bool RingReader::restart_at(int64_t key, NextGet& get) {
  // The ring has two halves. Once a third piece has arrived, half 0 no longer contains the first
  // piece.
  constexpr uint32_t kPiecesInRing = 2;
  if (ring_->thread[0].filled.load(std::memory_order_acquire) > kPiecesInRing) return false;
  const RingReader before = *this;
  if (!enter(0)) return false;
  for (int i = 0; i < kFirstGets; ++i) {
    if (!next(get)) break;
    if (get.key == key) return true;
  }
  *this = before;
  return false;
}

}  // namespace attacks

// Implements InputRing: lays out the ring, the memory through which the player (the jailed process
// with the library) gets its operations. Copies the operations into the ring in portions, called
// pieces.
#include "harness/referee/memory/input_ring.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <cstring>

#include "base/check.h"

namespace keydrome {
namespace {

constexpr uint64_t kPageBytes = 4096;

uint64_t whole_pages(uint64_t bytes) { return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes; }

}  // namespace

Result<InputRing> InputRing::create(uint64_t session_bytes, std::span<const uint64_t> half_bytes) {
  KEYDROME_CHECK(half_bytes.size() <= format::kThreadsMax);
  const uint64_t session_offset = whole_pages(sizeof(RingHeader));
  uint64_t size = session_offset + whole_pages(session_bytes);
  for (const uint64_t bytes : half_bytes) size += 2 * whole_pages(bytes);
  Result<SharedRegion> region = SharedRegion::create(size, SharedRegion::Others::kReadOnly);
  if (!region) return region.error();
  InputRing ring(std::move(*region));
  RingHeader& header = ring.header();
  header.version = format::kProgramVersion;
  header.threads = static_cast<uint32_t>(half_bytes.size());
  header.session_offset = session_offset;
  header.session_bytes = session_bytes;
  uint64_t offset = session_offset + whole_pages(session_bytes);
  for (std::size_t t = 0; t < half_bytes.size(); ++t) {
    header.thread[t].half_bytes = whole_pages(half_bytes[t]);
    for (uint64_t& half : header.thread[t].half_offset) {
      half = offset;
      offset += header.thread[t].half_bytes;
    }
  }
  return ring;
}

void InputRing::write_session(std::span<const std::byte> image) {
  KEYDROME_CHECK(image.size() == header().session_bytes);
  std::memcpy(region_.bytes().data() + header().session_offset, image.data(), image.size());
}

void InputRing::clear() {
  for (uint32_t t = 0; t < header().threads; ++t)
    header().thread[t].filled.store(0, std::memory_order_relaxed);
}

void InputRing::publish(uint32_t thread, std::span<const std::byte> piece) {
  RingThread& to = header().thread[thread];
  const uint32_t filled = to.filled.load(std::memory_order_relaxed);
  KEYDROME_CHECK(piece.size() <= to.half_bytes);
  std::memcpy(region_.bytes().data() + to.half_offset[filled % 2], piece.data(), piece.size());
  to.filled.store(filled + 1, std::memory_order_release);
  syscall(SYS_futex, &to.filled, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

uint32_t InputRing::filled(uint32_t thread) const {
  return header().thread[thread].filled.load(std::memory_order_relaxed);
}

}  // namespace keydrome

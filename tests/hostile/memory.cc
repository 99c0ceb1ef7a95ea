// Implements memory.h: finds the mappings of the player (the program that calls the hostile
// library) and of the libraries in its process, and reads them page by page.
#include "tests/hostile/memory.h"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "benchmarks/kit/format/outcome.h"

namespace hostile {
namespace {

using keydrome::Message;
using keydrome::MessageType;
using keydrome::format::OutcomeHeader;

constexpr uintptr_t kPage = 4096;
// Bytes to search below the lowest module. The kernel places mappings next to each other, from the
// loader downwards, so other memory of the process is near.
constexpr uintptr_t kBelow = uintptr_t{512} << 20;
constexpr uintptr_t kStackBytes = uintptr_t{8} << 20;  // the largest stack of a main thread

struct Regions {
  uintptr_t program_begin = 0, program_end = 0;  // the player's writable data
  uintptr_t lowest = UINTPTR_MAX, highest = 0;   // all modules except the player
};

int note_module(dl_phdr_info* info, size_t, void* to) {
  auto& regions = *static_cast<Regions*>(to);
  const bool is_player = info->dlpi_name[0] == '\0';
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) & segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    const uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    const uintptr_t end = begin + segment.p_memsz;
    if (!is_player) {
      regions.lowest = std::min(regions.lowest, begin);
      regions.highest = std::max(regions.highest, end);
    } else if ((segment.p_flags & PF_W) != 0) {
      regions.program_begin = begin;
      regions.program_end = end;
    }
  }
  return 0;
}

Regions find_regions() {
  Regions regions;
  dl_iterate_phdr(note_module, &regions);
  return regions;
}

// Copies pages through a pipe. For an unreadable page write() returns EFAULT, where a plain read
// would raise SIGSEGV.
class Reader {
 public:
  Reader() { valid_ = pipe(ends_) == 0; }
  ~Reader() {
    close(ends_[0]);
    close(ends_[1]);
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  bool read_page(uintptr_t address) {
    unsigned char resident = 0;
    auto* page = reinterpret_cast<void*>(address);
    if (!valid_ || mincore(page, kPage, &resident) != 0) return false;
    if (write(ends_[1], page, kPage) != static_cast<ssize_t>(kPage)) return false;
    return read(ends_[0], words_.data(), kPage) == static_cast<ssize_t>(kPage);
  }
  const std::array<uint64_t, kPage / 8>& words() const { return words_; }

  // Returns whether the page can be written: copies its bytes to the pipe, and from the pipe back
  // to the page. If the second copy fails, the bytes stay in the pipe, so do not use the object
  // again.
  bool rewrite_page(uintptr_t address) {
    auto* page = reinterpret_cast<void*>(address);
    return write(ends_[1], page, kPage) == static_cast<ssize_t>(kPage) &&
           read(ends_[0], page, kPage) == static_cast<ssize_t>(kPage);
  }

 private:
  int ends_[2] = {-1, -1};
  bool valid_ = false;
  std::array<uint64_t, kPage / 8> words_{};
};

int count_between(Reader& reader, uintptr_t begin, uintptr_t end, uint64_t masked, uint64_t mask) {
  int found = 0;
  for (uintptr_t page = begin & ~(kPage - 1); page < end; page += kPage) {
    if (!reader.read_page(page)) continue;
    for (const uint64_t word : reader.words()) found += (word ^ mask) == masked ? 1 : 0;
  }
  return found;
}

}  // namespace

const Message* find_message(MessageType type) {
  const Regions regions = find_regions();
  for (uintptr_t at = regions.program_begin; at + sizeof(Message) <= regions.program_end; at += 8) {
    const auto* message = reinterpret_cast<const Message*>(at);
    const bool fits = message->version == keydrome::kProtocolVersion && message->type == type;
    if (fits && message->nonce != 0) return message;
  }
  return nullptr;
}

// The header is at the beginning of a page. Other data may begin with the same
// number as its version, so the offsets that follow must fit too.
std::byte* find_outcome_memory() {
  struct Start {
    uint32_t version, threads;
    uint64_t thread_offset;
    OutcomeHeader::Span first;
  };
  static_assert(offsetof(OutcomeHeader, spans) == offsetof(Start, first));
  const Regions regions = find_regions();
  Reader reader;
  for (uintptr_t page = regions.lowest - kBelow; page < regions.highest; page += kPage) {
    if (!reader.read_page(page)) continue;
    Start start{};
    std::memcpy(&start, reader.words().data(), sizeof start);
    if (start.version != keydrome::format::kOutcomeVersion || start.threads == 0 ||
        start.threads > keydrome::format::kThreadsMax) {
      continue;
    }
    const uint64_t end =
        start.thread_offset + start.threads * sizeof(keydrome::format::ThreadOutcome);
    if (start.thread_offset >= sizeof(OutcomeHeader) && start.first.words_offset >= end)
      return reinterpret_cast<std::byte*>(page);
  }
  return nullptr;
}

std::span<std::byte> writable_zeros(std::byte* begin) {
  const uintptr_t first = (reinterpret_cast<uintptr_t>(begin) + kPage - 1) & ~(kPage - 1);
  Reader reader;
  uintptr_t page = first;
  while (reader.read_page(page) &&
         std::ranges::all_of(reader.words(), [](uint64_t word) { return word == 0; }) &&
         reader.rewrite_page(page)) {
    page += kPage;
  }
  return {reinterpret_cast<std::byte*>(first), page - first};
}

int count_in_memory(uint64_t masked, uint64_t mask) {
  const Regions regions = find_regions();
  const auto stack = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  const auto heap_end = reinterpret_cast<uintptr_t>(sbrk(0));
  Reader reader;
  const auto count = [&](uintptr_t begin, uintptr_t end) {
    return count_between(reader, begin, end, masked, mask);
  };
  const uintptr_t begin = regions.lowest - kBelow;
  const int found = count(regions.program_begin, std::max(regions.program_end, heap_end)) +
                    count(begin, regions.highest);
  // The stack of the main thread can be terabytes above the other mappings, so only the stack
  // itself is searched, and not what lies between.
  const bool is_inside = stack >= begin && stack < regions.highest;
  return is_inside ? found : found + count(stack, stack + kStackBytes);
}

}  // namespace hostile

// Implements harness/referee/memory/memfd.h: creates, maps and seals memfds. They are the memory
// that the referee (this process) shares with the player, the jailed process with the library.
#include "harness/referee/memory/memfd.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <string>

namespace keydrome {
namespace {

constexpr size_t kPage = 4096;

size_t rounded_up(size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

const char* remedy_for_memory(int error) {
  switch (error) {
    case EMFILE:
      return "; raise the limit of open files (ulimit -n)";
    case ENFILE:
      return "; this machine has too many open files: end programs that have many files open, or "
             "as root raise the limit (sysctl fs.file-max)";
    default:
      return "; if memory is short, end other programs";
  }
}

Error failure(const char* what) {
  return Error{std::string(what) +
               " the memory that the referee shares with the player (a memfd): " +
               std::strerror(errno) + remedy_for_memory(errno)};
}

Result<UniqueFd> make(const char* name, size_t size) {
  UniqueFd fd(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.valid()) return failure("cannot create");
  if (ftruncate(fd.get(), static_cast<off_t>(size)) != 0) return failure("cannot set the size of");
  return fd;
}

Result<void> add_seals(int memfd, int seals) {
  if (fcntl(memfd, F_ADD_SEALS, seals) != 0) return failure("cannot seal");
  return {};
}

// Maps a part of the memfd over the present mapping of this part, and touches all its pages.
Result<void> populate(int memfd, void* memory, size_t from, size_t bytes) {
  if (bytes == 0) return {};
  const void* mapped = mmap(static_cast<std::byte*>(memory) + from, bytes, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_FIXED | MAP_POPULATE, memfd, static_cast<off_t>(from));
  if (mapped == MAP_FAILED) return failure("cannot map");
  return {};
}

}  // namespace

SharedRegion::SharedRegion(UniqueFd fd, void* memory, size_t size, size_t rest)
    : fd_(std::move(fd)), memory_(memory), size_(size), rest_(rest) {}

SharedRegion::SharedRegion(SharedRegion&& other) noexcept
    : fd_(std::move(other.fd_)),
      memory_(std::exchange(other.memory_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      rest_(std::exchange(other.rest_, 0)) {}

SharedRegion::~SharedRegion() {
  if (memory_ != nullptr) munmap(memory_, size_);
}

// The referee (this process) writes through its mapping after the memfd has been sealed.
// F_SEAL_FUTURE_WRITE allows this. F_SEAL_WRITE does not, and fails with EBUSY while a writable
// mapping exists.
Result<SharedRegion> SharedRegion::create(size_t bytes, Others others, size_t touched) {
  const size_t rest = rounded_up(std::min(touched, bytes));
  bytes = rounded_up(bytes);
  const int seals = F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL |
                    (others == Others::kReadOnly ? F_SEAL_FUTURE_WRITE : 0);
  Result<UniqueFd> fd = make("keydrome-shared", bytes);
  if (!fd) return fd.error();
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd->get(), 0);
  // Out of memory is reported like any other failed allocation. commands.cc catches the exception
  // and writes a report.
  if (memory == MAP_FAILED && errno == ENOMEM) throw std::bad_alloc();
  if (memory == MAP_FAILED) return failure("cannot map");
  SharedRegion region(std::move(*fd), memory, bytes, rest);
  if (const Result<void> done = populate(region.fd(), memory, 0, rest); !done) return done.error();
  if (const Result<void> sealed = add_seals(region.fd(), seals); !sealed) return sealed.error();
  return region;
}

Result<void> SharedRegion::empty_rest() {
  const auto bytes = static_cast<off_t>(size_ - rest_);
  constexpr int kMode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
  if (bytes > 0 && fallocate(fd_.get(), kMode, static_cast<off_t>(rest_), bytes) != 0)
    return failure("cannot empty a part of");
  return {};
}

Result<void> SharedRegion::touch_rest() {
  return populate(fd_.get(), memory_, rest_, size_ - rest_);
}

}  // namespace keydrome

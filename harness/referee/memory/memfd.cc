// Implements harness/referee/memory/memfd.h: creates, maps and seals memfds.
#include "harness/referee/memory/memfd.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <string>

namespace keydrome {
namespace {

Error failure(const char* what) {
  return Error{std::string("the memory shared with the player: ") + what +
               " the memfd: " + std::strerror(errno) + "; end other programs"};
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

}  // namespace

SharedRegion::SharedRegion(UniqueFd fd, void* memory, size_t size)
    : fd_(std::move(fd)), memory_(memory), size_(size) {}

SharedRegion::SharedRegion(SharedRegion&& other) noexcept
    : fd_(std::move(other.fd_)),
      memory_(std::exchange(other.memory_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

SharedRegion::~SharedRegion() {
  if (memory_ != nullptr) munmap(memory_, size_);
}

// The referee (this process) writes through its mapping after the memfd has been sealed.
// F_SEAL_FUTURE_WRITE allows this. F_SEAL_WRITE does not, and fails with EBUSY while a writable
// mapping exists.
Result<SharedRegion> SharedRegion::create(size_t bytes, Others others) {
  const int seals = F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL |
                    (others == Others::kReadOnly ? F_SEAL_FUTURE_WRITE : 0);
  Result<UniqueFd> fd = make("keydrome-shared", bytes);
  if (!fd) return fd.error();
  void* memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd->get(), 0);
  // Out of memory is reported like any other failed allocation. commands.cc catches the exception
  // and writes a report.
  if (memory == MAP_FAILED && errno == ENOMEM) throw std::bad_alloc();
  if (memory == MAP_FAILED) return failure("cannot map");
  SharedRegion region(std::move(*fd), memory, bytes);
  if (const Result<void> sealed = add_seals(region.fd(), seals); !sealed) return sealed.error();
  return region;
}

}  // namespace keydrome

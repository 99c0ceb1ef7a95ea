// Implements Mapping: maps memfds from the referee, the trusted process that runs the benchmark.
// Inputs are mapped read-only. Memory for results and other shared memory is mapped writable.
#include "harness/player/mapping.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace keydrome {

// Maps inputs with MAP_SHARED, because the library could make a private mapping writable with
// mprotect(). A shared mapping of a sealed memfd cannot be made writable.
Mapping::Mapping(int fd, Access access) {
  struct stat status{};
  if (fstat(fd, &status) != 0 || status.st_size <= 0) return;
  const auto size = static_cast<size_t>(status.st_size);
  const int protection = access == Access::kShare ? PROT_READ | PROT_WRITE : PROT_READ;
  void* memory = mmap(nullptr, size, protection, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) return;
  bytes_ = {static_cast<std::byte*>(memory), size};
  // Load only the pages to which memory is already allocated. If this process loaded another page,
  // the kernel would allocate memory for it and charge the memory to this process's cgroup.
  const off_t filled = lseek(fd, 0, SEEK_HOLE);
  if (filled <= 0) return;
  const void* loaded = mmap(memory, static_cast<size_t>(filled), protection,
                            MAP_SHARED | MAP_FIXED | MAP_POPULATE, fd, 0);
  if (loaded == MAP_FAILED) *this = Mapping();
}

void Mapping::seal() const {
  constexpr long kMseal = 462;  // SYS_mseal; the C library's headers may be older than the kernel
  syscall(kMseal, bytes_.data(), bytes_.size(), 0);
}

// Has no effect on a sealed mapping.
Mapping::~Mapping() {
  if (!bytes_.empty()) munmap(bytes_.data(), bytes_.size());
}

}  // namespace keydrome

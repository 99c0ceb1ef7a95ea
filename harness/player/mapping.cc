#include "harness/player/mapping.h"

#include <sys/mman.h>
#include <sys/stat.h>

namespace keydrome {

// Inputs are mapped privately: kernels before 6.7 refuse a shared mapping of a file that is sealed
// against writing.
Mapping::Mapping(int fd, Access access) {
  struct stat status{};
  if (fstat(fd, &status) != 0 || status.st_size <= 0) return;
  const auto size = static_cast<size_t>(status.st_size);
  const bool share = access == Access::kShare;
  void* memory = mmap(nullptr, size, share ? PROT_READ | PROT_WRITE : PROT_READ,
                      (share ? MAP_SHARED : MAP_PRIVATE) | MAP_POPULATE, fd, 0);
  if (memory != MAP_FAILED) bytes_ = {static_cast<std::byte*>(memory), size};
}

Mapping::~Mapping() {
  if (!bytes_.empty()) munmap(bytes_.data(), bytes_.size());
}

}  // namespace keydrome

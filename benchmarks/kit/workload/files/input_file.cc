// Implements input_file.h with open, fstat and read.
#include "benchmarks/kit/workload/files/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace keydrome::workload {

// Opens with O_NONBLOCK, because the open of a FIFO without a writer would block.
Result<InputFile> InputFile::open(const std::string& path, const std::string& what) {
  InputFile file;
  file.path_ = path;
  file.descriptor_ = UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat facts{};
  if (!file.descriptor_.valid() || fstat(file.descriptor_.get(), &facts) != 0) {
    return Error{path + ": cannot be read (" + std::strerror(errno) + "): give another " + what};
  }
  if (!S_ISREG(facts.st_mode)) {
    return Error{path + (S_ISDIR(facts.st_mode) ? ": is a directory" : ": is a device or a pipe") +
                 ", but must be a regular file: give another " + what};
  }
  file.bytes_ = static_cast<uint64_t>(facts.st_size);
  return file;
}

Result<uint64_t> InputFile::read(char* to, uint64_t bytes) const {
  uint64_t done = 0;
  while (done < bytes) {
    const ssize_t got = ::read(descriptor_.get(), to + done, bytes - done);
    if (got == 0) break;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return Error{path_ + ": cannot be read (" + std::strerror(errno) + "): give another file"};
    }
    done += static_cast<uint64_t>(got);
  }
  return done;
}

Error at_line(const std::string& path, uint64_t line, uint64_t column, const std::string& what) {
  return Error{path + ", line " + std::to_string(line) + ", column " + std::to_string(column) +
               ": " + what};
}

}  // namespace keydrome::workload

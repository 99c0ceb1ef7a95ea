// InputFile: a regular file of a user that is open for reading. Directories, devices and pipes are
// refused, so that a read never waits.
//
// Thread safety: as for a file descriptor; the reads of one object share its position.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace keydrome::workload {

class InputFile {
 public:
  // `what` says in errors which kind of file is expected, such as "key file".
  static Result<InputFile> open(const std::string& path, const std::string& what);

  const std::string& path() const { return path_; }
  // Returns the size of the file when it was opened.
  uint64_t bytes() const { return bytes_; }
  // Reads up to `bytes` bytes from the file's position. Returns how many bytes were read. They are
  // fewer than `bytes` only at the end of the file.
  Result<uint64_t> read(char* to, uint64_t bytes) const;

 private:
  InputFile() = default;

  std::string path_;
  UniqueFd descriptor_;
  uint64_t bytes_ = 0;
};

// Returns an error about a place in a text. Lines and columns (bytes of a line) count from 1.
Error at_line(const std::string& path, uint64_t line, uint64_t column, const std::string& what);

}  // namespace keydrome::workload

// Implements output_file.h: follows the symbolic links of a path one by one, then writes to a
// stream, in place, or to a temporary file that is renamed.
#include "base/output_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "base/unique_fd.h"

namespace keydrome {
namespace {

constexpr int kLinksMax = 40;  // the kernel, too, follows at most 40 symbolic links in a path

enum class Way { kStream, kInPlace, kReplace };

struct Target {
  Way way = Way::kReplace;
  std::string path;  // empty for kStream
  int stream = -1;   // the descriptor, only for kStream
};

Error failure(const std::string& path, const std::string& why) {
  return Error{"cannot write " + path + ": " + why + ": name another file"};
}

Error system_failure(const std::string& what) {
  const bool full = errno == ENOSPC || errno == EDQUOT;
  return Error{what + ": " + std::strerror(errno) +
               (full ? ": free space on this disk, or write to another disk"
                     : ": fix this problem, or name another file")};
}

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder;
}

// Returns the descriptor of the standard output or error if one of them is the file that `status`
// describes. Returns -1 otherwise.
int stream_of(const struct stat& status) {
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat other{};
    if (fstat(stream, &other) == 0 && other.st_dev == status.st_dev &&
        other.st_ino == status.st_ino) {
      return stream;
    }
  }
  return -1;
}

// Returns true if the folder is in /proc. A link such as /proc/PID/fd/1 leads to an open file. This
// file may no longer have a name, so no other file can replace it by a rename.
bool is_proc_folder(const std::string& folder) {
  struct statfs facts{};
  return statfs(folder.c_str(), &facts) == 0 && facts.f_type == PROC_SUPER_MAGIC;
}

// Returns true if the folder is shared as /tmp is: every user may create files, and it has the
// sticky bit. The link must also belong neither to this user nor to the owner of the folder.
// Returns true as well if the folder cannot be examined. The kernel's rule protected_symlinks
// (proc_sys_fs(5)) forbids following such a link.
bool is_strangers_link(const struct stat& link, const std::string& folder) {
  struct stat place{};
  if (stat(folder.c_str(), &place) != 0) return true;
  const bool is_shared = (place.st_mode & S_ISVTX) != 0 && (place.st_mode & S_IWOTH) != 0;
  return is_shared && link.st_uid != geteuid() && link.st_uid != place.st_uid;
}

// Returns how to write `path`, which exists. `status` describes the file. If `in_proc` is true,
// `path` is a link in /proc. If `in_proc` is false, `path` is no symbolic link.
Result<Target> existing_target(const std::string& path, const struct stat& status, bool in_proc) {
  if (S_ISCHR(status.st_mode) || S_ISFIFO(status.st_mode)) return Target{Way::kInPlace, path, -1};
  if (S_ISREG(status.st_mode)) return Target{in_proc ? Way::kInPlace : Way::kReplace, path, -1};
  if (S_ISDIR(status.st_mode)) return failure(path, "it is a folder");
  return failure(path, "it is a block device or a socket");
}

Result<Target> find_target(const std::string& asked) {
  if (asked == "-") return Target{Way::kStream, "", STDOUT_FILENO};
  std::string path = asked;
  for (int links = 0; links <= kLinksMax; ++links) {
    const std::string folder = folder_of(path);
    struct stat status{};
    if (lstat(path.c_str(), &status) != 0) {
      if (errno == ENOENT) return Target{Way::kReplace, path, -1};
      return system_failure("cannot write " + path);
    }
    if (!S_ISLNK(status.st_mode)) return existing_target(path, status, false);
    if (is_strangers_link(status, folder)) {
      return failure(path, "it is another user's symbolic link in a shared folder");
    }
    if (is_proc_folder(folder)) {
      if (stat(path.c_str(), &status) != 0) return system_failure("cannot write " + path);
      const int stream = stream_of(status);
      if (stream >= 0) return Target{Way::kStream, "", stream};
      if (!S_ISDIR(status.st_mode)) return existing_target(path, status, true);
    }
    std::array<char, PATH_MAX> to{};
    const ssize_t size = readlink(path.c_str(), to.data(), to.size());
    if (size < 0) return system_failure("cannot read the link " + path);
    path = std::filesystem::path(folder) / std::string(to.data(), static_cast<std::size_t>(size));
  }
  return failure(asked, "it is the first of more than " + std::to_string(kLinksMax) +
                            " symbolic links, each leading to the next, perhaps in a cycle");
}

std::string temporary_of(const std::string& path) {
  return path + ".unfinished-" + std::to_string(getpid());
}

// Creates the temporary file. First removes an older file of that name: a killed process with the
// same pid may have left one. O_EXCL ensures that no file or link of another user is opened.
Result<UniqueFd> create(const std::string& temporary) {
  unlink(temporary.c_str());
  UniqueFd fd(open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (fd.valid()) return fd;
  const char* advice = errno == ENOENT || errno == ENOTDIR ? ": create the folder first, or" : ":";
  return Error{"cannot create the file " + temporary + ": " + std::strerror(errno) + advice +
               " use another folder"};
}

bool write_all(int fd, const std::string& text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const ssize_t written = write(fd, text.data() + at, text.size() - at);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    at += static_cast<std::size_t>(written);
  }
  return true;
}

Result<void> write_stream(int stream, const std::string& text) {
  std::fflush(stream == STDOUT_FILENO ? stdout : stderr);
  if (!write_all(stream, text))
    return system_failure(stream == STDOUT_FILENO ? "cannot write to standard output"
                                                  : "cannot write to standard error");
  return {};
}

Result<void> write_in_place(const std::string& path, const std::string& text) {
  UniqueFd fd(open(path.c_str(), O_WRONLY | O_TRUNC | O_NOCTTY | O_CLOEXEC));
  if (!fd.valid() || !write_all(fd.get(), text)) return system_failure("cannot write " + path);
  return {};
}

Result<void> replace(const std::string& path, const std::string& text) {
  const std::string temporary = temporary_of(path);
  const Result<UniqueFd> fd = create(temporary);
  if (!fd) return fd.error();
  if (!write_all(fd->get(), text)) {
    const Error error = system_failure("cannot write " + temporary);
    unlink(temporary.c_str());
    return error;
  }
  if (std::rename(temporary.c_str(), path.c_str()) != 0) {
    return Error{"cannot rename " + temporary + " to " + path + ": " + std::strerror(errno) +
                 ": the first file is complete, so move it yourself"};
  }
  return {};
}

}  // namespace

Result<void> check_writable(const std::string& path) {
  const Result<Target> target = find_target(path);
  if (!target) return target.error();
  if (target->way == Way::kReplace) {
    const std::string temporary = temporary_of(target->path);
    if (const Result<UniqueFd> fd = create(temporary); !fd) return fd.error();
    unlink(temporary.c_str());
  } else if (target->way == Way::kInPlace && access(target->path.c_str(), W_OK) != 0) {
    return system_failure("cannot write " + path);
  }
  return {};
}

Result<void> write_file(const std::string& path, const std::string& text) {
  const Result<Target> target = find_target(path);
  if (!target) return target.error();
  if (target->way == Way::kStream) return write_stream(target->stream, text);
  if (target->way == Way::kInPlace) return write_in_place(target->path, text);
  return replace(target->path, text);
}

}  // namespace keydrome

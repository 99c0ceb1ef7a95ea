// Tests base/output_file.h: a report appears complete or not at all, no other file is left in its
// folder, and only regular files are replaced. The tests create their own device nodes and never
// use those of /dev.
#include "base/output_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "base/unique_fd.h"

namespace keydrome {
namespace {

class OutputFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "keydrome_output_XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::size_t files() const {
    const std::filesystem::directory_iterator entries(folder_);
    return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
  }

  static std::string content(const std::filesystem::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static mode_t kind(const std::filesystem::path& path) {
    struct stat status{};
    return lstat(path.c_str(), &status) == 0 ? status.st_mode & S_IFMT : 0;
  }
  // Creates a device node and returns its path. If the test does not run as root, the test fails.
  std::string device(const char* name, mode_t type, unsigned minor_number) const {
    const std::string path = folder_ / name;
    const unsigned major_number = type == S_IFBLK ? 7 : 1;
    EXPECT_EQ(mknod(path.c_str(), type | 0600, makedev(major_number, minor_number)), 0)
        << std::strerror(errno) << ": run this test as root";
    return path;
  }

  std::filesystem::path folder_;
};

// A run that is killed before its report is written must leave no unfinished report.
TEST_F(OutputFileTest, TheCheckLeavesNothing) {
  EXPECT_TRUE(check_writable(folder_ / "report.json").ok());
  EXPECT_EQ(files(), 0u);
}

TEST_F(OutputFileTest, ReplacesTheWholeFile) {
  const std::string path = folder_ / "report.json";
  for (const char* text : {"a long first text", "short"}) {
    ASSERT_TRUE(write_file(path, text).ok());
    EXPECT_EQ(content(path), text);
    EXPECT_EQ(files(), 1u);
  }
}

// A mount point cannot be replaced. The text may be all that is left of a long run.
TEST_F(OutputFileTest, KeepsTheTextIfItCannotReplaceTheFile) {
  const std::string path = folder_ / "report.json";
  ASSERT_TRUE(write_file(path, "old").ok());
  ASSERT_EQ(unshare(CLONE_NEWNS), 0) << std::strerror(errno) << ": run this test as root";
  ASSERT_EQ(mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr), 0) << std::strerror(errno);
  ASSERT_EQ(mount(path.c_str(), path.c_str(), nullptr, MS_BIND, nullptr), 0)
      << std::strerror(errno);
  const Result<void> written = write_file(path, "new");
  ASSERT_EQ(umount(path.c_str()), 0) << std::strerror(errno);
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(content(path), "old");
  EXPECT_EQ(files(), 2u);
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    if (entry.path() == path) continue;
    EXPECT_EQ(content(entry.path()), "new");
    EXPECT_NE(written.error().message.find(entry.path()), std::string::npos)
        << written.error().message;
  }
}

TEST_F(OutputFileTest, AFolderThatIsMissingIsAnError) {
  const std::string path = folder_ / "missing" / "report.json";
  const Result<void> checked = check_writable(path);
  ASSERT_FALSE(checked.ok());
  EXPECT_NE(checked.error().message.find(path), std::string::npos) << checked.error().message;
  EXPECT_FALSE(write_file(path, "text").ok());
}

TEST_F(OutputFileTest, AFolderIsNotReplaced) {
  const std::filesystem::path target = folder_ / "report.json";
  std::filesystem::create_directories(target / "full");  // a file cannot replace this folder
  EXPECT_FALSE(write_file(target, "text").ok());
  EXPECT_EQ(files(), 1u);
}

TEST_F(OutputFileTest, ASymbolicLinkStaysAndItsFileIsReplaced) {
  const std::filesystem::path file = folder_ / "file.json";
  const std::filesystem::path link = folder_ / "link.json";
  const std::filesystem::path outer = folder_ / "outer.json";
  std::filesystem::create_symlink("file.json", link);
  std::filesystem::create_symlink(link, outer);
  for (const char* text : {"new", "again"}) {  // at first the link leads to no file
    ASSERT_TRUE(check_writable(outer).ok());
    ASSERT_TRUE(write_file(outer, text).ok());
    EXPECT_EQ(content(file), text);
    EXPECT_EQ(kind(file), static_cast<mode_t>(S_IFREG));
    EXPECT_EQ(kind(link), static_cast<mode_t>(S_IFLNK));
    EXPECT_EQ(kind(outer), static_cast<mode_t>(S_IFLNK));
    EXPECT_EQ(files(), 3u);
  }
}

TEST_F(OutputFileTest, DevicesStayDevices) {
  const std::string null = device("null", S_IFCHR, 3);
  const std::string full = device("full", S_IFCHR, 7);
  const std::filesystem::path link = folder_ / "link";
  std::filesystem::create_symlink(null, link);
  for (const std::string& path : {null, full, link.string()}) {
    EXPECT_TRUE(check_writable(path).ok());
  }
  EXPECT_TRUE(write_file(null, "text").ok());
  EXPECT_TRUE(write_file(link, "text").ok());
  const Result<void> written = write_file(full, "text");
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().message, "cannot write " + full + ": " + std::strerror(ENOSPC) +
                                         ": free space on this disk, or write to another disk");
  EXPECT_EQ(kind(null), static_cast<mode_t>(S_IFCHR));
  EXPECT_EQ(kind(full), static_cast<mode_t>(S_IFCHR));
  EXPECT_EQ(kind(link), static_cast<mode_t>(S_IFLNK));
  EXPECT_EQ(files(), 3u);
}

// Writing a report to a block device would destroy the data on the disk.
TEST_F(OutputFileTest, BlockDevicesAndFoldersAreRefused) {
  const std::string disk = device("disk", S_IFBLK, 4095);  // no such loop device exists
  for (const std::string& path : {disk, folder_.string()}) {
    EXPECT_FALSE(check_writable(path).ok());
    EXPECT_FALSE(write_file(path, "text").ok());
  }
  EXPECT_EQ(kind(disk), static_cast<mode_t>(S_IFBLK));
  EXPECT_EQ(files(), 1u);
}

TEST_F(OutputFileTest, AFifoIsWrittenAndNotOpenedByTheCheck) {
  const std::string path = folder_ / "fifo";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  ASSERT_TRUE(check_writable(path).ok());  // returns, although no process reads
  std::string read;
  {
    const std::jthread reader([&] { read = content(path); });
    EXPECT_TRUE(write_file(path, "text").ok());
  }
  EXPECT_EQ(read, "text");
  EXPECT_EQ(kind(path), static_cast<mode_t>(S_IFIFO));
}

TEST_F(OutputFileTest, NamesOfStandardOutputAreThatStream) {
  const std::filesystem::path file = folder_ / "output";
  const UniqueFd saved(dup(STDOUT_FILENO));
  std::fflush(stdout);
  {
    const UniqueFd redirected(open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    ASSERT_EQ(dup2(redirected.get(), STDOUT_FILENO), STDOUT_FILENO);
  }
  std::printf("first ");
  const bool dash = check_writable("-").ok() && write_file("-", "dash ").ok();
  const bool name =
      check_writable("/proc/self/fd/1").ok() && write_file("/proc/self/fd/1", "").ok();
  const bool text = write_file("/proc/self/fd/1", "name ").ok();
  std::printf("last");
  std::fflush(stdout);
  ASSERT_EQ(dup2(saved.get(), STDOUT_FILENO), STDOUT_FILENO);
  EXPECT_TRUE(dash && name && text);
  EXPECT_EQ(content(file), "first dash name last");
  EXPECT_EQ(files(), 1u);
}

// A link in /proc names a file that a process has opened. Such a file must be written in place.
TEST_F(OutputFileTest, AnOpenFileIsWrittenInPlace) {
  const std::filesystem::path file = folder_ / "open";
  const UniqueFd fd(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_TRUE(write_file("/proc/self/fd/" + std::to_string(fd.get()), "text").ok());
  std::array<char, 5> bytes{};
  EXPECT_EQ(pread(fd.get(), bytes.data(), 4, 0), 4);
  EXPECT_STREQ(bytes.data(), "text");
}

TEST_F(OutputFileTest, AStrangersLinkInASharedFolderIsNotFollowed) {
  const std::filesystem::path shared = folder_ / "shared";
  const std::filesystem::path victim = folder_ / "victim";
  std::filesystem::create_directory(shared);
  ASSERT_EQ(chmod(shared.c_str(), 01777), 0);
  ASSERT_TRUE(write_file(victim, "kept").ok());
  const std::filesystem::path link = shared / "report.json";
  std::filesystem::create_symlink(victim, link);
  ASSERT_EQ(lchown(link.c_str(), 65534, 65534), 0) << "run this test as root";
  EXPECT_FALSE(check_writable(link).ok());
  EXPECT_FALSE(write_file(link, "text").ok());
  EXPECT_EQ(content(victim), "kept");
}

TEST_F(OutputFileTest, ALoopOfLinksIsAnError) {
  const std::filesystem::path link = folder_ / "link";
  std::filesystem::create_symlink(link, link);
  EXPECT_FALSE(check_writable(link).ok());
  EXPECT_FALSE(write_file(link, "text").ok());
}

}  // namespace
}  // namespace keydrome

// Implements resident.h: loads a subject in a child process, which asks the kernel how much memory
// it uses.
#include "structures/bench/resident.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "base/check.h"

namespace keydrome::bench {
namespace {

// Reads smaps_rollup. Reading /proc/self/statm would take less time, but the kernel updates the
// values in statm late.
uint64_t resident_bytes() {
  std::ifstream file("/proc/self/smaps_rollup");
  for (std::string word; file >> word;) {
    uint64_t kib = 0;
    if (word == "Rss:" && file >> kib) return kib * 1024;
  }
  std::fprintf(stderr,
               "structure_bench: the memory in use is unknown, because /proc/self/smaps_rollup "
               "cannot be read or has no line Rss: use Linux 4.14 or newer with /proc mounted\n");
  std::exit(1);
}

// Ends the program, because the system refused what it needs. `advice` says what to do at the
// error `usual`.
[[noreturn]] void stop_at_system(const char* what, int usual, const char* advice) {
  const int error = errno;
  std::fprintf(stderr, "structure_bench: cannot %s: %s; %s\n", what, std::strerror(error),
               error == usual ? advice : "free memory, or end other programs");
  std::exit(1);
}

// Ends the program, because a signal has ended the child.
[[noreturn]] void stop_at_signal(int signal, KeySet set, uint64_t count) {
  std::fprintf(stderr,
               "structure_bench: signal %d (%s) ended the process that loads %llu keys of the set "
               "%s to measure the memory. %s\n",
               signal, strsignal(signal), static_cast<unsigned long long>(count),
               std::string(name_of(set)).c_str(),
               signal == SIGKILL ? "Memory probably ran out: use fewer keys (--counts)."
                                 : "A structure is probably wrong: run structure_contract_test "
                                   "--library FILE on each structure.");
  std::exit(1);
}

double measure_here(const std::function<std::unique_ptr<Subject>()>& make, KeySet set,
                    uint64_t count) {
  const Keys keys = make_keys(set, count);
  const std::unique_ptr<Subject> subject = make();
  const uint64_t before = resident_bytes();
  subject->load(keys);
  const uint64_t after = resident_bytes();
  return static_cast<double>(after - before) / static_cast<double>(count);
}

}  // namespace

double resident_bytes_per_key(const std::function<std::unique_ptr<Subject>()>& make, KeySet set,
                              uint64_t count) {
  int ends[2];
  if (pipe(ends) != 0) {
    stop_at_system("create a pipe", EMFILE, "raise the limit of open files (ulimit -n)");
  }
  const pid_t child = fork();
  if (child < 0) {
    stop_at_system("start a process", EAGAIN,
                   "end other programs, or raise the limit of processes (ulimit -u)");
  }
  if (child == 0) {
    const double bytes = measure_here(make, set, count);
    const bool written = write(ends[1], &bytes, sizeof bytes) == sizeof bytes;
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  double bytes = 0;
  const bool read_all = read(ends[0], &bytes, sizeof bytes) == sizeof bytes;
  close(ends[0]);
  int status = 0;
  KEYDROME_CHECK(waitpid(child, &status, 0) == child);
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0) std::exit(1);  // the child has said why
  if (!read_all) stop_at_signal(WTERMSIG(status), set, count);
  return bytes;
}

}  // namespace keydrome::bench

// Implements resident.h: loads a subject in a child process, which asks the kernel how much memory
// it uses.
#include "structures/bench/resident.h"

#include <sys/wait.h>
#include <unistd.h>

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
  KEYDROME_CHECK(pipe(ends) == 0);
  const pid_t child = fork();
  KEYDROME_CHECK(child >= 0);
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
  if (!read_all) {
    std::fprintf(
        stderr,
        "structure_bench: the process that loads keys to measure the memory was ended by "
        "signal %d (%s). After signal 9, memory probably ran out: use fewer keys (--counts). "
        "After another, run structure_contract_test --library FILE on each structure.\n",
        WTERMSIG(status), strsignal(WTERMSIG(status)));
    std::exit(1);
  }
  return bytes;
}

}  // namespace keydrome::bench

// certify_bench [TRANSACTIONS]: CPU time and memory for certifying synthetic histories of a million
// transactions (by default). One line for each shape.
//
//   shape, committed transactions, events, seconds of CPU (varchar: ranking of the keys included),
//   MiB of the history, MiB at the peak including the history
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>

#include "base/check.h"
#include "checker/bench/synthetic_history.h"
#include "checker/certify.h"

namespace keydrome {
namespace {

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Linux: "5" resets the peak of the resident set (proc(5)).
void reset_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

double peak_mib() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    double kib = 0;
    if (word == "VmHWM:" && status >> kib) return kib / 1024;
  }
  return 0;
}

void run(const char* shape, const SyntheticOptions& options) {
  History history = synthetic_history(options);
  std::size_t bytes = 0;
  for (const auto& events : history.threads) bytes += events.capacity() * sizeof(Event);
  reset_peak();
  const double begin = cpu_seconds();
  if (options.type == VARCHAR) {
    const Result<void> ranked = rank_varchar_keys(history);
    KEYDROME_CHECK(ranked.ok());
  }
  const Certification found = certify(history);
  const double seconds = cpu_seconds() - begin;
  std::printf("%-34s %9lu %10lu %8.2f %8.0f %8.0f  %s\n", shape, found.counts.committed,
              found.counts.events, seconds, static_cast<double>(bytes) / (1 << 20), peak_mib(),
              found.verdict == Verdict::kCertified ? "certified" : found.reason.c_str());
  KEYDROME_CHECK(found.verdict == Verdict::kCertified);
}

}  // namespace
}  // namespace keydrome

int main(int argc, char** argv) {
  using keydrome::SyntheticOptions;
  SyntheticOptions options;
  options.transactions =
      argc > 1 ? static_cast<uint32_t>(std::strtoul(argv[1], nullptr, 10)) : 1'000'000;
  std::printf("%-34s %9s %10s %8s %8s %8s\n", "shape", "committed", "events", "seconds", "log MiB",
              "peak MiB");
  keydrome::run("int64, 4 threads, 2 x 1,000 keys", options);
  options.type = VARCHAR;
  keydrome::run("varchar, 4 threads, 2 x 1,000 keys", options);
  options.type = INT;
  options.keys = 100;
  keydrome::run("int64, 4 threads, 2 x 100 keys", options);
  options.threads = 16;
  options.keys = 1000;
  keydrome::run("int64, 16 threads, 2 x 1,000 keys", options);
  options.threads = 8;
  options.indexes = 50;
  options.keys = 100'000;
  options.blind_deletes = true;
  keydrome::run("int64, 8 thr., 50 x 100,000, blind", options);
  return 0;
}

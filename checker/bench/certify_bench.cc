// certify_bench [TRANSACTIONS] [--json FILE]: CPU time and memory for certifying synthetic
// histories of a million transactions (by default). Each shape three times; the median counts.
//
//   shape, committed transactions, events, seconds of CPU (varchar: ranking of the keys included),
//   MiB of the history, MiB at the peak including the history
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/json.h"
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

struct Measured {
  double seconds;
  double peak_mib;
};

Measured run_once(const char* shape, const SyntheticOptions& options) {
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
  const Measured measured{cpu_seconds() - begin, peak_mib()};
  std::printf("%-36s %9lu %10lu %8.2f %8.0f %8.0f  %s\n", shape, found.counts.committed,
              found.counts.events, measured.seconds, static_cast<double>(bytes) / (1 << 20),
              measured.peak_mib, found.reason.c_str());
  std::fflush(stdout);
  KEYDROME_CHECK(found.verdict == Verdict::kCertified);
  return measured;
}

// Of three runs the one with the median time, as a row of figures.md.
Json run(const char* shape, const char* target, const SyntheticOptions& options) {
  std::vector<Measured> all;
  for (int i = 0; i < 3; ++i) all.push_back(run_once(shape, options));
  std::sort(all.begin(), all.end(),
            [](const Measured& a, const Measured& b) { return a.seconds < b.seconds; });
  char value[64];
  std::snprintf(value, sizeof value, "%.2f s CPU (%.2f to %.2f), %.0f MiB with the log",
                all[1].seconds, all[0].seconds, all[2].seconds, all[1].peak_mib);
  Json row;
  row["figure"] = shape;
  row["value"] = value;
  row["target"] = target;
  return row;
}

Json run_all(uint32_t transactions) {
  SyntheticOptions options;
  options.transactions = transactions;
  Json rows;
  rows.push_back(run("int64, 4 threads, 2 x 1,000 keys", "at most 2 s and 1 GB", options));
  options.type = VARCHAR;
  rows.push_back(run("varchar, 4 threads, 2 x 1,000 keys", "at most three times that", options));
  options.type = INT;
  options.keys = 100;
  rows.push_back(run("int64, 4 threads, 2 x 100 keys", "", options));
  options.threads = 16;
  options.keys = 1000;
  rows.push_back(run("int64, 16 threads, 2 x 1,000 keys", "", options));
  options.threads = 8;
  options.indexes = 50;
  options.keys = 100'000;
  options.blind_deletes = true;
  rows.push_back(run("int64, 8 threads, 50 x 100,000 keys", "", options));
  return rows;
}

}  // namespace
}  // namespace keydrome

int main(int argc, char** argv) {
  uint32_t transactions = 1'000'000;
  std::string json_file;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--json" && i + 1 < argc) {
      json_file = argv[++i];
    } else {
      transactions = static_cast<uint32_t>(std::strtoul(argv[i], nullptr, 10));
    }
  }
  std::printf("%-36s %9s %10s %8s %8s %8s\n", "shape", "committed", "events", "seconds", "log MiB",
              "peak MiB");
  keydrome::Json result;
  result["title"] = "Certifying a million transactions of about 11 operations";
  result["rows"] = keydrome::run_all(transactions);
  if (!json_file.empty()) std::ofstream(json_file) << result.dump(2) << "\n";
  return 0;
}

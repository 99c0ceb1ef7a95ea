// The program certify_bench [TRANSACTIONS] [--json FILE] measures how much CPU time and memory
// certify() needs for synthetic histories, by default of a million transactions.
//
// certify() decides whether a recorded history of transactions is right (checker/certify/
// certify.h). A shape is a kind of history. For example, "int64, 16 threads, 2 indexes of 1,000
// keys" has 1,000 keys in each index. The program runs each shape three times and prints a line for
// each run:
// - the shape
// - committed transactions
// - events
// - seconds of CPU time, including rank_varchar_keys() if the keys are strings
// - size of the history in MiB
// - peak memory in MiB, including the history
// With --json it writes the median of the three runs of each shape into FILE.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/check.h"
#include "base/json.h"
#include "base/output_file.h"
#include "checker/bench/synthetic_history.h"
#include "checker/certify/certify.h"

namespace keydrome {

using certify::Certification;
using certify::Verdict;
using history::Event;
using history::History;

namespace {

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Resets the value that peak_mib() reads: writing 5 to clear_refs sets the peak of the process's
// resident memory to its current size (proc(5)).
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
  const Certification found = certify::certify(history);
  const Measured measured{cpu_seconds() - begin, peak_mib()};
  std::printf("%-36s %9lu %10lu %8.2f %8.0f %8.0f  %s\n", shape, found.counts.committed,
              found.counts.events, measured.seconds, static_cast<double>(bytes) / (1 << 20),
              measured.peak_mib, found.reason.c_str());
  std::fflush(stdout);
  KEYDROME_CHECK(found.verdict == Verdict::kCertified);
  return measured;
}

// Runs a shape three times. Returns the run with the median time as a row for
// docs/reference/figures.md.
Json run(const char* shape, const char* target, const SyntheticOptions& options) {
  std::vector<Measured> all;
  for (int i = 0; i < 3; ++i) all.push_back(run_once(shape, options));
  std::sort(all.begin(), all.end(),
            [](const Measured& a, const Measured& b) { return a.seconds < b.seconds; });
  char value[96];
  std::snprintf(value, sizeof value, "%.2f s CPU (%.2f to %.2f), %.0f MiB of memory with the log",
                all[1].seconds, all[0].seconds, all[2].seconds, all[1].peak_mib);
  Json row;
  row["figure"] = std::string("certifying ") + shape;
  row["value"] = value;
  row["target"] = target;
  row["measured"] = all[1].seconds;
  return row;
}

Json run_all(uint32_t transactions) {
  constexpr double kIntegersMaxS = 2;
  SyntheticOptions options;
  options.transactions = transactions;
  Json rows;
  Json integers =
      run("int64, 4 threads, 2 indexes of 1,000 keys", "at most 2 s CPU and 1,000 MiB", options);
  integers["at_most"] = kIntegersMaxS;
  options.type = VARCHAR;
  Json words = run("varchar, 4 threads, 2 indexes of 1,000 keys",
                   "at most three times the int64 time", options);
  words["at_most"] = 3 * integers["measured"].as_number();
  rows.push_back(std::move(integers));
  rows.push_back(std::move(words));
  options.type = INT;
  options.keys = 100;
  rows.push_back(run("int64, 4 threads, 2 indexes of 100 keys", "", options));
  options.threads = 16;
  options.keys = 1000;
  rows.push_back(run("int64, 16 threads, 2 indexes of 1,000 keys", "", options));
  options.threads = 8;
  options.indexes = 50;
  options.keys = 100'000;
  options.blind_deletes = true;
  rows.push_back(run("int64, 8 threads, 50 indexes of 100,000 keys", "", options));
  return rows;
}

void require(const Result<void>& result) {
  if (result) return;
  std::fprintf(stderr, "certify_bench: %s\n", result.error().message.c_str());
  std::exit(3);
}

}  // namespace
}  // namespace keydrome

int main(int argc, char** argv) {
  uint32_t transactions = 1'000'000;
  std::string json_file;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--json" && i + 1 < argc) {
      json_file = argv[++i];
      continue;
    }
    const std::string_view word = argv[i];
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), transactions);
    if (error != std::errc{} || end != word.data() + word.size() || transactions == 0) {
      std::fprintf(stderr,
                   "certify_bench: %s is not a number of transactions, such as 1000000\n"
                   "usage: certify_bench [TRANSACTIONS] [--json FILE]\n",
                   argv[i]);
      return 2;
    }
  }
  if (!json_file.empty()) keydrome::require(keydrome::check_writable(json_file));
  std::printf("%-36s %9s %10s %8s %8s %8s\n", "shape", "committed", "events", "seconds", "log MiB",
              "peak MiB");
  keydrome::Json result;
  result["title"] = "Certifying transactions of about 11 operations, a million by default";
  result["rows"] = keydrome::run_all(transactions);
  if (!json_file.empty()) keydrome::require(keydrome::write_file(json_file, result.dump(2) + "\n"));
  return 0;
}

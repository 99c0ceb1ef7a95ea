// Implements fit_memory(): adds up the memory that the referee (this process) and the library need
// in a session (one repetition of a benchmark). If it is too much, searches for the parameter to
// lower.
#include "harness/referee/session/memory_fit.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>

namespace keydrome {
namespace {

// Operations refer to keys, payload texts and tags (a tag identifies a payload) by numbers of 32
// bits (benchmarks/kit/format/program.h). The limit is a little less than 2^32, because the checks
// need some of the numbers. docs/decisions/0026-numbers-of-32-bits.md says why a number has only 32
// bits.
constexpr double kNumbersMax = 4.2e9;
// A procedure is a list of instructions that computes a call from earlier results. The strings that
// procedures use are in one part of the shared memory, the image of the session. Their offsets have
// 32 bits.
constexpr double kImageStringsMax = 4.2e9;

// Bytes of the referee's memory for each part of a session, such as kForOp for each operation (op)
// and kForWord for each word. A word is the result of a call. A piece is a portion of a thread's
// operations. The values follow from the sizes of structs and the growth of arrays.
// tests/test_memory_demand.py compares the sums with what sessions use.
constexpr double kKiB = 1 << 10, kMiB = 1 << 20;
// The referee's code, its report and small tables. Includes 8 MiB for an array that must move when
// it grows: one of ten sessions needed this memory.
constexpr double kReferee = 15 * kMiB;
constexpr double kMargin = 1.31;              // factor: spare room of arrays and of the allocator
constexpr double kForThread = 44 * kKiB;      // spare words, histograms, throughput over time
constexpr double kRingOfThread = 512 * kKiB;  // two pieces, if the program is that long
constexpr double kForOp = 18;                 // an op, in an array that may have grown
constexpr double kPieceForOp = 24;            // an op and its key in a piece
constexpr double kPiecesMax = 512 * kMiB;     // pieces that are made in advance
constexpr double kForWord = 8, kSpareWords = 1.25;  // a quarter more, for attempts that fail
constexpr double kForEnd = 1;                       // how a transaction ended
constexpr double kForKey = 16;           // in the list of keys, and in the generator's tables
constexpr double kForRank = 12;          // the judge's tables by key
constexpr double kForSortedKey = 44;     // the judge's tables by key, and the sort
constexpr double kForChange = 68;        // the judge's ExpectedState: a Change, and tables by tag
constexpr double kForChangedKey = 28;    // ExpectedState: its table by key, which may have grown
constexpr double kForScanned = 32;       // a TraceRecord and padding; key and payload come after it
constexpr double kForInserted = 12;      // a scanned record that an op inserts (InsertedRecord)
constexpr double kForTag = 8;            // for each insert: a table by tag, while a scan is read
constexpr double kForRecordedCall = 96;  // log, its copy, and the checker's tables

// The memory limit of the library: a fixed part, a part for each record, and a multiple of the size
// of all records.
constexpr double kLibrary = 1024 * kMiB;
constexpr double kLibraryForRecord = 160;
constexpr double kLibraryTimesRecordBytes = 4;

// Adds the memory that it takes to replace the keys of a session with those of a file. Strings of
// the file may be longer than those of the workload.
void add_key_file(const workload::KeyFile& keys, workload::Demand& demand) {
  constexpr double kForReplaced = 48;  // ranks of old keys, and the chosen new keys
  demand.add_bytes(static_cast<double>(keys.bytes()) + demand.all_keys() * kForReplaced);
  if (keys.type != VARCHAR) return;
  const double mean = static_cast<double>(keys.text.size()) / static_cast<double>(keys.size());
  const double before = std::max(demand.longest_bytes, demand.record_bytes / demand.records);
  demand.set_longest(before + static_cast<double>(keys.longest_bytes));
  demand.record_bytes += demand.records * mean;
  demand.add_strings(demand.all_keys() * mean);
  demand.key_bytes += demand.keys * mean;
}

workload::Demand demand_of(const workload::Workload& workload,
                           const workload::Parameters& parameters, const MemoryRules& rules) {
  workload::Demand demand = workload.demand(parameters);
  if (rules.keys != nullptr) add_key_file(*rules.keys, demand);
  return demand;
}

// Returns the memory that the logs take at most. A call that is attempted again is logged again.
// The log of a thread has room for 16 attempts of each of its first calls, and for 4 attempts of
// each later call (script/evidence/capacities.cc).
double log_bytes(const workload::Demand& demand) {
  constexpr double kEventBytes = 32, kAttempts = 16, kAttemptsOfOthers = 4, kFirstCalls = 1 << 18;
  const double first = std::min(demand.logged_calls, demand.threads * kFirstCalls);
  return kEventBytes * (first * kAttempts + (demand.logged_calls - first) * kAttemptsOfOthers);
}

// Returns the memory of the results of the final scan. For a record that an operation inserts, the
// referee keeps only three numbers. For a record that a procedure inserts, it keeps key and
// payload, and also for each wrong record of a faulty library. So for a faulty library it may need
// more memory than estimated, but not more than its bound (referee_bound()).
double scan_bytes(const workload::Demand& demand) {
  const double loaded =
      demand.procedures > 0 ? std::min(demand.records, demand.load_ops) : demand.records;
  const double whole = demand.records - loaded;
  const double mean = demand.records > 0 ? demand.record_bytes / demand.records : 0;
  return loaded * kForInserted + whole * (kForScanned + mean);
}

// Returns an upper bound of the referee's memory, including the memory that it shares with the
// player.
double referee_bytes(const workload::Demand& demand) {
  const double numbers = demand.records + demand.keys;
  const double script = (demand.load_ops + demand.run_ops) * kForOp + numbers * kForKey +
                        demand.record_bytes + demand.key_bytes;
  const double scan = scan_bytes(demand);
  const double longest = std::max(demand.longest_bytes * demand.inserts,
                                  demand.record_bytes / demand.records * demand.inserts);
  const double scan_room = demand.inserts * kForScanned + (demand.records > 0 ? longest : 0);
  const double kept = (demand.load_ops + demand.run_words) * kForWord +
                      (demand.load_ops + demand.transactions) * kForEnd;
  // While the session is played: the memory shared with the player (the jailed process), the next
  // pieces (portions of the programs), and then the copy of the outcome (the results). The keys are
  // sorted during the first phase that is not timed: the load, or else the final scan.
  const double most_ops = std::max(demand.load_ops, demand.run_ops);
  const double ring = std::min(2 * most_ops * kPieceForOp, demand.threads * kRingOfThread);
  const auto pieces = [](double ops) { return std::min(ops * kPieceForOp, kPiecesMax); };
  const bool loads = demand.load_ops > 0;
  const double words = std::max(demand.load_ops, demand.run_words_most);
  const double outcome = std::max(words * kForWord * kSpareWords, scan_room);
  const double reading = kept + scan + demand.inserts * kForTag + numbers * kForRank;
  const double sorting = (loads ? pieces(demand.load_ops) : kept) + numbers * kForSortedKey;
  const double running = pieces(demand.run_ops) + (loads ? numbers * kForRank : 0);
  const double playing = ring + outcome + std::max({sorting, running, reading});
  const double judging = kept + scan + numbers * kForRank + demand.records * kForChangedKey +
                         (demand.inserts + demand.deletes) * kForChange;
  return kReferee + kMargin * (demand.threads * kForThread + script + std::max(playing, judging) +
                               demand.recorded_calls * kForRecordedCall + log_bytes(demand) +
                               demand.extra_bytes);
}

double library_bytes(const workload::Demand& demand) {
  return kLibrary + demand.records * kLibraryForRecord +
         demand.record_bytes * kLibraryTimesRecordBytes;
}

// Estimates that exceed this number of bytes fit no machine. The bound keeps sums within 64 bits.
constexpr double kBytesMax = 1e18;

uint64_t whole_bytes(double bytes) { return static_cast<uint64_t>(std::min(bytes, kBytesMax)); }

std::string gib(uint64_t bytes) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f GiB", static_cast<double>(bytes) / (1 << 30));
  return text.data();
}

// Returns an error text if the session has more keys, payloads or strings of procedures than the
// formats can number, or more keys than the file of keys. Returns "" if they fit.
std::string too_many(const workload::Demand& demand, const workload::KeyFile* keys) {
  if (keys != nullptr && demand.all_keys() > static_cast<double>(keys->size())) {
    return "the session uses up to " + std::to_string(whole_bytes(demand.all_keys())) +
           " different keys, including keys without a record, but the key file has only " +
           std::to_string(keys->size());
  }
  const double numbers = std::max(demand.records + demand.keys, demand.inserts);
  if (numbers > kNumbersMax) {
    return "the session has up to " + std::to_string(whole_bytes(numbers)) +
           " keys or payloads, but a session can have at most " +
           std::to_string(whole_bytes(kNumbersMax));
  }
  if (demand.procedures == 0 || demand.string_bytes <= kImageStringsMax) return "";
  return "the session has up to " + gib(whole_bytes(demand.string_bytes)) +
         " of different strings, but a session of this benchmark, whose calls depend on earlier "
         "results, can have at most " +
         gib(whole_bytes(kImageStringsMax));
}

std::string too_much_memory(const MemoryNeed& need, uint64_t allowed) {
  return "the session needs up to " + gib(need.total()) + " of memory (library " +
         gib(need.library_bytes) + ", referee " + gib(need.referee_bytes) + "), but may use only " +
         gib(allowed) + " here, " + std::to_string(kMemoryPercentMax) +
         " % of the machine's memory";
}

// A parameter that makes the session fit if it is lowered to `value`.
struct Remedy {
  std::string parameter;
  int64_t value = 0;
  double kept = 0;  // the new value divided by the present one

  std::string text() const {
    const std::string number = std::to_string(value);
    return "lower the parameter " + parameter + " to " + number + " or less (-p " + parameter +
           "=" + number + ")";
  }
};

// Returns the largest value of a parameter between `least` and `present` with which `fits` is true,
// or nothing if even `least` does not fit. The need grows with the value, so a binary search finds
// it.
template <typename Fits>
std::optional<int64_t> largest_fitting(int64_t least, int64_t present, const Fits& fits) {
  int64_t low = least, high = present;  // fits(low) is true, fits(high) is false
  if (present <= low || !fits(low)) return std::nullopt;
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

// Returns the parameter whose fitting value is the largest fraction of its present value. If no
// parameter alone helps, the name is "".
template <typename Fits>
Remedy best_remedy(const workload::Manifest& manifest, const workload::ParameterValues& values,
                   const Fits& fits) {
  Remedy best;
  for (const auto& [name, present] : values) {
    const int64_t least = manifest.parameters.find(name)->second.min;
    const auto value = largest_fitting(least, present, [&](int64_t candidate) {
      workload::ParameterValues changed = values;
      changed[name] = candidate;
      return fits(workload::Parameters(std::move(changed)));
    });
    if (!value) continue;
    const double kept = static_cast<double>(*value) / static_cast<double>(present);
    if (kept > best.kept) best = {.parameter = name, .value = *value, .kept = kept};
  }
  return best;
}

}  // namespace

MemoryNeed memory_need(const workload::Workload& workload, const workload::Parameters& parameters,
                       const MemoryRules& rules) {
  workload::Demand demand = demand_of(workload, parameters, rules);
  if (rules.certify) demand.add_recorded_calls(demand.load_ops + demand.run_words, 0);
  const uint64_t computed = std::max(rules.least_bytes, whole_bytes(library_bytes(demand)));
  return {.referee_bytes = whole_bytes(referee_bytes(demand)),
          .library_bytes = rules.limit_bytes > 0 ? rules.limit_bytes : computed};
}

uint64_t referee_bound(const MemoryNeed& need, uint64_t machine_bytes, uint64_t available_bytes) {
  if (machine_bytes == 0) return static_cast<uint64_t>(kBytesMax);
  const uint64_t left = machine_bytes / 100 * kMemoryPercentMax - need.library_bytes;
  return available_bytes == 0 ? left : std::min(left, available_bytes);
}

Result<MemoryNeed> fit_memory(const workload::Workload& workload,
                              const workload::Manifest& manifest,
                              const workload::Parameters& parameters, const MemoryRules& rules) {
  const MemoryNeed need = memory_need(workload, parameters, rules);
  const uint64_t allowed =
      rules.machine_bytes == 0 ? UINT64_MAX : rules.machine_bytes / 100 * kMemoryPercentMax;
  const auto fits = [&](const workload::Parameters& candidate) {
    return memory_need(workload, candidate, rules).least() <= allowed &&
           too_many(demand_of(workload, candidate, rules), rules.keys).empty();
  };
  if (fits(parameters)) return need;
  const Remedy remedy = best_remedy(manifest, parameters.values(), fits);
  const bool needs_too_much = need.least() > allowed;
  const std::string advice = !remedy.parameter.empty() ? remedy.text()
                             : rules.limit_bytes > 0 && needs_too_much
                                 ? "lower the library's memory limit (jail.memory_bytes)"
                             : rules.plays_trace ? "shorten the trace"
                                                 : "choose a smaller scale";
  const workload::Demand demand = demand_of(workload, parameters, rules);
  std::string text = too_many(demand, rules.keys);
  if (needs_too_much) text += (text.empty() ? "" : "; besides, ") + too_much_memory(need, allowed);
  const bool lacks_keys =
      rules.keys != nullptr && demand.all_keys() > static_cast<double>(rules.keys->size());
  return Error{text + ": " + (lacks_keys ? "give a file with more keys, or " : "") + advice};
}

}  // namespace keydrome

// The program structure_bench compares structures with containers from packages (peers): Abseil's
// B-tree, std::map and oneTBB's concurrent hash map. A structure is a data structure with the
// interface of contract B (keydrome/structure.h).
//
//     structure_bench [OPTIONS] LIBRARY...
//       --keys SET,...       sets of keys (default: int); keys.h lists them
//       --counts N,...       numbers of keys (default: 100000,1000000)
//       --rounds N           repetitions of each loop (default: 5)
//       --operations N       operations of a loop (default: 300000)
//       --threads N          threads of the loops with several threads (default: 2)
//       --loops NAME,...     after the insertions, only these loops of phases.h (default: all)
//       --huge-pages         measures each structure a second time, on huge pages
//       --without-memory     does not measure the memory, which loads all keys once more
//       --without-peers      measures only the structures
//       --peers NAME,...     of the peers, measures only these (default: all)
//       --latency BYTES,...  measures no structures, but ns per load in memory of these sizes, if
//                            each load depends on the one before
//       --json FILE          writes the results as JSON (version 1)
//
// Prints ns per operation, and bytes of resident memory per key. All structures and peers (the
// *subjects*) take turns in one process. Compare times only within one run of the program. If the
// build has not found the package of a peer, the peer is left out.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/output_file.h"
#include "structures/bench/latency.h"
#include "structures/bench/phases.h"
#include "structures/bench/resident.h"
#include "structures/bench/structure_subject.h"

namespace keydrome::bench {
namespace {

struct Options {
  std::vector<KeySet> sets{KeySet::kInt};
  std::vector<uint64_t> counts{100'000, 1'000'000};
  Plan plan;
  bool huge_pages = false, memory = true, peers = true;
  std::vector<std::string> peer_names;  // empty: all
  std::vector<uint64_t> latency_bytes;  // not empty: measure only the memory
  std::string json_file;
  std::vector<std::string> libraries;
};

[[noreturn]] void stop(const std::string& message) {
  std::fprintf(stderr, "structure_bench: %s\n", message.c_str());
  std::exit(2);
}

uint64_t number_of(std::string_view option, std::string_view text, std::string_view example) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number == 0) {
    stop(std::string(option) + ": \"" + std::string(text) +
         "\" is not a positive number: give a number such as " + std::string(example));
  }
  return number;
}

std::vector<std::string_view> split(std::string_view option, std::string_view list,
                                    std::string_view example) {
  std::vector<std::string_view> parts;
  for (std::string_view rest = list;;) {
    const std::size_t comma = rest.find(',');
    if (comma == 0 || rest.empty()) {
      stop(std::string(option) + ": an element of the list \"" + std::string(list) +
           "\" is empty: give a list such as " + std::string(example));
    }
    parts.push_back(rest.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    rest.remove_prefix(comma + 1);
  }
}

std::vector<uint64_t> numbers_of(std::string_view option, std::string_view list,
                                 std::string_view example) {
  std::vector<uint64_t> numbers;
  const std::string_view first = example.substr(0, example.find(','));
  for (const std::string_view one : split(option, list, example)) {
    numbers.push_back(number_of(option, one, first));
  }
  return numbers;
}

std::vector<std::string> loops_of(std::string_view list) {
  std::vector<std::string> loops;
  for (const std::string_view one : split("--loops", list, "lookup,scan")) {
    if (std::ranges::find(kLoops, one) == kLoops.end()) {
      std::string known;
      for (const std::string_view loop : kLoops) known += " " + std::string(loop);
      stop("--loops: there is no loop \"" + std::string(one) + "\"; use some of:" + known);
    }
    loops.emplace_back(one);
  }
  return loops;
}

constexpr std::string_view kOptionsWithValue[] = {"--keys",       "--counts",  "--rounds",
                                                  "--operations", "--threads", "--loops",
                                                  "--peers",      "--latency", "--json"};

// `name` is one of kOptionsWithValue.
void set_option(Options& options, std::string_view name, std::string_view value) {
  if (name == "--keys") {
    options.sets.clear();
    for (const std::string_view one : split(name, value, "int,ycsb")) {
      const std::optional<KeySet> set = key_set_of(one);
      if (!set) {
        stop("--keys: there is no set of keys \"" + std::string(one) +
             "\"; use int, ycsb, email, url, random or prefix");
      }
      options.sets.push_back(*set);
    }
  } else if (name == "--counts") {
    options.counts = numbers_of(name, value, "100000,1000000");
  } else if (name == "--rounds") {
    options.plan.rounds = static_cast<uint32_t>(number_of(name, value, "5"));
  } else if (name == "--operations") {
    options.plan.operations = number_of(name, value, "300000");
  } else if (name == "--threads") {
    options.plan.threads = static_cast<uint32_t>(number_of(name, value, "2"));
  } else if (name == "--loops") {
    options.plan.loops = loops_of(value);
  } else if (name == "--peers") {
    for (const std::string_view one : split(name, value, "absl::btree_map,std::map")) {
      options.peer_names.emplace_back(one);
    }
  } else if (name == "--latency") {
    options.latency_bytes = numbers_of(name, value, "2500000,22000000");
  } else {
    options.json_file = value;
  }
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (!argument.starts_with("--")) {
      options.libraries.emplace_back(argument);
    } else if (argument == "--huge-pages") {
      options.huge_pages = true;
    } else if (argument == "--without-memory") {
      options.memory = false;
    } else if (argument == "--without-peers") {
      options.peers = false;
    } else if (std::ranges::find(kOptionsWithValue, argument) == std::end(kOptionsWithValue)) {
      stop("unknown option " + std::string(argument) +
           "; use --keys, --counts, --rounds, --operations, --threads, --loops, --huge-pages, "
           "--without-memory, --without-peers, --peers, --latency or --json");
    } else if (++i == argc) {
      stop(std::string(argument) + ": the value is missing; write it after " +
           std::string(argument));
    } else {
      set_option(options, argument, argv[i]);
    }
  }
  return options;
}

// Makes one subject, for integer keys or for strings.
using Maker = std::function<std::unique_ptr<Subject>()>;

// Returns false for a structure that cannot hold keys of this size or payloads of 8 bytes. Such a
// structure is left out.
bool fits(const KeydromeStructureTable& table, bool integers) {
  const bool key = table.key_bytes_only == 0 || (integers && table.key_bytes_only == 8);
  return key && (table.payload_bytes_max == 0 || table.payload_bytes_max >= 8);
}

// Returns whether the name is in the list, or the list is empty.
bool wanted(const std::vector<std::string>& names, const std::string& name) {
  return names.empty() || std::ranges::find(names, name) != names.end();
}

std::vector<Maker> makers(const Options& options,
                          const std::vector<const KeydromeStructureTable*>& tables, bool integers) {
  std::vector<Maker> found;
  if (options.peers) {
    for (const auto make : {make_absl_btree, make_std_map, make_tbb_hash}) {
      const std::unique_ptr<Subject> peer = make(integers);
      if (peer == nullptr || !wanted(options.peer_names, peer->name())) continue;
      found.push_back([=] { return make(integers); });
    }
  }
  for (const KeydromeStructureTable* table : tables) {
    if (!fits(*table, integers)) continue;
    for (const bool huge_pages : {false, true}) {
      if (huge_pages && !options.huge_pages) continue;
      found.push_back(
          [=] { return std::make_unique<StructureSubject>(*table, integers, huge_pages); });
    }
  }
  return found;
}

double median(const Json& values) {
  std::vector<double> numbers;
  for (const Json& value : values.as_array()) numbers.push_back(value.as_number());
  std::sort(numbers.begin(), numbers.end());
  return numbers[numbers.size() / 2];
}

void print(KeySet set, uint64_t count, const Json& subjects) {
  for (const auto& [name, loops] : subjects.as_object()) {
    std::printf("%-7s %9lu  %-24s", std::string(name_of(set)).c_str(), count, name.c_str());
    for (const auto& [loop, values] : loops.as_object()) {
      if (values.is_array()) {
        std::printf("  %s %.1f", loop.c_str(), median(values));
      } else if (values.is_number()) {
        std::printf("  %s %.1f", loop.c_str(), values.as_number());
      }
    }
    std::printf("\n");
  }
  std::fflush(stdout);
}

// One set of keys, and the number of keys to use.
struct Run {
  KeySet set;
  uint64_t count;
  std::vector<Maker> makers;
  std::vector<double> resident;  // bytes per key of each subject; 0 if not measured
};

// Measures the memory of all subjects, and returns the runs to time. Must be called before any
// timed loop: a subject could reuse memory that a loop has freed, and its bytes per key would be
// too small.
std::vector<Run> plan_runs(const Options& options,
                           const std::vector<const KeydromeStructureTable*>& tables) {
  std::vector<Run> runs;
  for (const KeySet set : options.sets) {
    const std::vector<Maker> all = makers(options, tables, set == KeySet::kInt);
    for (const uint64_t count : options.counts) {
      Run run{set, count, all, {}};
      for (const Maker& make : all) {
        run.resident.push_back(options.memory ? resident_bytes_per_key(make, set, count) : 0);
      }
      runs.push_back(std::move(run));
    }
  }
  return runs;
}

Json time_loops(const Run& run, const Plan& plan) {
  Subjects subjects;
  for (const Maker& make : run.makers) subjects.push_back(make());
  Json measured = measure(subjects, make_keys(run.set, run.count), plan);
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    const Abilities abilities = subjects[i]->abilities();
    Json& one = measured[subjects[i]->name()];
    one["resident_bytes_per_key"] = run.resident[i];
    one["peer"] = abilities.peer;
    one["ordered"] = abilities.ordered;
    one["thread_safe"] = abilities.thread_safe;
  }
  print(run.set, run.count, measured);
  Json entry;
  entry["keys"] = name_of(run.set);
  entry["count"] = run.count;
  entry["subjects"] = std::move(measured);
  return entry;
}

Json measure_latencies(const std::vector<uint64_t>& sizes) {
  Json latencies = Json::Array{};
  for (const uint64_t bytes : sizes) {
    const double ns = ns_per_load(bytes);
    std::printf("latency %12lu bytes  %.1f ns\n", bytes, ns);
    Json one;
    one["bytes"] = bytes;
    one["ns"] = ns;
    latencies.push_back(std::move(one));
  }
  return latencies;
}

// Measures all planned runs, and returns the results.
Json measure_runs(const Options& options) {
  std::vector<const KeydromeStructureTable*> tables;
  for (const std::string& library : options.libraries) {
    auto table = load_structure(library);
    if (!table) stop(table.error().message);
    tables.push_back(*table);
  }
  const std::vector<Run> planned = plan_runs(options, tables);
  std::printf(
      "columns: set of keys, number of keys, measured structure, ns per operation of each loop, "
      "and resident bytes per key\n");
  Json runs = Json::Array{};
  for (const Run& one : planned) runs.push_back(time_loops(one, options.plan));
  Json result;
  result["version"] = 1;
  result["rounds"] = options.plan.rounds;
  result["threads"] = options.plan.threads;
  result["huge_pages"] = options.huge_pages;
  result["runs"] = std::move(runs);
  return result;
}

void require(const Result<void>& result) {
  if (!result) stop(result.error().message);
}

}  // namespace
}  // namespace keydrome::bench

int main(int argc, char** argv) {
  using namespace keydrome::bench;
  const Options options = parse(argc, argv);
  if (!options.json_file.empty()) require(keydrome::check_writable(options.json_file));
  keydrome::Json result;
  if (options.latency_bytes.empty()) {
    result = measure_runs(options);
  } else {
    result["version"] = 1;
    result["latencies"] = measure_latencies(options.latency_bytes);
  }
  if (!options.json_file.empty()) {
    require(keydrome::write_file(options.json_file, result.dump(1) + "\n"));
  }
  return 0;
}

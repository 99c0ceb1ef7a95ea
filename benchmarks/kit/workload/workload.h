// Workload: the interface that the author of a benchmark implements. A workload turns parameters
// and a seed into a script (the indexes, keys and operations of a session). Afterwards it judges
// the outcome, i.e. the results that the library returned.
//
// A workload runs in the referee, the process that runs and judges a session. The referee is
// outside the jail (the sandbox of the library), so a workload is never timed. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "benchmarks/kit/judge/finding.h"
#include "benchmarks/kit/judge/replay.h"
#include "benchmarks/kit/judge/totals.h"
#include "benchmarks/kit/script/outcome_reader.h"
#include "benchmarks/kit/script/script.h"
#include "benchmarks/kit/workload/demand.h"
#include "benchmarks/kit/workload/parameters.h"
#include "keydrome/index.h"

namespace keydrome::workload {

struct TraceFile;

// Measurements of a finished phase. The referee measures outside the jail.
struct PhaseMeasures {
  uint64_t wall_ns = 0;                  // elapsed time of the phase
  std::optional<uint64_t> memory_bytes;  // memory of the jail at the end of the phase
};

// The metrics of a session, by their names in the report. A metric that is unknown is left out.
using Metrics = std::map<std::string, double>;

// The checks that a script adds to the operations of the workload itself. The option --plain turns
// all of them off.
struct CheckPolicy {
  bool stripes = true;   // extra transactions on keys of one thread (stripes.h)
  bool canaries = true;  // extra transactions on the workload's keys (canaries.h, read_backs.h)
  bool evidence =
      true;  // copies of single results, from which a workload's judge checks invariants
};

class Workload {
 public:
  virtual ~Workload() = default;
  // Gives the workload a recorded trace (the calls of a user's program) to play. The referee calls
  // play_trace() before the functions below, if the user gives a trace. Returns false if the
  // workload plays no traces, as the default does.
  [[nodiscard]] virtual bool play_trace(std::shared_ptr<const TraceFile> trace);
  // Estimates the memory of a session with these parameters (demand.h). Takes microseconds, and
  // gives a result for all parameters within their bounds, even those that generate() refuses.
  virtual Demand demand(const Parameters& parameters) const = 0;
  // Returns the script for these parameters. Equal arguments must give equal scripts.
  virtual Result<script::Script> generate(const Parameters& parameters, uint64_t seed,
                                          const CheckPolicy& policy) = 0;
  // Adapts a phase to the results of the phases before it. The referee calls adapt_phase() before
  // it plays phase `phase`, so equal results give an equal phase. The function may change the name
  // and the scheduled end of the phase, and the names of transaction classes. It may also change
  // the times of the phase's kArrive ops, which set when transactions start. It may change nothing
  // else, because the referee has already cut the programs into pieces, the parts that a thread
  // receives at once. In a replay of parts of the script, the referee does not call adapt_phase().
  // The default changes nothing.
  virtual void adapt_phase(script::Script& script, uint32_t phase,
                           const script::Outcome& so_far) const;
  // Adds a finding for each violation in a complete session. The default (judge/judge.h) checks the
  // results of all calls of any script, and its final scan, which reads all records.
  virtual void judge(const script::Script& script, const script::Outcome& outcome,
                     judge::Findings& findings) const;
  // The referee calls examine() after every session, even after a crash. The default calls judge()
  // if the session is complete. A workload may explain a crash in examine(), or replay parts of the
  // script.
  virtual void examine(const script::Script& script, const judge::Played& played,
                       judge::Findings& findings) const;
  // Returns true if thread 0 has made a call that the index API forbids, at operation `op` of phase
  // `phase` or before it. A failure of the library after such a call, even a crash, is only a
  // warning.
  virtual bool has_misused(uint32_t phase, uint64_t op) const;
  // Adds findings about the memory of the phases. The referee calls this function for complete
  // sessions. `phases[i]` belongs to `script.phases[i]`. The default adds none.
  virtual void judge_memory(const script::Script& script, const script::Outcome& outcome,
                            std::span<const PhaseMeasures> phases, judge::Findings& findings) const;
  // Returns the throughput over time that the report shows. The referee calls throughput() if the
  // last timed phase has ended. The default returns nothing: the report then shows the throughput
  // of the last timed phase.
  virtual std::optional<judge::Throughput> throughput(const script::Script& script,
                                                      const script::Outcome& outcome) const;
  // Adds metrics that only this workload has. The referee calls measure() for complete sessions.
  // `phases[i]` belongs to `script.phases[i]`. The default adds no metric.
  virtual void measure(const script::Script& script, const script::Outcome& outcome,
                       std::span<const PhaseMeasures> phases, Metrics& metrics) const;
};

// One benchmark: a folder benchmarks/NAME with a benchmark.json. CMake generates the registry of
// all benchmarks.
struct BenchmarkEntry {
  std::string_view name;
  uint32_t version;
  std::string_view manifest_json;  // the whole benchmark.json, compiled in
  std::unique_ptr<Workload> (*make)(std::string_view instance);
};
std::span<const BenchmarkEntry> benchmark_registry();

}  // namespace keydrome::workload

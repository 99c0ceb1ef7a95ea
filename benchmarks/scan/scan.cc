// Generates the operations of the benchmark "scan": scans of a whole index or of ranges of keys
// (README.md).
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/count_text.h"
#include "benchmarks/kit/format/program_walk.h"
#include "benchmarks/kit/judge/judge.h"
#include "benchmarks/kit/script/outcome_reader.h"
#include "benchmarks/kit/workload/client_script.h"
#include "benchmarks/kit/workload/demand.h"
#include "benchmarks/kit/workload/workload.h"

namespace keydrome {
namespace scan {
namespace {

constexpr double kBytesPerMb = 1e6;
constexpr double kNsPerSecond = 1e9;
constexpr uint32_t kTexts = 1024;
constexpr const char* kPhase = "scan";

// Writes the script: the operations of all threads. The script's list of keys (pool) begins with
// the keys 0 .. records-1, and all of these are loaded. Such a key therefore equals its number in
// the pool, and a scan of n records from key k ends at key k + n - 1.
class Generator : public workload::ClientScript {
 public:
  Generator(const Parameters& parameters, uint64_t seed, const CheckPolicy& policy)
      : ClientScript(seed, policy),
        records_(parameters.u32("records")),
        range_(parameters.u32("records_per_scan")),
        scans_(parameters.u64("scans_per_thread")),
        payload_bytes_(parameters.u32("payload_bytes")) {
    index_ = builder().add_index("index", INT);
    for (uint32_t key = 0; key < records_; ++key) builder().add_int64_key(key);
    scan_ = builder().add_class("scan");
    const bool is_long = range_ == 0 || range_ >= kLongScan;
    add_clients(
        parameters.u32("threads"), [this](Rng& rng, uint32_t) { return start_key(rng); },
        is_long ? 1 : kScansPerCheck);
  }

 private:
  // Each long scan is followed by checks, because a run makes few long scans. The checks take at
  // most 2 % of the run's time.
  static constexpr uint32_t kLongScan = 5'000;  // a scan of at least this many records is long
  static constexpr uint64_t kScansPerCheck = 100;

  void load() override {
    const std::vector<uint32_t> texts =
        workload::random_texts(builder(), seed(), kTexts, payload_bytes_ - format::kTagBytes);
    Rng rng(seed(), 0, Purpose::kPopulate);
    load_shuffled(records_, rng, [&](uint32_t key) {
      const uint32_t text = texts[rng.below(texts.size())];
      return Row{.index = index_, .key = key, .payload = builder().new_payload(text)};
    });
  }

  void run() override {
    run_phase(kPhase, scans_, 2, [this](Client& client) { transaction(client); });
  }

  // A scan of the whole index begins with a get of key 0. A getNext without this get would begin at
  // the smaller keys of the stripes (check transactions on keys that only one thread uses).
  void transaction(Client& client) {
    client.begin(index_, scan_);
    if (range_ == 0) {
      client.out().get(kSlot, 0);
      client.out().next_to_end(kSlot, records_ - 1);
    } else {
      client.out().get(kSlot, start_key(client.rng()));
      if (range_ > 1) client.out().next(kSlot, range_ - 1);
    }
    client.commit();
  }

  uint32_t start_key(Rng& rng) const {
    const uint32_t length = range_ == 0 ? 1 : range_;
    return static_cast<uint32_t>(rng.below(records_ - length + 1));
  }

  uint32_t records_, range_;  // range_: records per scan; 0: the whole index
  uint64_t scans_;
  uint32_t payload_bytes_;
  uint32_t index_ = 0, scan_ = 0;
};

// Returns how many records the scans of a thread read. The number follows from the program alone,
// because no record that they read changes during the run.
uint64_t records_of(std::span<const format::Op> ops) {
  uint64_t records = 0;
  format::walk_program(ops, [&](const format::Step& step) {
    if (step.kind != format::Kind::kStream) return;
    const format::Op& op = ops[step.op];
    if (op.code == format::OpCode::kGet) ++records;
    if (op.code == format::OpCode::kNext || op.code == format::OpCode::kNextToEnd)
      records += op.argument;
  });
  return records;
}

// Returns how many calls a thread makes if no call returns DEADLOCK.
uint64_t calls_of(std::span<const format::Op> ops) {
  uint64_t calls = 0;
  format::walk_program(ops, [&](const format::Step& step) {
    const format::Op& op = ops[step.op];
    calls += op.code == format::OpCode::kNext        ? op.argument
             : op.code == format::OpCode::kNextToEnd ? op.argument + uint64_t{1}
                                                     : 1;
  });
  return calls;
}

constexpr double kKeyBytes = 8;

class Scan : public workload::Workload {
 public:
  workload::Demand demand(const workload::Parameters& parameters) const override {
    const double threads = parameters.number("threads"), records = parameters.number("records");
    const double range = parameters.number("records_per_scan");
    workload::Demand demand(threads);
    demand.add_load(records, kKeyBytes + parameters.number("payload_bytes"));
    // Each long scan is followed by checks, which make about 24 calls.
    demand.add_transactions(threads * parameters.number("scans_per_thread"), 24, 24);
    demand.add_transactions(threads * parameters.number("scans_per_thread"), 2,
                            range == 0 ? records : range);
    return demand;
  }

  Result<script::Script> generate(const workload::Parameters& parameters, uint64_t seed,
                                  const workload::CheckPolicy& policy) override {
    if (parameters["records_per_scan"] > parameters["records"]) {
      return Error{"records_per_scan is " + std::to_string(parameters["records_per_scan"]) +
                   ", but the index has only " + std::to_string(parameters["records"]) +
                   " records: raise records or lower records_per_scan"};
    }
    payload_bytes_ = parameters.u64("payload_bytes");
    return Generator(parameters, seed, policy).write();
  }

  // Also reports scans that end early: they make fewer calls than the program requires.
  void judge(const script::Script& script, const script::Outcome& outcome,
             judge::Findings& findings) const override {
    judge::judge_script(script, outcome, findings);
    for (std::size_t p = 0; p < outcome.phases.size(); ++p) {
      if (script.phases[p].name != kPhase) continue;
      for (std::size_t t = 0; t < script.phases[p].threads.size(); ++t) {
        const uint64_t wanted = calls_of(script.phases[p].threads[t]);
        const uint64_t calls = outcome.phases[p].threads[t].totals.calls;
        if (calls >= wanted) continue;
        findings.required("short_scan", phase_text(script.phases[p]) + ", thread " +
                                            std::to_string(t) +
                                            ": scans returned DB_END too early and missed " +
                                            count_text(wanted - calls, "record") +
                                            ": each scan must return all records of its range");
      }
    }
  }

  void measure(const script::Script& script, const script::Outcome& outcome,
               std::span<const workload::PhaseMeasures> phases,
               workload::Metrics& metrics) const override {
    for (std::size_t p = 0; p < outcome.phases.size(); ++p) {
      if (script.phases[p].name != kPhase) continue;
      uint64_t records = 0;
      for (const std::vector<format::Op>& ops : script.phases[p].threads)
        records += records_of(ops);
      const double seconds = static_cast<double>(phases[p].wall_ns) / kNsPerSecond;
      metrics["scanned_records_per_s"] = static_cast<double>(records) / seconds;
      metrics["scanned_mb_per_s"] =
          static_cast<double>(records * payload_bytes_) / kBytesPerMb / seconds;
    }
  }

 private:
  uint64_t payload_bytes_ = 0;  // of the last generated script
};

}  // namespace
}  // namespace scan

std::unique_ptr<workload::Workload> make_scan(std::string_view /*instance*/) {
  return std::make_unique<scan::Scan>();
}

}  // namespace keydrome

// Scans of a whole index, and of ranges of it (README.md).
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/kit/clients.h"
#include "benchmarks/kit/judge.h"
#include "benchmarks/kit/outcome_reader.h"
#include "benchmarks/kit/program_walk.h"
#include "benchmarks/kit/rng.h"
#include "benchmarks/kit/script_builder.h"
#include "benchmarks/kit/workload.h"

namespace keydrome {
namespace scan {
namespace {

constexpr double kBytesPerMb = 1e6;
constexpr double kNsPerSecond = 1e9;
constexpr uint32_t kTexts = 1024;
constexpr const char* kPhase = "scan";

// Writes the whole script; one use. The pool holds the domain 0 .. records - 1, all of it loaded,
// so that a key is its number and a scan of n records ends n - 1 keys further.
class Generator {
 public:
  Generator(const Parameters& parameters, uint64_t seed, const CheckPolicy& policy)
      : seed_(seed),
        records_(static_cast<uint32_t>(parameters["records"])),
        range_(static_cast<uint32_t>(parameters["records_per_scan"])),
        scans_(static_cast<uint64_t>(parameters["scans_per_thread"])),
        payload_bytes_(static_cast<uint32_t>(parameters["payload_bytes"])) {
    index_ = script_.add_index("index", INT);
    for (uint32_t key = 0; key < records_; ++key) script_.add_int64_key(key);
    scan_ = script_.add_class("scan");
    clients_.emplace(
        script_, Clients::Options{.seed = seed,
                                  .threads = static_cast<uint32_t>(parameters["threads"]),
                                  .policy = policy,
                                  .probe = [this](Rng& rng, uint32_t) { return start_key(rng); },
                                  // So that a few long scans have their checks too: 2 % at most.
                                  .check_every = range_ == 0 || range_ >= kLong ? 1u : 100u});
  }

  Script run() {
    const uint32_t create = script_.add_phase("create", 1, {});
    script_.thread(create, 0).create(index_);
    load();
    clients_->start(kPhase, scans_ * 4);
    for (uint64_t i = 0; i < scans_; ++i) {
      for (Client& client : *clients_) transaction(client);
    }
    clients_->finish();
    clients_->verify();
    return script_.build();
  }

 private:
  static constexpr uint32_t kLong = 5'000;  // records beside which a check does not count

  void load() {
    Rng rng(seed_, 0, Purpose::kPopulate);
    const std::vector<uint32_t> texts =
        random_texts(script_, seed_, kTexts, payload_bytes_ - kTagBytes);
    const std::vector<uint32_t> order = shuffled(records_, rng);
    clients_->load(records_, [&](uint64_t i) {
      const uint32_t text = texts[rng.below(texts.size())];
      return Row{.index = index_, .key = order[i], .payload = script_.new_payload(text)};
    });
  }

  // From the first key on, and not by getNext alone, because stripes lie before it.
  void transaction(Client& client) {
    client.begin(index_, scan_);
    if (range_ == 0) {
      client.out().get(Client::kSlot, 0);
      client.out().next_to_end(Client::kSlot, records_ - 1);
    } else {
      const uint8_t all = client.sample(kEvidenceAll);
      client.out().get(Client::kSlot, start_key(client.rng()), all != 0 ? kEvidence : uint8_t{0});
      if (range_ > 1) client.out().next(Client::kSlot, range_ - 1, all);
    }
    client.commit();
  }

  uint32_t start_key(Rng& rng) const {
    const uint32_t length = range_ == 0 ? 1 : range_;
    return static_cast<uint32_t>(rng.below(records_ - length + 1));
  }

  uint64_t seed_;
  uint32_t records_, range_;
  uint64_t scans_;
  uint32_t payload_bytes_;
  ScriptBuilder script_;
  uint32_t index_ = 0, scan_ = 0;
  std::optional<Clients> clients_;
};

// How many records the scans of a program read. Everything is there and nothing changes, so that is
// certain.
uint64_t records_of(std::span<const Op> ops) {
  uint64_t records = 0;
  walk_program(ops, [&](const Step& step) {
    if (step.kind != Kind::kStream) return;
    const Op& op = ops[step.op];
    if (op.code == OpCode::kGet) ++records;
    if (op.code == OpCode::kNext || op.code == OpCode::kNextToEnd) records += op.argument;
  });
  return records;
}

// How many calls a thread makes that is never answered DEADLOCK.
uint64_t calls_of(std::span<const Op> ops) {
  uint64_t calls = 0;
  walk_program(ops, [&](const Step& step) {
    const Op& op = ops[step.op];
    calls += op.code == OpCode::kNext        ? op.argument
             : op.code == OpCode::kNextToEnd ? op.argument + uint64_t{1}
                                             : 1;
  });
  return calls;
}

class Scan : public Workload {
 public:
  Result<Script> generate(const Parameters& parameters, uint64_t seed,
                          const CheckPolicy& policy) override {
    if (parameters["records_per_scan"] > parameters["records"]) {
      return Error{
          "a scan cannot be longer than the index: raise records or lower "
          "records_per_scan"};
    }
    payload_bytes_ = static_cast<uint64_t>(parameters["payload_bytes"]);
    return Generator(parameters, seed, policy).run();
  }

  // A scan that ends early makes fewer calls than it has records.
  void judge(const Script& script, const Outcome& outcome, Findings& findings) const override {
    judge_script(script, outcome, findings);
    for (std::size_t p = 0; p < outcome.phases.size(); ++p) {
      if (script.phases[p].name != kPhase) continue;
      for (std::size_t t = 0; t < script.phases[p].threads.size(); ++t) {
        const uint64_t wanted = calls_of(script.phases[p].threads[t]);
        const uint64_t calls = outcome.phases[p].threads[t].counters->calls;
        if (calls >= wanted) continue;
        findings.required("short_scan", "phase scan, thread " + std::to_string(t) + ": " +
                                            std::to_string(wanted - calls) +
                                            " records were not read, because scans ended before "
                                            "the last one");
      }
    }
  }

  void measure(const Script& script, const Outcome& outcome, std::span<const PhaseMeasures> phases,
               Metrics& metrics) const override {
    for (std::size_t p = 0; p < outcome.phases.size(); ++p) {
      if (script.phases[p].name != kPhase) continue;
      uint64_t records = 0;
      for (const std::vector<Op>& ops : script.phases[p].threads) records += records_of(ops);
      const double seconds = static_cast<double>(phases[p].wall_ns) / kNsPerSecond;
      metrics["scanned_records_per_s"] = static_cast<double>(records) / seconds;
      metrics["scanned_mb_per_s"] =
          static_cast<double>(records * payload_bytes_) / kBytesPerMb / seconds;
    }
  }

 private:
  uint64_t payload_bytes_ = 0;  // of the script that was generated last
};

}  // namespace
}  // namespace scan

std::unique_ptr<Workload> make_scan(std::string_view /*instance*/) {
  return std::make_unique<scan::Scan>();
}

}  // namespace keydrome

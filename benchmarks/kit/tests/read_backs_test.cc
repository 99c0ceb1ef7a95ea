// Tests the read-backs of all benchmarks: extra transactions in which a thread reads keys that it
// has written (workload/read_backs.h). A census counts each thread's reads with a model of its
// own: it compares keys, not their numbers, and knows every writer of a key.
#include "benchmarks/kit/workload/read_backs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <unordered_map>
#include <vector>

#include "benchmarks/kit/format/program_walk.h"
#include "benchmarks/kit/judge/keys/key_ranks.h"
#include "benchmarks/kit/tests/workloads.h"
#include "benchmarks/kit/workload/phase_keys.h"

namespace keydrome {
namespace {

constexpr uint64_t kRecentCalls = 64;
constexpr uint32_t kShortScan = 8;
constexpr uint64_t kFew = 8;
constexpr uint64_t kExtraReads = 1'000;  // a thread may add this many reads with known results

// What a thread reads in a phase.
struct Census {
  uint64_t calls = 0, reads = 0;
  uint64_t known = 0;  // gets of keys that no other thread changes, so that their results are known
  uint64_t recent = 0, older = 0;  // known gets of keys that the thread changed before
  uint64_t scans = 0;              // scans of at least kShortScan records, from different keys
  uint64_t closing = 0, closing_scans = 0;  // reads at the end of the program
  uint64_t between_calls = 0;               // calls of read-backs that are not at the end
};

bool is_write(format::OpCode code) {
  return code == format::OpCode::kInsert || code == format::OpCode::kDeleteKey ||
         code == format::OpCode::kDeletePair;
}

// Counts the reads of all threads of a phase.
class PhaseCensus {
 public:
  // True if the workload itself changes, or inserts, records in the phase.
  bool writes = false, inserts = false;
  bool computes = false;  // true if the phase runs procedures

  PhaseCensus(const script::Script& script, const judge::KeyRanks& ranks,
              const script::PhaseScript& phase, std::vector<bool> computed)
      : script_(script), ranks_(ranks), phase_(phase), computed_(std::move(computed)) {
    for (uint32_t t = 0; t < phase.threads.size(); ++t) {
      for_each_op(t, [&](uint64_t at, const workload::OpFollower& at_op) {
        const format::Op& op = phase.threads[t][at];
        computes = computes || op.code == format::OpCode::kRun;
        if (op.code == format::OpCode::kRun) writes = writes || changes_records(op);
        if (!is_write(op.code)) return;
        writes = writes || at_op.is_stream();
        inserts = inserts || (at_op.is_stream() && op.code == format::OpCode::kInsert);
        if (at_op.aborts()) return;
        uint32_t& writer = writers_[id(op, at_op)];
        writer = writer == 0 || writer == t + 1 ? t + 1 : UINT32_MAX;
      });
    }
  }

  Census count(uint32_t thread) {
    const std::vector<format::Op>& ops = phase_.threads[thread];
    const uint64_t end_of_stream = last_stream_op(ops);
    Census census;
    std::unordered_map<uint64_t, uint64_t> written;  // by key: the calls before its last change
    Start last_start = kNoStart;
    bool between = false;
    for_each_op(thread, [&](uint64_t at, const workload::OpFollower& at_op) {
      const format::Op& op = ops[at];
      const uint64_t calls = workload::calls_of(op, script_.pools);
      census.calls += calls;
      census.reads += workload::reads_of(op);
      if (op.code == format::OpCode::kBegin)
        between = static_cast<format::Kind>(op.kind) == format::Kind::kCanary &&
                  ops[at - 1].code != format::OpCode::kOpen;
      // A repeated scan is not counted again, but only within one transaction.
      if (op.code == format::OpCode::kBegin) last_start = kNoStart;
      if (between) census.between_calls += calls;
      if (op.code == format::OpCode::kCommit) between = false;
      if (is_write(op.code) && !at_op.aborts()) written[id(op, at_op)] = census.calls;
      if (op.code == format::OpCode::kGet) {
        if (at > end_of_stream) ++census.closing;
        if (is_known(op, at_op.index(op.slot))) count_get(id(op, at_op), thread, written, census);
      }
      if (!format::is_scan(op.code) || op.argument < kShortScan) return;
      if (at > end_of_stream) ++census.closing_scans;
      census.scans += is_new_scan(ops[at - 1], at_op.index(op.slot), last_start) ? 1 : 0;
    });
    return census;
  }

 private:
  using Start = std::pair<uint64_t, uint64_t>;  // where a scan starts: index and key
  static constexpr Start kNoStart{UINT64_MAX, UINT64_MAX};

  // Returns true if the op before a scan gets a key that is not that of the last scan, `last`.
  static bool is_new_scan(const format::Op& before, uint32_t index, Start& last) {
    if (before.code != format::OpCode::kGet) return false;
    const Start start{index, before.key};
    return std::exchange(last, start) != start;
  }

  // Returns false if a procedure may use the key of a get.
  bool is_known(const format::Op& op, uint32_t index) const {
    return !computed_[index] || script_.pools.is_kept(script_.indexes[index].type, op.key);
  }

  template <typename Visit>
  void for_each_op(uint32_t thread, Visit&& visit) {
    const std::vector<format::Op>& ops = phase_.threads[thread];
    workload::OpFollower follower(ops);
    for (uint64_t at = 0; at < ops.size(); ++at) {
      follower.follow(at);
      visit(at, follower);
    }
  }

  bool changes_records(const format::Op& run) const {
    const format::ProcedureEntry& entry = script_.pools.procedures[run.payload];
    const auto first = script_.pools.instructions.begin() + entry.first;
    return std::any_of(first, first + entry.count, [](const format::Instruction& instruction) {
      return format::is_write(instruction.code);
    });
  }

  uint64_t id(const format::Op& op, const workload::OpFollower& at_op) const {
    const uint32_t index = at_op.index(op.slot);
    return uint64_t{index} << 32 | ranks_.rank(script_.indexes[index].type, op.key);
  }

  static uint64_t last_stream_op(const std::vector<format::Op>& ops) {
    uint64_t last = 0;
    format::walk_program(ops, [&](const format::Step& step) {
      const bool read_back = step.kind == format::Kind::kCanary;
      if (step.transaction != format::kNoTransaction && !read_back) last = step.op;
    });
    return last;
  }

  void count_get(uint64_t key, uint32_t thread,
                 const std::unordered_map<uint64_t, uint64_t>& written, Census& census) const {
    const auto writer = writers_.find(key);
    if (writer != writers_.end() && writer->second != thread + 1) return;
    ++census.known;
    const auto last = written.find(key);
    if (last == written.end()) return;
    ++(census.calls - last->second <= kRecentCalls ? census.recent : census.older);
  }

  const script::Script& script_;
  const judge::KeyRanks& ranks_;
  const script::PhaseScript& phase_;
  std::vector<bool> computed_;
  std::unordered_map<uint64_t, uint32_t> writers_;  // the only thread + 1, or UINT32_MAX
};

// Expects that each thread of a phase makes at least as many reads of each kind as
// workload/read_backs.h requires. The last few of a thread may be missing, because the thread can
// end before it makes them.
void expect_rules(const std::string& where, const script::PhaseScript& phase,
                  PhaseCensus& counter) {
  std::vector<Census> threads;
  uint64_t calls = 0, closing_scans = 0;
  for (uint32_t t = 0; t < phase.threads.size(); ++t) {
    threads.push_back(counter.count(t));
    calls += threads.back().calls;
    closing_scans += threads.back().closing_scans;
  }
  for (uint32_t t = 0; t < threads.size(); ++t) {
    const Census& c = threads[t];
    const std::string text = where + ", thread " + std::to_string(t);
    EXPECT_GE(c.known, workload::known_reads_needed(c.reads - c.closing)) << text;
    EXPECT_GE(c.recent + c.older + kFew, c.reads / 100) << text;
    EXPECT_GE(c.older + kFew, c.reads / 200) << text;
    // In a phase with procedures, few writes have a key that the census knows. So fewer reads of
    // recently written keys are possible.
    EXPECT_GE(c.recent + kFew, c.reads / (counter.computes ? 1000 : 250)) << text;
    if (counter.inserts) {
      EXPECT_GE(c.scans + kFew, c.calls / 1250) << text;
    }
    EXPECT_GE(c.closing + kFew, workload::closing_reads_needed(calls, c.calls) * 9 / 10) << text;
    EXPECT_LE(c.between_calls, c.calls * 3 / 100 + kExtraReads * 2) << text;
  }
  EXPECT_GE(closing_scans, std::min<uint64_t>(16, threads.size())) << where;
}

void expect_rules(const std::string& scale, bool all) {
  for (const workload::BenchmarkEntry& entry : workload::benchmark_registry()) {
    const workload::Manifest manifest = workload::Manifest::parse(entry.manifest_json).value();
    if (manifest.kind != "performance") continue;
    for (const auto& [instance, unused] : manifest.instances) {
      if (!all && instance != manifest.instances.begin()->first) continue;
      const workload::Parameters parameters = manifest.resolve(instance, scale, {}).value();
      const script::Script script = entry.make(instance)->generate(parameters, 3, {}).value();
      const judge::KeyRanks ranks(script.pools);
      const std::vector<bool> computed = workload::computed_indexes(
          script.pools, script.phases, static_cast<uint32_t>(script.indexes.size()));
      for (const script::PhaseScript& phase : script.phases) {
        if (!phase.timed) continue;
        PhaseCensus counter(script, ranks, phase, computed);
        if (!counter.writes) continue;
        expect_rules(std::string(entry.name) + " " + instance + " " + phase.name, phase, counter);
      }
    }
  }
}

TEST(ReadBacks, EveryInstanceAtSmokeScaleHasTheReadsThatTheRulesAskFor) {
  expect_rules("smoke", true);
}

// All instances of laptop scale take more than a minute.
TEST(ReadBacks, BenchmarksAtLaptopScaleHaveTheReadsThatTheRulesAskFor) {
  expect_rules("laptop", std::getenv("KEYDROME_SOAK") != nullptr);
}

}  // namespace
}  // namespace keydrome

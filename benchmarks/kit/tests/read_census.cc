// Counts what each thread of a phase reads (read_census.h).
#include "benchmarks/kit/tests/read_census.h"

#include <algorithm>
#include <utility>

#include "benchmarks/kit/format/program_walk.h"

namespace keydrome::testing {
namespace {

constexpr uint64_t kRecentCalls = 64;
constexpr uint32_t kShortScan = 8;

using Start = std::pair<uint64_t, uint64_t>;  // where a scan starts: index and key
constexpr Start kNoStart{UINT64_MAX, UINT64_MAX};

bool is_write(format::OpCode code) {
  return code == format::OpCode::kInsert || code == format::OpCode::kDeleteKey ||
         code == format::OpCode::kDeletePair;
}

// A scan starts at the key of the get before it. Returns true if `before` is a get and its key is
// not `last`, the start of the previous scan. Then sets `last` to this key.
bool is_new_scan(const format::Op& before, uint32_t index, Start& last) {
  if (before.code != format::OpCode::kGet) return false;
  const Start start{index, before.key};
  return std::exchange(last, start) != start;
}

uint64_t last_stream_op(const std::vector<format::Op>& ops) {
  uint64_t last = 0;
  format::walk_program(ops, [&](const format::Step& step) {
    const bool read_back = step.kind == format::Kind::kCanary;
    if (step.transaction != format::kNoTransaction && !read_back) last = step.op;
  });
  return last;
}

}  // namespace

template <typename Visit>
void PhaseCensus::for_each_op(uint32_t thread, Visit&& visit) const {
  const std::vector<format::Op>& ops = phase_.threads[thread];
  workload::OpFollower follower(ops);
  for (uint64_t at = 0; at < ops.size(); ++at) {
    follower.follow(at);
    visit(at, follower);
  }
}

PhaseCensus::PhaseCensus(const script::Script& script, const judge::KeyRanks& ranks,
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

Census PhaseCensus::count(uint32_t thread) const {
  const std::vector<format::Op>& ops = phase_.threads[thread];
  const uint64_t end_of_stream = last_stream_op(ops);
  Census census;
  std::unordered_map<uint64_t, uint64_t> written;  // by key: number of its last changing call
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
    // Within one transaction, a repeated scan is not counted again. In another transaction it is.
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

// Returns false if a procedure may use the key of a get.
bool PhaseCensus::is_known(const format::Op& op, uint32_t index) const {
  return !computed_[index] || script_.pools.is_kept(script_.indexes[index].type, op.key);
}

bool PhaseCensus::changes_records(const format::Op& run) const {
  const format::ProcedureEntry& entry = script_.pools.procedures[run.payload];
  const auto first = script_.pools.instructions.begin() + entry.first;
  return std::any_of(first, first + entry.count, [](const format::Instruction& instruction) {
    return format::is_write(instruction.code);
  });
}

uint64_t PhaseCensus::id(const format::Op& op, const workload::OpFollower& at_op) const {
  const uint32_t index = at_op.index(op.slot);
  return uint64_t{index} << 32 | ranks_.rank(script_.indexes[index].type, op.key);
}

void PhaseCensus::count_get(uint64_t key, uint32_t thread,
                            const std::unordered_map<uint64_t, uint64_t>& written,
                            Census& census) const {
  const auto writer = writers_.find(key);
  if (writer != writers_.end() && writer->second != thread + 1) return;
  ++census.known;
  const auto last = written.find(key);
  if (last == written.end()) return;
  ++(census.calls - last->second <= kRecentCalls ? census.recent : census.older);
}

}  // namespace keydrome::testing

// Implements PhaseKeys: walks once through the programs of a phase (the operations of its threads)
// and notes which threads change which keys.
#include "benchmarks/kit/workload/phase_keys.h"

#include <algorithm>
#include <bit>

#include "base/check.h"
#include "benchmarks/kit/format/procedure.h"

namespace keydrome::workload {
namespace {

constexpr uint64_t kEntriesMin = 1 << 10, kEntriesMax = 1 << 25;
constexpr uint64_t kEntriesPerWrite = 2;

bool is_write(format::OpCode code) {
  return code == format::OpCode::kInsert || code == format::OpCode::kDeleteKey ||
         code == format::OpCode::kDeletePair;
}

// The slots (variables for handles) in which a procedure (a list of instructions) inserts or
// deletes records, as sets of bits.
struct WrittenSlots {
  uint32_t inserts = 0, all = 0;
};

WrittenSlots slots_of(const script::Pools& pools, uint32_t procedure) {
  WrittenSlots slots;
  const format::ProcedureEntry& entry = pools.procedures[procedure];
  for (uint32_t i = entry.first; i < entry.first + entry.count; ++i) {
    const format::Instruction& instruction = pools.instructions[i];
    if (!format::is_write(instruction.code)) continue;  // c is a slot only in calls
    slots.all |= 1u << instruction.c;
    if (instruction.code == format::InstructionCode::kInsert) slots.inserts |= 1u << instruction.c;
  }
  return slots;
}

}  // namespace

void OpFollower::follow(uint64_t at) {
  const format::Op& op = ops_[at];
  const auto kind = static_cast<format::Kind>(op.kind);
  switch (op.code) {
    case format::OpCode::kOpen:
      opened_[op.slot] = op.argument + 1;
      return;
    case format::OpCode::kClose:
      opened_[op.slot] = 0;
      return;
    case format::OpCode::kBegin:
      in_transaction_ = true;
      kind_ = kind;
      aborts_ = ops_[at + op.argument].code == format::OpCode::kAbort;
      return;
    case format::OpCode::kCommit:
    case format::OpCode::kAbort:
      in_transaction_ = aborts_ = false;
      return;
    default:
      if ((op.flags & format::kAutoCommit) != 0) kind_ = kind;
  }
}

uint64_t calls_of(const format::Op& op, const script::Pools& pools) {
  switch (op.code) {
    case format::OpCode::kSignal:
    case format::OpCode::kWait:
    case format::OpCode::kArrive:
    case format::OpCode::kUntil:
    case format::OpCode::kYield:
      return 0;
    case format::OpCode::kNext:
    case format::OpCode::kNextToEnd:
      return op.argument;
    case format::OpCode::kRun:
      return pools.procedures[op.payload].calls;
    default:
      return 1;
  }
}

uint64_t reads_of(const format::Op& op) {
  if (op.code == format::OpCode::kGet) return 1;
  return format::is_scan(op.code) ? op.argument : 0;
}

std::vector<bool> computed_indexes(const script::Pools& pools,
                                   std::span<const script::PhaseScript> phases, uint32_t indexes) {
  std::vector<bool> computed(indexes);
  if (pools.procedures.empty()) return computed;
  std::vector<WrittenSlots> slots;
  for (uint32_t i = 0; i < pools.procedures.size(); ++i) slots.push_back(slots_of(pools, i));
  for (const script::PhaseScript& phase : phases) {
    for (const std::vector<format::Op>& ops : phase.threads) {
      OpFollower follower(ops);
      for (uint64_t at = 0; at < ops.size(); ++at) {
        follower.follow(at);
        if (ops[at].code != format::OpCode::kRun) continue;
        for (uint32_t left = slots[ops[at].payload].all; left != 0; left &= left - 1)
          computed[follower.index(static_cast<uint8_t>(std::countr_zero(left)))] = true;
      }
    }
  }
  return computed;
}

PhaseKeys::PhaseKeys(const script::ScriptBuilder& script, uint32_t phase,
                     const std::vector<bool>& computed)
    : script_(script), computed_(computed) {
  const std::vector<std::vector<format::Op>>& programs = script.phases()[phase].threads;
  threads_.resize(programs.size());
  uint64_t writes = 0;
  for (const std::vector<format::Op>& ops : programs) {
    writes += static_cast<uint64_t>(std::count_if(
        ops.begin(), ops.end(), [](const format::Op& op) { return is_write(op.code); }));
  }
  writer_.resize(
      std::clamp(std::bit_ceil(writes * kEntriesPerWrite + 1), kEntriesMin, kEntriesMax));
  for (uint32_t thread = 0; thread < programs.size(); ++thread)
    add_thread(programs[thread], thread);
}

void PhaseKeys::add_thread(const std::vector<format::Op>& ops, uint32_t thread) {
  ThreadWork& work = threads_[thread];
  OpFollower follower(ops);
  for (uint64_t at = 0; at < ops.size(); ++at) {
    const format::Op& op = ops[at];
    follower.follow(at);
    work.calls += calls_of(op, script_.pools());
    work.reads += reads_of(op);
    const bool alone = (op.flags & format::kAutoCommit) != 0 && !follower.in_transaction();
    if (op.code == format::OpCode::kCommit || op.code == format::OpCode::kAbort || alone)
      work.last_end = at;
    if (op.code == format::OpCode::kRun) note_procedure(op);
    if (!is_write(op.code)) continue;
    writes_ = writes_ || follower.is_stream();
    inserts_ = inserts_ || (follower.is_stream() && op.code == format::OpCode::kInsert);
    if (follower.aborts()) continue;
    uint8_t& writer = writer_[place(follower.index(op.slot), op.key)];
    const uint8_t own = writer_of(thread);
    writer = writer == kNobody || writer == own ? own : kMany;
  }
}

void PhaseKeys::note_procedure(const format::Op& op) {
  if (inserts_) return;
  const WrittenSlots slots = slots_of(script_.pools(), op.payload);
  writes_ = writes_ || slots.all != 0;
  inserts_ = slots.inserts != 0;
}

uint64_t PhaseKeys::calls() const {
  uint64_t calls = 0;
  for (const ThreadWork& work : threads_) calls += work.calls;
  return calls;
}

}  // namespace keydrome::workload

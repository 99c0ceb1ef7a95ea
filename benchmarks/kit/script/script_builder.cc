// Implements ScriptBuilder and ThreadBuilder: appends ops (operations) and checks that the script
// can be executed.
#include "benchmarks/kit/script/script_builder.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/hash.h"
#include "benchmarks/kit/format/evidence_word.h"
#include "benchmarks/kit/format/program_walk.h"
#include "benchmarks/kit/script/evidence/capacities.h"
#include "benchmarks/kit/script/keys/hidden_keys.h"

namespace keydrome::script {

void ThreadBuilder::auto_commit_as(format::Kind kind, uint32_t class_number) {
  KEYDROME_CHECK(class_number < format::kTransactionClasses);
  state_->kind = static_cast<uint8_t>(kind);
  state_->class_number = static_cast<uint8_t>(class_number);
}

void ThreadBuilder::unit_start() {
  KEYDROME_CHECK(!in_transaction());
  for (const uint32_t slot : state_->slots) KEYDROME_CHECK(slot == 0);
  state_->unit_start = true;
}

void ThreadBuilder::append(format::Op op) {
  if (state_->unit_start) op.flags |= format::kUnitStart;
  state_->unit_start = false;
  KEYDROME_CHECK(op.slot < format::kSlots);
  ops_->push_back(op);
}

// Appends a get, getNext, insert or delete on an open handle.
void ThreadBuilder::append_data(format::Op op) {
  KEYDROME_CHECK(op.slot < format::kSlots && state_->slots[op.slot] != 0);
  // A log does not show where the calls of a procedure, a list of instructions, end
  // (judge/recorded/log_judge.h). Therefore no data call may follow a procedure in its transaction.
  KEYDROME_CHECK(!in_transaction() || ops_->back().code != format::OpCode::kRun);
  if (!in_transaction()) op.flags |= format::kAutoCommit;
  if ((op.flags & format::kAutoCommit) != 0) {
    // An auto-commit call inside a transaction is repeated with each retry of the transaction, so
    // it cannot leave evidence, a result for the judge.
    KEYDROME_CHECK(!in_transaction() || (op.flags & format::kObserved) == 0);
    op.kind = state_->kind & 15u;
    op.class_ = state_->class_number & 15u;
  }
  append(op);
}

void ThreadBuilder::create(uint32_t index, uint8_t flags) {
  KEYDROME_CHECK(index < script_->index_count() && !in_transaction());
  append({.code = format::OpCode::kCreate, .flags = flags, .argument = index});
}

void ThreadBuilder::open(uint8_t slot, uint32_t index, uint8_t flags) {
  KEYDROME_CHECK(index < script_->index_count() && slot < format::kSlots &&
                 state_->slots[slot] == 0);
  append({.code = format::OpCode::kOpen, .flags = flags, .slot = slot, .argument = index});
  state_->slots[slot] = index + 1;
}

void ThreadBuilder::open_missing(uint8_t slot, uint32_t index) {
  KEYDROME_CHECK(index < script_->index_count() && slot < format::kSlots &&
                 state_->slots[slot] == 0);
  append({.code = format::OpCode::kOpen,
          .flags = format::kAnyCode | format::kEvidence,
          .slot = slot,
          .argument = index});
}

void ThreadBuilder::close(uint8_t slot, uint8_t flags) {
  KEYDROME_CHECK(slot < format::kSlots && state_->slots[slot] != 0);
  append({.code = format::OpCode::kClose, .flags = flags, .slot = slot});
  state_->slots[slot] = 0;
}

void ThreadBuilder::begin(format::Kind kind, uint32_t class_number, uint8_t flags) {
  KEYDROME_CHECK(!in_transaction() && class_number < format::kTransactionClasses);
  // The results of the extra transactions that check the library (stripes and canaries) are known
  // only if they end as programmed. So these transactions must not have flags that allow another
  // end.
  const bool known =
      flags == format::kOneAttempt || flags == (format::kOneAttempt | format::kAnyCode);
  KEYDROME_CHECK(flags == 0 ||
                 (known && kind != format::Kind::kStripe && kind != format::Kind::kCanary));
  append({.code = format::OpCode::kBegin,
          .flags = flags,
          .kind = static_cast<uint8_t>(static_cast<uint8_t>(kind) & 15u),
          .class_ = static_cast<uint8_t>(class_number & 15u)});
  state_->begin_at = ops_->size() - 1;
}

void ThreadBuilder::end(format::OpCode code) {
  KEYDROME_CHECK(in_transaction());
  append({.code = code});
  format::Op& begin = (*ops_)[state_->begin_at];
  begin.argument = static_cast<uint32_t>(ops_->size() - 1 - state_->begin_at);
  state_->begin_at = UINT64_MAX;
}

void ThreadBuilder::commit() { end(format::OpCode::kCommit); }
void ThreadBuilder::abort() { end(format::OpCode::kAbort); }

void ThreadBuilder::get(uint8_t slot, uint32_t key, uint8_t flags) {
  append_data({.code = format::OpCode::kGet, .flags = flags, .slot = slot, .key = key});
}

void ThreadBuilder::get_hidden(uint8_t slot, uint32_t key) {
  KEYDROME_CHECK(in_transaction() && (*ops_)[state_->begin_at].flags == 0);
  get(slot, key, format::kHidden);
}

void ThreadBuilder::next(uint8_t slot, uint32_t calls, uint8_t flags) {
  KEYDROME_CHECK(calls > 0);
  append_data({.code = format::OpCode::kNext, .flags = flags, .slot = slot, .argument = calls});
}

void ThreadBuilder::next_to_end(uint8_t slot, uint32_t records_max, uint8_t flags) {
  KEYDROME_CHECK(records_max < UINT32_MAX);
  append_data(
      {.code = format::OpCode::kNextToEnd, .flags = flags, .slot = slot, .argument = records_max});
}

void ThreadBuilder::insert(uint8_t slot, uint32_t key, Payload payload, uint8_t flags) {
  append_data({.code = format::OpCode::kInsert,
               .flags = flags,
               .slot = slot,
               .key = key,
               .payload = payload.text,
               .argument = payload.tag});
  ++script_->inserts_[state_->slots[slot] - 1];
}

void ThreadBuilder::delete_key(uint8_t slot, uint32_t key, uint8_t flags) {
  append_data({.code = format::OpCode::kDeleteKey, .flags = flags, .slot = slot, .key = key});
}

void ThreadBuilder::delete_pair(uint8_t slot, uint32_t key, Payload payload, uint8_t flags) {
  append_data({.code = format::OpCode::kDeletePair,
               .flags = flags,
               .slot = slot,
               .key = key,
               .payload = payload.text,
               .argument = payload.tag});
}

void ThreadBuilder::delete_read(uint8_t slot, uint8_t flags) {
  KEYDROME_CHECK(in_transaction() && (flags & ~format::kAnyCode) == 0);
  append_data({.code = format::OpCode::kDeleteRead, .flags = flags, .slot = slot});
  for (uint64_t at = state_->begin_at; at < ops_->size(); ++at) {
    format::Op& op = (*ops_)[at];
    const bool reads = op.code == format::OpCode::kGet || op.code == format::OpCode::kNext ||
                       op.code == format::OpCode::kNextToEnd;
    if (reads && op.slot == slot && (op.flags & format::kAutoCommit) == 0) {
      KEYDROME_CHECK((op.flags & format::kHidden) == 0);
      op.flags |= format::kKeep;
    }
  }
}

void ThreadBuilder::repeat(uint64_t first, uint32_t times) {
  check_body(first);
  for (uint64_t at = first; at < ops_->size(); ++at) {
    const format::Op& op = (*ops_)[at];
    // A repeated body must not write, because the expected state (judge/expected_state.h) would
    // depend on the repetition. It must also stay in one piece (the ops that a thread receives at
    // once). So kUnitStart, where a piece may begin, is allowed only on its first op.
    const bool writes = op.code == format::OpCode::kInsert ||
                        op.code == format::OpCode::kDeleteKey ||
                        op.code == format::OpCode::kDeletePair ||
                        op.code == format::OpCode::kDeleteRead || op.code == format::OpCode::kRun;
    KEYDROME_CHECK(!writes && op.code != format::OpCode::kRepeat);
    KEYDROME_CHECK(!in_transaction() || (op.flags & format::kAutoCommit) == 0);
    KEYDROME_CHECK(at == first || (op.flags & format::kUnitStart) == 0);
  }
  append({.code = format::OpCode::kRepeat,
          .payload = static_cast<uint32_t>(ops_->size() - first),
          .argument = times});
}

void ThreadBuilder::signal(uint32_t event) {
  KEYDROME_CHECK(event < format::kEvents);
  append({.code = format::OpCode::kSignal, .argument = event});
}

void ThreadBuilder::wait(uint32_t event, uint32_t count) {
  KEYDROME_CHECK(event < format::kEvents);
  append({.code = format::OpCode::kWait, .payload = count, .argument = event});
}

void ThreadBuilder::yield(uint32_t event, uint32_t count, uint32_t us_max) {
  KEYDROME_CHECK(event < format::kEvents);
  append({.code = format::OpCode::kYield, .key = us_max, .payload = count, .argument = event});
}

void ThreadBuilder::arrive(uint64_t ns_after_go) {
  KEYDROME_CHECK(!in_transaction());
  append({.code = format::OpCode::kArrive,
          .payload = static_cast<uint32_t>(ns_after_go >> 32),
          .argument = static_cast<uint32_t>(ns_after_go)});
}

void ThreadBuilder::until(uint64_t ns_after_go) {
  KEYDROME_CHECK(ops_->empty() || ops_->front().code == format::OpCode::kUntil);
  unit_start();
  append({.code = format::OpCode::kUntil,
          .payload = static_cast<uint32_t>(ns_after_go >> 32),
          .argument = static_cast<uint32_t>(ns_after_go)});
}

void ThreadBuilder::step(uint32_t number, uint32_t us_max) {
  append({.code = format::OpCode::kStep, .payload = us_max, .argument = number});
}

void ThreadBuilder::step_done(uint32_t number) {
  append({.code = format::OpCode::kStepDone, .argument = number});
}

void ThreadBuilder::bare_call(uint8_t slot, const format::BareCall& call, uint32_t key,
                              uint32_t text) {
  KEYDROME_CHECK(!in_transaction());
  append({.code = format::OpCode::kBareCall,
          .slot = slot,
          .key = key,
          .payload = text,
          .argument = call.packed()});
}

void ThreadBuilder::run(uint32_t procedure, std::span<const int64_t> parameters, uint8_t flags) {
  KEYDROME_CHECK(in_transaction() && (flags & ~format::kEvidence) == 0);
  KEYDROME_CHECK(((*ops_)[state_->begin_at].flags & format::kAnyCode) == 0);
  Pools& pools = script_->script_.pools;
  const format::ProcedureEntry& entry = pools.procedures.at(procedure);
  KEYDROME_CHECK(parameters.size() <= entry.parameters);
  for (uint32_t i = entry.first; i < entry.first + entry.count; ++i) {
    const format::Instruction& instruction = pools.instructions[i];
    KEYDROME_CHECK(!format::is_call(instruction.code) || state_->slots.at(instruction.c) != 0);
  }
  append({.code = format::OpCode::kRun,
          .flags = flags,
          .key = static_cast<uint32_t>(pools.parameters.size()),
          .payload = procedure,
          .argument = script_->next_tag_});
  script_->next_tag_ += entry.tags;
  pools.parameters.insert(pools.parameters.end(), parameters.begin(), parameters.end());
  KEYDROME_CHECK(pools.parameters.size() < UINT32_MAX);
}

uint64_t ThreadBuilder::size() const { return ops_->size(); }

uint32_t ScriptBuilder::add_index(std::string name, KeyType type) {
  KEYDROME_CHECK(name.size() < format::kIndexNameBytes);
  script_.indexes.push_back({.name = std::move(name), .type = type});
  inserts_.push_back(0);
  return index_count() - 1;
}

uint32_t ScriptBuilder::add_int32_key(int32_t key) {
  script_.pools.int32_keys.push_back(key);
  return static_cast<uint32_t>(script_.pools.int32_keys.size() - 1);
}

uint32_t ScriptBuilder::add_int64_key(int64_t key) {
  script_.pools.int64_keys.push_back(key);
  return static_cast<uint32_t>(script_.pools.int64_keys.size() - 1);
}

uint32_t ScriptBuilder::add_varchar_key(std::string_view key) {
  KEYDROME_CHECK(key.size() <= MAX_VARCHAR_LEN);
  return script_.pools.varchar_keys.add(key);
}

void ScriptBuilder::set_varchar_keys(Strings keys) {
  KEYDROME_CHECK(script_.pools.varchar_keys.empty() && keys.longest() <= MAX_VARCHAR_LEN);
  script_.pools.varchar_keys = std::move(keys);
}

void ScriptBuilder::expect_computed_key(uint32_t number) {
  std::vector<uint32_t>& keys = script_.pools.computed_keys;
  KEYDROME_CHECK(number < script_.pools.varchar_keys.size());
  KEYDROME_CHECK(keys.empty() || keys.back() < number);
  keys.push_back(number);
}

uint32_t ScriptBuilder::add_text(std::string_view text) {
  KEYDROME_CHECK(text.size() <= MAX_PAYLOAD_LEN - format::kTagBytes);
  return text.empty() ? 0 : script_.pools.payloads.add(text);
}

void ScriptBuilder::reserve_varchar_keys(std::size_t count, std::size_t bytes) {
  script_.pools.varchar_keys.reserve(count, bytes);
}

void ScriptBuilder::reserve_texts(std::size_t count, std::size_t bytes) {
  script_.pools.payloads.reserve(count, bytes);
}

uint32_t ScriptBuilder::add_class(std::string name) {
  KEYDROME_CHECK(script_.class_names.size() < format::kTransactionClasses);
  script_.class_names.push_back(std::move(name));
  return static_cast<uint32_t>(script_.class_names.size() - 1);
}

uint32_t ScriptBuilder::add_procedure(const ProcedureBuilder& code, const ProcedureLimits& limits) {
  const std::vector<format::Instruction> instructions = code.build();
  const bool rolls_back = std::any_of(
      instructions.begin(), instructions.end(), [](const format::Instruction& instruction) {
        return instruction.code == format::InstructionCode::kRollBack;
      });
  Pools& pools = script_.pools;
  pools.procedures.push_back({.first = static_cast<uint32_t>(pools.instructions.size()),
                              .count = static_cast<uint32_t>(instructions.size()),
                              .parameters = limits.parameters,
                              .tags = limits.tags,
                              .calls = limits.calls,
                              .rolls_back = rolls_back ? 1u : 0u});
  pools.instructions.insert(pools.instructions.end(), instructions.begin(), instructions.end());
  return static_cast<uint32_t>(pools.procedures.size() - 1);
}

uint32_t ScriptBuilder::add_phase(std::string name, uint32_t threads, PhaseOptions options) {
  KEYDROME_CHECK(threads > 0 && threads <= format::kThreadsMax);
  PhaseScript phase;
  phase.name = std::move(name);
  phase.timed = options.timed;
  phase.verifies = options.verifies;
  phase.pinned = options.pinned;
  phase.threads.resize(threads);
  if (options.recorded) phase.log_capacity.resize(threads);  // build() sets the capacities
  script_.phases.push_back(std::move(phase));
  states_.emplace_back(threads);
  return static_cast<uint32_t>(script_.phases.size() - 1);
}

ThreadBuilder ScriptBuilder::thread(uint32_t phase, uint32_t thread) {
  return {*this, script_.phases.at(phase).threads.at(thread), states_.at(phase).at(thread)};
}

void ScriptBuilder::reserve(uint32_t phase, uint64_t ops_per_thread) {
  for (std::vector<format::Op>& ops : script_.phases.at(phase).threads) ops.reserve(ops_per_thread);
}

uint32_t ScriptBuilder::key_count(KeyType type) const {
  switch (type) {
    case SHORT:
      return static_cast<uint32_t>(script_.pools.int32_keys.size());
    case INT:
      return static_cast<uint32_t>(script_.pools.int64_keys.size());
    default:
      return static_cast<uint32_t>(script_.pools.varchar_keys.size());
  }
}

// Checks that every key and text that a program refers to is in the pools.
void ScriptBuilder::check_numbers(const std::vector<format::Op>& ops) const {
  std::array<uint32_t, format::kSlots> slots{};
  for (const format::Op& op : ops) {
    if (op.code == format::OpCode::kOpen) slots[op.slot] = op.argument;
    if (!format::is_data_call(op.code)) continue;
    KEYDROME_CHECK(op.key < key_count(script_.indexes.at(slots[op.slot]).type));
    KEYDROME_CHECK(op.code == format::OpCode::kGet || op.payload < script_.pools.payloads.size());
  }
}

// Chooses the windows of all reads (format/evidence_word.h): which bytes of the payload a read
// reports. Windows cover the longest payload of the script evenly. They are pseudo-random, so that
// adjacent reads usually have different windows.
void ScriptBuilder::set_windows() {
  const std::size_t bytes = format::kTagBytes + script_.pools.payloads.longest();
  const auto windows = static_cast<uint32_t>(
      std::min<std::size_t>((bytes + 3) / 4, format::kWindowMax / 4 + std::size_t{1}));
  uint64_t number = 0;
  for (PhaseScript& phase : script_.phases) {
    for (std::vector<format::Op>& ops : phase.threads) {
      for (format::Op& op : ops) {
        if (op.code != format::OpCode::kGet && !format::is_scan(op.code)) continue;
        op.payload = static_cast<uint32_t>(hash_mix(number++, windows) % windows) * 4;
      }
    }
  }
}

Script ScriptBuilder::build() {
  for (const Strings* texts : {&script_.pools.varchar_keys, &script_.pools.payloads}) {
    KEYDROME_CHECK(texts->bytes().find('\0') == std::string_view::npos);
  }
  KEYDROME_CHECK(!script_.class_names.empty());
  set_windows();
  hide_keys(script_);
  for (std::size_t p = 0; p < script_.phases.size(); ++p) {
    PhaseScript& phase = script_.phases[p];
    for (std::size_t t = 0; t < phase.threads.size(); ++t) {
      KEYDROME_CHECK(states_[p][t].begin_at == UINT64_MAX);
      check_numbers(phase.threads[t]);
    }
    if (phase.log_capacity.empty()) continue;
    record_phase(script_, phase);
  }
  set_trace_capacities(script_);
  return std::move(script_);
}

void record_all(Script& script) {
  for (PhaseScript& phase : script.phases) record_phase(script, phase);
}

}  // namespace keydrome::script

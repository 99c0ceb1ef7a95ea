// Implements script_scenario(), which writes the programs of the runs of a scenario (a few steps of
// one or more client threads). A program contains the set-up, the steps in turns, and the
// transaction that reads everything.
#include "benchmarks/scenarios/script/run_script.h"

#include <array>
#include <set>
#include <utility>

namespace keydrome::scenarios {
namespace {

constexpr uint32_t kReady = 0, kOpened = 1, kDone = 2;  // events that threads signal
// The slot of index A for calls outside the steps. A slot is a numbered variable for an open handle
// in the player, the process that makes the calls. B and C have the next two slots.
constexpr uint8_t kOwnSlot = 8 - kIndexesMax;
// The set-up inserts up to this many records by auto-commit, and more records in one transaction.
constexpr std::size_t kSetupByAutoCommitMax = 8;

class RunWriter {
 public:
  RunWriter(const PlannedScenario& planned, const Variant& variant, uint32_t phase, uint32_t number,
            uint32_t class_number, SharedIndexes& shared, PoolNumbers& pools,
            script::ScriptBuilder& script)
      : scenario_(planned.scenario),
        variant_(variant),
        phase_(phase),
        number_(number),
        class_(class_number),
        shared_(shared),
        pools_(pools),
        script_(script),
        run_{.first_index = script.index_count(),
             .emptied = {},
             .vocabulary = {planned.scenario, variant, pools, script}} {}

  ScriptedRun write(uint32_t first_step, uint32_t step_wait_us) {
    for (uint32_t index = 0; index < scenario_.indexes; ++index) {
      const KeyType type = index_type(variant_, index);
      names_[index] = shared_.name(scenario_.id, number_ == 0, index_name(index), type);
      script_.add_index(names_[index], type);
    }
    for (uint32_t t = 0; t < scenario_.sessions; ++t) thread(t).unit_start();
    set_up();
    for (uint32_t t = 0; t < scenario_.sessions; ++t) enter(t);
    write_steps(first_step, step_wait_us);
    for (uint32_t t = 0; t < scenario_.sessions; ++t) leave(t);
    read_everything();
    return std::move(run_);
  }

 private:
  script::ThreadBuilder thread(uint32_t t) {
    script::ThreadBuilder builder = script_.thread(phase_, t);
    builder.auto_commit_as(format::Kind::kScript, class_);
    return builder;
  }

  uint32_t key(uint32_t index, int64_t label) {
    return run_.vocabulary.pool_key(index_type(variant_, index), label, pools_);
  }

  // Returns the key of an insert. The next run with this index will delete the inserted record.
  uint32_t inserted_key(uint32_t index, int64_t label) {
    return shared_.leave_key(names_[index], key(index, label));
  }

  // Deletes the records that the previous run left in the index. Then reads the first record, which
  // must not exist.
  void empty(script::ThreadBuilder& first, uint32_t index) {
    run_.emptied[index] = true;
    first.open(kOwnSlot, run_.first_index + index);
    first.begin(format::Kind::kScript, class_);
    for (const uint32_t key : shared_.take_keys(names_[index])) first.delete_key(kOwnSlot, key);
    first.next(kOwnSlot, 1);
    first.commit();
    first.close(kOwnSlot);
  }

  void set_up() {
    script::ThreadBuilder first = thread(0);
    for (uint32_t index = 0; index < scenario_.indexes; ++index) {
      const bool exists = shared_.exists(names_[index]);
      exists ? empty(first, index) : first.create(run_.first_index + index);
      shared_.take_keys(names_[index]);
      first.open(kOwnSlot, run_.first_index + index);
      const bool in_transaction =
          run_.vocabulary.fillers() > 0 || scenario_.setup.size() > kSetupByAutoCommitMax;
      if (in_transaction) first.begin(format::Kind::kScript, class_);
      for (const SetupRecord& record : scenario_.setup) {
        if (record.index != index) continue;
        first.insert(kOwnSlot, inserted_key(index, record.key),
                     run_.vocabulary.payload(record.payload));
      }
      for (uint32_t i = 0; i < run_.vocabulary.fillers(); ++i) {
        first.insert(kOwnSlot, inserted_key(index, run_.vocabulary.filler_label(i)),
                     run_.vocabulary.filler_payload(i));
      }
      if (in_transaction) first.commit();
      first.close(kOwnSlot);
    }
    first.signal(kReady);
  }

  // Opens the handles that the session's steps use, except those that the steps open themselves.
  // Then waits until all other sessions have done the same.
  void enter(uint32_t t) {
    script::ThreadBuilder session = thread(t);
    session.wait(kReady, number_ + 1);
    std::set<uint32_t> seen;
    for (const Step& step : scenario_.steps) {
      const bool uses_handle = step.action >= Action::kGet;
      if (step.session != t || !uses_handle || !seen.insert(step.handle).second) continue;
      if (step.action != Action::kOpen) open(session, t, step.handle);
    }
    session.signal(kOpened);
    session.wait(kOpened, scenario_.sessions * (number_ + 1));
  }

  void open(script::ThreadBuilder& session, uint32_t t, uint32_t handle) {
    open_[t].insert(handle);
    session.open(static_cast<uint8_t>(handle), run_.first_index + scenario_.handles[handle].index);
  }

  void write_steps(uint32_t first_step, uint32_t step_wait_us) {
    std::vector<std::vector<const Step*>> queues(scenario_.sessions);
    for (const Step& step : scenario_.steps) queues[step.session].push_back(&step);
    std::vector<std::size_t> taken(scenario_.sessions, 0);
    uint32_t number = first_step;
    for (const uint8_t t : variant_.order) {
      script::ThreadBuilder session = thread(t);
      session.step(number, step_wait_us);
      write_step(session, *queues[t][taken[t]++]);
      session.step_done(number++);
    }
  }

  void write_step(script::ThreadBuilder& session, const Step& step) {
    const uint8_t slot = static_cast<uint8_t>(step.handle);
    const uint32_t index = scenario_.handles.empty() ? 0 : scenario_.handles[step.handle].index;
    const uint8_t flags = step.auto_commit ? format::kAutoCommit : 0;
    switch (step.action) {
      case Action::kBegin:
        return session.begin(format::Kind::kScript, class_, begin_flags(step));
      case Action::kCommit:
        return session.commit();
      case Action::kAbort:
        return session.abort();
      case Action::kGet:
        return session.get(slot, key(index, step.key), flags);
      case Action::kNext:
        return session.next(slot, 1, flags);
      case Action::kNextToEnd:
        return session.next_to_end(slot, records_max(index), flags);
      case Action::kInsert:
        return session.insert(slot, inserted_key(index, step.key),
                              run_.vocabulary.payload(step.payload), flags);
      case Action::kDeletePair:
        return session.delete_pair(slot, key(index, step.key),
                                   run_.vocabulary.payload(step.payload), flags);
      case Action::kDeleteKey:
        return session.delete_key(slot, key(index, step.key), flags);
      case Action::kOpen:
        return open(session, step.session, step.handle);
      case Action::kClose:
        open_[step.session].erase(step.handle);
        return session.close(slot);
    }
  }

  uint8_t begin_flags(const Step& step) const {
    if (step.continues) return format::kOneAttempt | format::kAnyCode;
    return variant_.persistent ? 0 : format::kOneAttempt;
  }

  // Returns the maximum number of records that a scan of the index can return.
  uint32_t records_max(uint32_t index) const {
    const auto steps = static_cast<uint32_t>(scenario_.steps.size());
    return script_.inserts(run_.first_index + index) + steps;
  }

  void leave(uint32_t t) {
    script::ThreadBuilder session = thread(t);
    for (uint32_t handle = 0; handle < scenario_.handles.size(); ++handle) {
      if (open_[t].contains(handle)) session.close(static_cast<uint8_t>(handle));
    }
    session.signal(kDone);
  }

  void read_everything() {
    script::ThreadBuilder first = thread(0);
    first.wait(kDone, scenario_.sessions * (number_ + 1));
    for (uint32_t index = 0; index < scenario_.indexes; ++index) {
      first.open(static_cast<uint8_t>(kOwnSlot + index), run_.first_index + index);
    }
    first.begin(format::Kind::kScript, class_);
    first.insert(kOwnSlot, inserted_key(0, run_.vocabulary.beyond()),
                 run_.vocabulary.payload(kLastPayload));
    for (uint32_t index = 0; index < scenario_.indexes; ++index) {
      first.next_to_end(static_cast<uint8_t>(kOwnSlot + index), records_max(index));
    }
    first.commit();
    for (uint32_t index = 0; index < scenario_.indexes; ++index) {
      first.close(static_cast<uint8_t>(kOwnSlot + index));
    }
  }

  const Scenario& scenario_;
  const Variant& variant_;
  const uint32_t phase_, number_, class_;
  SharedIndexes& shared_;
  PoolNumbers& pools_;
  script::ScriptBuilder& script_;
  ScriptedRun run_;
  std::array<std::string, kIndexesMax> names_;
  std::array<std::set<uint32_t>, kSessionsMax> open_;  // open handles, by session
};

}  // namespace

ScriptedScenario script_scenario(const PlannedScenario& planned, uint32_t step_wait_us,
                                 uint32_t class_number, SharedIndexes& shared, PoolNumbers& pools,
                                 script::ScriptBuilder& script) {
  const Scenario& scenario = planned.scenario;
  ScriptedScenario scripted;
  scripted.phase =
      script.add_phase(scenario.id + ": " + scenario.title, scenario.sessions, {.recorded = true});
  uint32_t step = 0;
  for (uint32_t number = 0; number < planned.variants.size(); ++number) {
    RunWriter writer(planned, planned.variants[number], scripted.phase, number, class_number,
                     shared, pools, script);
    scripted.runs.push_back(writer.write(step, step_wait_us));
    step += static_cast<uint32_t>(scenario.steps.size());
  }
  return scripted;
}

}  // namespace keydrome::scenarios

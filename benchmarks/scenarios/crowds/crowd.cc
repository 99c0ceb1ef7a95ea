// Implements crowds (scenarios with loops and many threads) about torn transactions, moving
// records, and races of begins, inserts, creates and opens. Also implements the functions of
// crowd.h for all crowds.
#include "benchmarks/scenarios/crowds/crowd.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/count_text.h"
#include "benchmarks/kit/judge/finding.h"
#include "benchmarks/scenarios/crowds/crowd_kind.h"

namespace keydrome::scenarios {

using history::CallViolation;
using history::Event;
using history::EventCall;
using history::History;
using history::Transactions;

namespace {

// Writes the programs of each kind of crowd.
class Writer : public CrowdStage {
 public:
  explicit Writer(const CrowdStage& stage) : CrowdStage(stage) {}

  // Thread 0 writes to two indexes. The other threads repeatedly read both indexes to the end.
  void torn(bool commits) {
    const uint32_t a = add_index("A"), b = add_index("B");
    const uint32_t most = crowd_.rounds * crowd_.records;
    set_up({a, b});
    for (uint32_t t = 0; t < crowd_.threads; ++t) {
      script::ThreadBuilder thread = enter(t);
      thread.open(kA, a);
      thread.open(kB, b);
      for (uint32_t round = 0; round < crowd_.rounds; ++round) {
        thread.begin(format::Kind::kScript, class_);
        for (uint32_t i = 0; t == 0 && i < crowd_.records; ++i) {
          if (i == crowd_.records / 2) let_others_run(thread);
          thread.insert(i % 2 == 0 ? kA : kB, key(i * crowd_.rounds + round),
                        script_.new_payload());
        }
        if (t > 0) {
          thread.next_to_end(kA, most);
          thread.next_to_end(kB, most);
        }
        t > 0 || commits ? thread.commit() : thread.abort();
      }
      thread.close(kB);
      thread.close(kA);
    }
  }

  void moving_record() {
    const uint32_t a = add_index("A");
    constexpr std::array<uint32_t, 5> kKeys{10, 90, 50, 20, 70};
    const script::Payload moved = script_.new_payload();
    set_up({a});
    script::ThreadBuilder mover = script_.thread(phase_, 0);
    mover.open(kA, a);
    mover.insert(kA, key(kKeys[0]), moved);
    mover.signal(kReady);
    for (uint32_t round = 0; round < crowd_.rounds; ++round) {
      mover.begin(format::Kind::kScript, class_);
      mover.delete_pair(kA, key(kKeys[round % kKeys.size()]), moved);
      let_others_run(mover);
      mover.insert(kA, key(kKeys[(round + 1) % kKeys.size()]), moved);
      mover.commit();
    }
    mover.close(kA);
    for (uint32_t t = 1; t < crowd_.threads; ++t) {
      script::ThreadBuilder scanner = script_.thread(phase_, t);
      scanner.wait(kReady, 2);
      scanner.open(kA, a);
      for (uint32_t round = 0; round < crowd_.rounds; ++round) {
        scanner.begin(format::Kind::kScript, class_);
        // The record moves while the scan has passed some of its places, but not all of them.
        scanner.next(kA, 1);
        let_others_run(scanner);
        scanner.next_to_end(kA, crowd_.rounds);
        scanner.commit();
      }
      scanner.close(kA);
    }
  }

  void many_transactions() {
    const uint32_t a = add_index("A");
    set_up({a});
    for (uint32_t t = 0; t < crowd_.threads; ++t) {
      script::ThreadBuilder thread = enter(t);
      thread.open(kA, a);
      for (uint32_t round = 0; round < crowd_.rounds; ++round) {
        barrier(thread, round);
        thread.begin(format::Kind::kScript, class_);
        thread.get(kA, key(t));
        thread.commit();
      }
      thread.close(kA);
    }
  }

  void same_record() {
    const uint32_t a = add_index("A");
    set_up({a});
    const script::Payload payload = script_.new_payload();
    for (uint32_t t = 0; t < crowd_.threads; ++t) {
      script::ThreadBuilder thread = enter(t);
      thread.open(kA, a);
      for (uint32_t round = 0; round < crowd_.rounds; ++round) {
        barrier(thread, round);
        thread.insert(kA, key(round), payload);
      }
      thread.close(kA);
    }
  }

  void create_race() {
    std::vector<uint32_t> indexes;
    for (uint32_t i = 0; i < crowd_.rounds; ++i) indexes.push_back(add_index(std::to_string(i)));
    for (uint32_t t = 0; t < crowd_.threads; ++t) {
      script::ThreadBuilder thread = script_.thread(phase_, t);
      for (uint32_t round = 0; round < crowd_.rounds; ++round) {
        barrier_unless_late(thread, round);
        thread.create(indexes[round], format::kAnyCode);
        thread.open(kA, indexes[round], format::kAnyCode);
        thread.close(kA, format::kAnyCode);
      }
    }
  }

  void create_many() {
    for (uint32_t t = 0; t < crowd_.threads; ++t) {
      script::ThreadBuilder thread = script_.thread(phase_, t);
      for (uint32_t round = 0; round < crowd_.rounds; ++round) {
        const uint32_t index = add_index(std::to_string(t) + "-" + std::to_string(round));
        barrier_unless_late(thread, round);
        thread.create(index, format::kAnyCode);
        thread.open(kA, index, format::kAnyCode);
        thread.close(kA, format::kAnyCode);
      }
    }
  }

  void open_race() {
    std::vector<uint32_t> indexes;
    for (uint32_t i = 0; i < crowd_.rounds; ++i) indexes.push_back(add_index(std::to_string(i)));
    for (uint32_t t = 0; t < crowd_.threads; ++t) {
      script::ThreadBuilder thread = script_.thread(phase_, t);
      for (uint32_t round = 0; round < crowd_.rounds; ++round) {
        barrier(thread, round);
        if (t == 0) {
          thread.create(indexes[round], format::kAnyCode);
          continue;
        }
        thread.open(kA, indexes[round], format::kAnyCode);
        thread.close(kA);  // makes no call if nothing is open
      }
    }
  }

  void open_and_close() {
    const uint32_t a = add_index("A");
    set_up({a});
    for (uint32_t t = 0; t < crowd_.threads; ++t) {
      script::ThreadBuilder thread = enter(t);
      for (uint32_t round = 0; round < crowd_.rounds; ++round) {
        barrier(thread, round);
        thread.open(kA, a);
        thread.insert(kA, key(t * crowd_.rounds + round), script_.new_payload());
        thread.get(kA, key(t * crowd_.rounds + round));
        thread.close(kA);
      }
      barrier(thread, crowd_.rounds);
    }
    script::ThreadBuilder first = script_.thread(phase_, 0);
    first.open(kA, a);
    first.begin(format::Kind::kScript, class_);
    first.next_to_end(kA, crowd_.threads * crowd_.rounds);
    first.commit();
    first.close(kA);
  }
};

// Judges each kind of crowd. Each rule returns a description of the error, or an empty text.
class Judge : public CrowdRecord {
 public:
  explicit Judge(const CrowdRecord& record) : CrowdRecord(record) {}

  // A committed reader must find all records of each commit that it sees. If the writer always
  // aborts (`commits` is false), the reader must find no record.
  std::string torn(bool commits) const {
    for (const auto& [thread, records] : scans()) {
      if (records % (commits ? crowd_.records : crowd_.records * crowd_.rounds + 1) == 0) continue;
      return "a transaction of thread " + std::to_string(thread) + " found " +
             count_text(records, "record") + ", but must find " +
             (commits ? "0 or a multiple of " + std::to_string(crowd_.records) +
                            ", because every committed transaction inserts " +
                            std::to_string(crowd_.records)
                      : std::string("none, because every transaction that inserts records aborts"));
    }
    return "";
  }

  CrowdFault moving_record() const {
    const auto all = scans();
    const auto empty = [](const auto& scan) { return scan.second == 0; };
    if (!all.empty() && std::ranges::all_of(all, empty)) {
      return {"missing_record",
              "no scan found the record, but each scan must find it exactly once"};
    }
    for (const auto& [thread, records] : all) {
      if (records == 1) continue;
      return {{},
              "a scan of thread " + std::to_string(thread) + " found the record " +
                  count_text(records, "time") + ", but must find it exactly once"};
    }
    return {};
  }

  std::string many_transactions() const {
    return first_code(EventCall::kBegin, {SUCCESS, DEADLOCK}, "beginTransaction");
  }

  // Checks the calls of the kind `call` on each index or record. Exactly one of them must succeed,
  // and the others must return `otherwise` or DEADLOCK. `what` names such a call in the text.
  std::string one_succeeds(EventCall call, ErrCode otherwise, const std::string& what) const {
    std::map<std::pair<uint16_t, uint64_t>, std::vector<std::size_t>> succeeded_on;
    for (std::size_t thread = 0; thread < history_.threads.size(); ++thread) {
      for (const Event& event : history_.threads[thread]) {
        if (call_of(event) != call || event.code == DEADLOCK) continue;
        std::vector<std::size_t>& threads = succeeded_on[{event.index, event.key}];
        if (succeeded(event)) threads.push_back(thread);
        if (!succeeded(event) && event.code != otherwise) {
          return "threads tried " + what + " at the same time, and a call returned " +
                 code_text(event) + ": one call must return SUCCESS, and the others " +
                 code_text(otherwise) + " or DEADLOCK";
        }
      }
    }
    const auto wrong = std::ranges::find_if(
        succeeded_on, [](const auto& at_place) { return at_place.second.size() != 1; });
    if (wrong == succeeded_on.end()) return "";
    const std::vector<std::size_t>& threads = wrong->second;
    std::string calls = threads.empty() ? "no call" : std::to_string(threads.size()) + " calls";
    calls += " returned SUCCESS";
    for (const std::size_t& thread : threads) {
      calls += &thread == &threads.front() ? " (threads " : ", ";
      calls += std::to_string(thread);
    }
    if (!threads.empty()) calls += ')';
    return "threads tried " + what + " at the same time, and " + calls +
           ": exactly one call must succeed";
  }

  std::string all_succeed(EventCall call, const char* name) const {
    return first_code(call, {SUCCESS, DEADLOCK}, name);
  }

  std::string open_race() const {
    std::map<uint16_t, uint64_t> created;
    for (const Event& event : history_.threads[0]) {
      if (call_of(event) == EventCall::kCreate && succeeded(event)) {
        created[event.index] = event.end;
      }
    }
    for (const std::vector<Event>& events : history_.threads) {
      uint64_t before = 0;
      for (const Event& event : events) {
        const bool opens = call_of(event) == EventCall::kOpen && created.contains(event.index);
        if (opens && !succeeded(event) && begin_of(event, before) > created[event.index]) {
          return "openIndex returned " + code_text(event) +
                 ", but must succeed, because create had returned SUCCESS for this index before";
        }
        before = event.end;
      }
    }
    return "";
  }

  std::string open_and_close() const {
    std::string wrong = first_code(EventCall::kGet, {SUCCESS, DEADLOCK},
                                   "a get of a record that the same thread had just inserted");
    if (!wrong.empty()) return wrong;
    for (const auto& [thread, records] : scans()) {
      if (records == uint64_t{crowd_.threads} * crowd_.rounds) continue;
      return "the scan at the end found " + count_text(records, "record") + ", but " +
             std::to_string(crowd_.threads * crowd_.rounds) + " were inserted";
    }
    return "";
  }
};

constexpr const char* kSameRecord = "to insert the same record";
constexpr const char* kSameName = "to create an index of the same name";

constexpr std::array kKinds{
    CrowdKind{
        "torn_commit", [](const CrowdStage& stage) { Writer(stage).torn(true); },
        [](const CrowdRecord& record) -> CrowdFault { return {{}, Judge(record).torn(true)}; }},
    CrowdKind{
        "torn_abort", [](const CrowdStage& stage) { Writer(stage).torn(false); },
        [](const CrowdRecord& record) -> CrowdFault { return {{}, Judge(record).torn(false)}; }},
    CrowdKind{
        "moving_record", [](const CrowdStage& stage) { Writer(stage).moving_record(); },
        [](const CrowdRecord& record) -> CrowdFault { return Judge(record).moving_record(); }},
    CrowdKind{"many_transactions",
              [](const CrowdStage& stage) { Writer(stage).many_transactions(); },
              [](const CrowdRecord& record) -> CrowdFault {
                return {{}, Judge(record).many_transactions()};
              }},
    CrowdKind{"same_record", [](const CrowdStage& stage) { Writer(stage).same_record(); },
              [](const CrowdRecord& record) -> CrowdFault {
                return {{},
                        Judge(record).one_succeeds(EventCall::kInsert, ENTRY_EXISTS, kSameRecord)};
              }},
    CrowdKind{"create_race", [](const CrowdStage& stage) { Writer(stage).create_race(); },
              [](const CrowdRecord& record) -> CrowdFault {
                const Judge j(record);
                const std::string wrong = j.one_succeeds(EventCall::kCreate, DB_EXISTS, kSameName);
                return {{}, wrong.empty() ? j.all_succeed(EventCall::kOpen, "openIndex") : wrong};
              }},
    CrowdKind{"create_many", [](const CrowdStage& stage) { Writer(stage).create_many(); },
              [](const CrowdRecord& record) -> CrowdFault {
                const Judge j(record);
                const std::string wrong = j.all_succeed(EventCall::kCreate, "create");
                return {{}, wrong.empty() ? j.all_succeed(EventCall::kOpen, "openIndex") : wrong};
              }},
    CrowdKind{
        "open_race", [](const CrowdStage& stage) { Writer(stage).open_race(); },
        [](const CrowdRecord& record) -> CrowdFault { return {{}, Judge(record).open_race()}; }},
    CrowdKind{"open_and_close", [](const CrowdStage& stage) { Writer(stage).open_and_close(); },
              [](const CrowdRecord& record) -> CrowdFault {
                return {{}, Judge(record).open_and_close()};
              }},
};

std::array<std::span<const CrowdKind>, 4> all_kinds() {
  return {std::span<const CrowdKind>(kKinds), extreme_crowds(), name_crowds(), conflict_crowds()};
}

const CrowdKind* find_kind(std::string_view name) {
  for (const std::span<const CrowdKind> kinds : all_kinds()) {
    const auto kind = std::ranges::find(kinds, name, &CrowdKind::name);
    if (kind != kinds.end()) return &*kind;
  }
  return nullptr;
}

// Returns the events of the phase, with indexes numbered from 0.
History history_of(const ScriptedCrowd& scripted, const script::PhaseOutcome& outcome) {
  History history;
  history.indexes.resize(scripted.indexes);
  for (const script::ThreadResult& thread : outcome.threads) {
    history.threads.push_back(thread.events);
    for (Event& event : history.threads.back()) {
      const EventCall call = call_of(event);
      const bool has_index =
          call != EventCall::kBegin && call != EventCall::kCommit && call != EventCall::kAbort;
      // If the recorded index number is wrong, so is the difference, and
      // split_into_transactions() rejects the event.
      if (has_index) event.index = static_cast<uint16_t>(event.index - scripted.first_index);
    }
  }
  return history;
}

}  // namespace

bool is_crowd_kind(std::string_view kind) { return find_kind(kind) != nullptr; }

std::string crowd_kind_names() {
  std::string names;
  for (const std::span<const CrowdKind> kinds : all_kinds()) {
    for (const CrowdKind& kind : kinds) {
      names.append(names.empty() ? "" : ", ").append(kind.name);
    }
  }
  return names;
}

ScriptedCrowd script_crowd(const Scenario& scenario, const std::string& suffix, KeyType type,
                           uint32_t class_number, PoolNumbers& pools,
                           script::ScriptBuilder& script) {
  ScriptedCrowd scripted;
  scripted.phase = script.add_phase(scenario.id + ": " + scenario.title, scenario.crowd->threads,
                                    {.recorded = true});
  scripted.first_index = script.index_count();
  const CrowdStage stage(scenario, suffix, type, scripted.phase, class_number, pools, script);
  const CrowdKind* kind = find_kind(scenario.crowd->kind);
  KEYDROME_CHECK(kind != nullptr);
  kind->write(stage);
  scripted.indexes = script.index_count() - scripted.first_index;
  return scripted;
}

void judge_crowd(const Scenario& scenario, const ScriptedCrowd& scripted,
                 const script::PhaseOutcome& outcome, FindingBook& book) {
  const std::string title = scenario.id + ", " + scenario.title + ": ";
  const auto report = [&](const std::string& name, Severity severity, const std::string& rule) {
    Json witness;
    witness["summary"] = title + rule;
    book.add(scenario.id, {.suite = "",
                           .name = name,
                           .severity = severity,
                           .detail = title + rule + "\n" + scenario.about,
                           .witness = std::move(witness)});
  };
  for (const script::ThreadResult& thread : outcome.threads) {
    if (thread.reported->events_full != 0) {
      std::string recording = "the recording of a thread (";
      recording.append(count_text(thread.events.size(), "call")).append(")");
      return book.not_judged(title + judge::full_recording_text(recording));
    }
  }
  const History history = history_of(scripted, outcome);
  const Transactions transactions = split_into_transactions(history);
  if (!transactions.problem.empty()) {
    return report("outcome_mismatch", Severity::kRequired,
                  judge::inconsistent_log_text(transactions.problem));
  }
  for (const CallViolation& wrong : transactions.call_violations) {
    const Event& event = history.threads[wrong.event.thread][wrong.event.position];
    report(wrong.name, wrong.severity,
           std::string(call_name(call_of(event))) + " returned " + code_text(event) +
               ", which keydrome/index.h does not allow here");
  }
  const CrowdRecord record(*scenario.crowd, history, transactions);
  const std::string repeated = record.repeated_record();
  if (!repeated.empty()) return report("duplicate_record", scenario.severity, repeated);
  const CrowdFault fault = find_kind(scenario.crowd->kind)->judge(record);
  if (fault.rule.empty()) return;
  report(fault.name.empty() ? scenario.finding : fault.name, scenario.severity, fault.rule);
}

}  // namespace keydrome::scenarios

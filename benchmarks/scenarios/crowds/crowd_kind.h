// The base classes of all kinds of crowds (scenarios with loops and many threads): CrowdStage helps
// to write the programs, CrowdRecord helps to judge the recorded calls.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/count_text.h"
#include "benchmarks/kit/judge/judge.h"
#include "benchmarks/kit/script/script_builder.h"
#include "benchmarks/scenarios/script/scenario.h"
#include "benchmarks/scenarios/script/vocabulary.h"
#include "checker/history/calls.h"
#include "checker/history/transactions.h"

namespace keydrome::scenarios {

// Helps to write the programs of a crowd into its phase. Copies of an object write to the same
// script.
class CrowdStage {
 public:
  static constexpr uint32_t kReady = 0, kBarrier = 1;  // events that threads signal
  static constexpr uint8_t kA = 0, kB = 1;             // slots for open handles
  static constexpr uint32_t kMiddleUs = 30;
  static constexpr uint32_t kBarrierUs = 20'000;
  static constexpr uint64_t kRoundsNs = 1'500'000'000;

  CrowdStage(const Scenario& scenario, const std::string& suffix, KeyType type, uint32_t phase,
             uint32_t class_number, PoolNumbers& pools, script::ScriptBuilder& script)
      : id_(scenario.id + suffix),
        crowd_(*scenario.crowd),
        type_(type),
        phase_(phase),
        class_(class_number),
        pools_(pools),
        script_(script) {}

 protected:
  uint32_t add_index(const std::string& name) const {
    return script_.add_index(id_ + "-" + name, type_);
  }

  uint32_t key(int64_t number) {
    if (type_ != VARCHAR) return pools_.integer(type_, number + 1);
    return pools_.string("c" + letters_of(number, 8));
  }

  // Lets the first thread create the indexes. The other threads wait in enter() until the indexes
  // exist.
  void set_up(std::span<const uint32_t> indexes) {
    script::ThreadBuilder first = script_.thread(phase_, 0);
    first.auto_commit_as(format::Kind::kScript, class_);
    for (const uint32_t index : indexes) first.create(index);
    first.signal(kReady);
  }
  void set_up(std::initializer_list<uint32_t> indexes) {
    set_up(std::span(indexes.begin(), indexes.size()));
  }

  script::ThreadBuilder enter(uint32_t t) {
    script::ThreadBuilder thread = script_.thread(phase_, t);
    thread.auto_commit_as(format::Kind::kScript, class_);
    thread.wait(kReady, 1);
    return thread;
  }

  // Yields in the middle of a transaction for at most kMiddleUs microseconds, so that other threads
  // can run while the transaction has uncommitted records.
  static void let_others_run(script::ThreadBuilder& thread) {
    thread.yield(kBarrier, UINT32_MAX, kMiddleUs);
  }

  // Lets all threads of the crowd wait for each other.
  void barrier(script::ThreadBuilder& thread, uint32_t round) {
    thread.signal(kBarrier);
    thread.wait(kBarrier, crowd_.threads * (round + 1));
  }

  // For rounds of calls that may take long, such as create. Lets all threads wait for each other
  // for at most kBarrierUs microseconds, and ends the thread if kRoundsNs nanoseconds of the phase
  // have passed. So a library with slow calls plays fewer rounds, and does not reach the time limit
  // of the phase. The wait has a limit, because other threads may have ended.
  void barrier_unless_late(script::ThreadBuilder& thread, uint32_t round) {
    thread.until(kRoundsNs);
    thread.signal(kBarrier);
    thread.yield(kBarrier, crowd_.threads * (round + 1), kBarrierUs);
  }

  // Returns the builder of the first thread's program, which begins by creating an index and
  // opening it in slot A.
  script::ThreadBuilder alone() {
    const uint32_t a = add_index("A");
    script::ThreadBuilder thread = script_.thread(phase_, 0);
    thread.create(a);
    thread.open(kA, a);
    return thread;
  }

  // Inserts records under the keys first, first + 1, ...
  void insert(script::ThreadBuilder& thread, uint8_t slot, uint32_t first, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
      thread.insert(slot, key(first + i), script_.new_payload());
    }
  }

  void scan(script::ThreadBuilder& thread) {
    thread.begin(format::Kind::kScript, class_);
    thread.next_to_end(kA, 2 * crowd_.records + 1);
    thread.commit();
  }

  const std::string id_;
  const Crowd& crowd_;
  const KeyType type_;
  const uint32_t phase_, class_;
  PoolNumbers& pools_;
  script::ScriptBuilder& script_;
};

// Helps to judge the recorded calls of a crowd.
class CrowdRecord {
 public:
  CrowdRecord(const Crowd& crowd, const history::History& history,
              const history::Transactions& transactions)
      : crowd_(crowd), history_(history), transactions_(transactions) {}

  // Returns a text about a scan that returned a record twice, or an empty text. This fault is
  // reported instead of a wrong number of records, because it explains the wrong number.
  std::string repeated_record() const;

 protected:
  // Returns, for every committed transaction that scanned to the end, its thread and the number of
  // records found.
  std::vector<std::pair<uint32_t, uint64_t>> scans() const {
    std::vector<std::pair<uint32_t, uint64_t>> found;
    for (const history::Transaction& transaction : transactions_.committed) {
      uint64_t records = 0, ends = 0;
      for_each_call(history_, transaction, [&](uint32_t, const history::Event& event) {
        records += call_of(event) == history::EventCall::kNext && succeeded(event) ? 1 : 0;
        ends += event.code == DB_END ? 1 : 0;
      });
      if (ends > 0) found.emplace_back(transaction.thread, records);
    }
    return found;
  }

  // A scan that must find this number of records. The name, such as "the scan after the abort",
  // begins a sentence about it.
  struct ExpectedScan {
    std::string name;
    uint64_t records = 0;
  };
  static constexpr const char* kScanAtEnd = "the scan at the end";

  // Checks that all these scans committed and found these numbers of records, in this order.
  // Returns a description of the first error, or an empty text.
  std::string found(const std::vector<ExpectedScan>& right) const;

  // Returns a text about the first call of the kind `call` whose code is not in `right`. Returns an
  // empty text if there is no such call.
  std::string first_code(history::EventCall call, std::initializer_list<uint8_t> right,
                         const char* name) const {
    for (const std::vector<history::Event>& events : history_.threads) {
      for (const history::Event& event : events) {
        if (call_of(event) != call || std::ranges::count(right, event.code) > 0) continue;
        std::string text =
            std::string(name) + " returned " + code_text(event) + ", but must return ";
        for (const uint8_t& code : right) {
          text += (&code == right.begin() ? "" : " or ") + code_text(uint32_t{code});
        }
        return text;
      }
    }
    return "";
  }

  const Crowd& crowd_;
  const history::History& history_;
  const history::Transactions& transactions_;

 private:
  // A scan that did not commit: how many scans came before it, and the call that ended its last
  // attempt (null: unknown).
  struct FailedScan {
    std::size_t number = 0;
    const history::Event* last = nullptr;
  };
  // Returns the first scan that did not commit. Exact only if one thread makes all scans.
  FailedScan failed_scan() const;
};

// What is wrong with the results of a crowd.
struct CrowdFault {
  std::string name;  // name of the finding; empty: Scenario::finding
  std::string rule;  // description of the error; empty: nothing is wrong
};

// A kind of crowd: a function that writes its programs, and a function that judges its results.
struct CrowdKind {
  std::string_view name;
  void (*write)(const CrowdStage&);
  CrowdFault (*judge)(const CrowdRecord&);
};

// Return the kinds of crowds of extremes.cc, names.cc and conflicts.cc.
std::span<const CrowdKind> extreme_crowds();
std::span<const CrowdKind> name_crowds();
std::span<const CrowdKind> conflict_crowds();

}  // namespace keydrome::scenarios

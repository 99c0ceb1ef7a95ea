// What the kinds of crowds are made of: a stage to write their programs on, what was recorded of
// them to judge, and the kinds that stand in other files than crowd.cc.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "benchmarks/kit/judge.h"
#include "benchmarks/kit/script_builder.h"
#include "benchmarks/scenarios/scenario.h"
#include "benchmarks/scenarios/vocabulary.h"
#include "checker/calls.h"
#include "checker/transactions.h"

namespace keydrome::scenarios {

// Where the programs of a crowd are written: the phase, and what all kinds need. Copies write to
// the same script.
class CrowdStage {
 public:
  static constexpr uint32_t kReady = 0, kMet = 1;  // events
  static constexpr uint8_t kA = 0, kB = 1;         // slots
  static constexpr uint32_t kMiddleUs = 30;

  CrowdStage(const Scenario& scenario, const std::string& suffix, KeyType type, uint32_t phase,
             uint32_t class_number, PoolNumbers& pools, ScriptBuilder& script)
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
    if (type_ != VARCHAR) return pools_.integer(type_, number);
    const std::string digits = std::to_string(number);
    return pools_.string("c" + std::string(8 - std::min<std::size_t>(8, digits.size()), '0') +
                         digits);
  }

  // The first thread creates the indexes; the others begin when it has.
  void set_up(std::span<const uint32_t> indexes) {
    ThreadBuilder first = script_.thread(phase_, 0);
    first.auto_commit_as(Kind::kScript, class_);
    for (const uint32_t index : indexes) first.create(index);
    first.signal(kReady);
  }
  void set_up(std::initializer_list<uint32_t> indexes) {
    set_up(std::span(indexes.begin(), indexes.size()));
  }

  ThreadBuilder enter(uint32_t t) {
    ThreadBuilder thread = script_.thread(phase_, t);
    thread.auto_commit_as(Kind::kScript, class_);
    thread.wait(kReady, 1);
    return thread;
  }

  // In the middle of a transaction, so that there is something to be seen that should not be.
  static void let_others_run(ThreadBuilder& thread) { thread.yield(kMet, UINT32_MAX, kMiddleUs); }

  // All threads of the crowd go on together.
  void meet(ThreadBuilder& thread, uint32_t round) {
    thread.signal(kMet);
    thread.wait(kMet, crowd_.threads * (round + 1));
  }

  const std::string id_;
  const Crowd& crowd_;
  const KeyType type_;
  const uint32_t phase_, class_;
  PoolNumbers& pools_;
  ScriptBuilder& script_;
};

// What was recorded of a crowd.
class CrowdRecord {
 public:
  CrowdRecord(const Crowd& crowd, const History& history, const Transactions& transactions)
      : crowd_(crowd), history_(history), transactions_(transactions) {}

 protected:
  // Of every committed transaction that scanned: its thread and how many records it found.
  std::vector<std::pair<uint32_t, uint64_t>> scans() const {
    std::vector<std::pair<uint32_t, uint64_t>> found;
    for (const Transaction& transaction : transactions_.committed) {
      uint64_t records = 0, ends = 0;
      for_each_call(history_, transaction, [&](uint32_t, const Event& event) {
        records += call_of(event) == EventCall::kNext && succeeded(event) ? 1 : 0;
        ends += event.code == DB_END ? 1 : 0;
      });
      if (ends > 0) found.emplace_back(transaction.thread, records);
    }
    return found;
  }

  std::string first_code(EventCall call, std::initializer_list<uint8_t> right,
                         const char* name) const {
    for (const std::vector<Event>& events : history_.threads) {
      for (const Event& event : events) {
        if (call_of(event) != call || std::ranges::count(right, event.code) > 0) continue;
        return std::string(name) + " answered " + code_text(event.code);
      }
    }
    return "";
  }

  const Crowd& crowd_;
  const History& history_;
  const Transactions& transactions_;
};

// A kind of crowd: what it does, and what must come of it.
struct CrowdKind {
  std::string_view name;
  void (*write)(const CrowdStage&);
  std::string (*judge)(const CrowdRecord&);  // what is wrong, or nothing
};

// Names and extreme sizes (extremes.cc).
std::span<const CrowdKind> extreme_crowds();

}  // namespace keydrome::scenarios

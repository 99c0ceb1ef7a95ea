// Growth of memory: finds libraries that leak a few bytes with each transaction. Transactions that
// leave as many records as they found are played in equal parts. A library whose memory grows in
// every part, long after a warm-up, frees less than it allocates. A library that only keeps freed
// memory for later, or that collects garbage now and then, grows in some of the parts at most.
//
// There are several kinds of transactions, e.g. those that abort, so the finding says where to look
// for the leak. The parts of all kinds take turns.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/kit/script/outcome_reader.h"
#include "benchmarks/kit/script/script_builder.h"
#include "benchmarks/kit/workload/workload.h"
#include "benchmarks/scenarios/script/vocabulary.h"

namespace keydrome::scenarios {

inline constexpr std::size_t kGrowthParts = 3;  // measured parts of each kind, after the warm-up

// Returns how many transactions each part has at most, at a size in percent (`extent_percent`).
uint32_t growth_transactions(int64_t percent);
// Returns upper bounds for one session at this size: its transactions, and operations in each.
double growth_transactions_max(int64_t percent);
inline constexpr double kGrowthOps = 5;

// The phases of one kind of transactions.
struct ScriptedGrowth {
  std::size_t kind = 0;
  std::array<uint32_t, kGrowthParts> parts{};  // phase numbers; each is above 0
};

// The growth of memory during the measured parts of one kind.
struct Growth {
  std::string_view each;  // what the library was asked to do, e.g. "transaction that aborts"
  std::array<int64_t, kGrowthParts> bytes{};
  uint64_t transactions = 0, deadlocks = 0;  // in all parts; calls that returned DEADLOCK
  uint32_t threads = 1;                      // that play the transactions

  int64_t total() const;
  double per_transaction() const;
  // Returns true if memory grew about equally in all parts, and by more than the possible error of
  // the kernel's accounts.
  bool is_leak() const;
};

// Appends the phases of all kinds: one that makes the indexes, a warm-up of each kind, and the
// parts.
std::vector<ScriptedGrowth> script_growth(int64_t percent, uint32_t class_number,
                                          PoolNumbers& pools, script::ScriptBuilder& script);

// Returns the growth of each kind that was played and measured.
std::vector<Growth> measure_growth(std::span<const ScriptedGrowth> scripted,
                                   const script::Outcome& outcome,
                                   std::span<const workload::PhaseMeasures> phases);

// Returns the text of the finding, or an empty text if no kind leaks.
std::string growth_text(std::span<const Growth> growths);

}  // namespace keydrome::scenarios

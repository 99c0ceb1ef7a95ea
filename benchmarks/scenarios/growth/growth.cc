// Implements growth.h: writes the transactions whose memory is measured, and decides which kinds of
// them leak.
#include "benchmarks/scenarios/growth/growth.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace keydrome::scenarios {

namespace {

constexpr uint32_t kPartMin = 12'000, kPartMax = 32'000, kPartFull = 266'000;
constexpr uint32_t kRecords = 64;
// A part ends after this time, so that a slow library plays fewer transactions.
constexpr uint64_t kPartNs = 60'000'000;
constexpr uint32_t kUnit = 16;  // transactions between two looks at the clock
constexpr uint8_t kA = 0, kB = 1;

// The kernel charges memory in advance, up to 256 KiB on each processor that a thread visits. So it
// is a leak only if memory grows in each part by more than 256 KiB for each thread. It is no leak
// if memory grows much more in one part than in another: then a pool has grown, which later
// transactions use.
constexpr int64_t kCharged = int64_t{256} << 10;
constexpr int64_t kLeakMin = int64_t{64} << 10;  // in addition to kCharged
constexpr int64_t kUnevenMax = 4;
constexpr double kLeakPerTransactionMin = 16;
// Conflicts are measured only if at least this many calls returned DEADLOCK.
constexpr uint64_t kDeadlocksMin = 500;
// A kind is named if it grows by at least this part of the growth of the worst kind. Otherwise a
// library that leaks in closeIndex alone would seem to leak in all kinds.
constexpr double kNamed = 0.25;

// Writes the transactions of all kinds. Keys and payloads are long, because the memory of a short
// string may lie within an object that is freed.
class Writer {
 public:
  Writer(uint32_t class_number, PoolNumbers& pools, script::ScriptBuilder& script)
      : class_(class_number), script_(script) {
    text_ = pools.text(std::string(40, 'm'));
    for (uint32_t i = 0; i < 2 * kRecords; ++i) {
      keys_.push_back(pools.string("memory" + letters_of(i, 18)));
    }
    // Two indexes, because the failed calls need records that no other transaction replaces.
    kept_ = script_.add_index("memory-kept", VARCHAR);
    changed_ = script_.add_index("memory-changed", VARCHAR);
  }

  void make_indexes() {
    const uint32_t phase = script_.add_phase("memory: indexes", 1, {});
    script::ThreadBuilder thread = script_.thread(phase, 0);
    for (const uint32_t index : {kept_, changed_}) {
      thread.create(index);
      thread.open(kA, index);
      thread.begin(format::Kind::kScript, class_);
      for (uint32_t i = 0; i < kRecords; ++i) {
        payloads_.push_back(script_.new_payload(text_));
        thread.insert(kA, keys_[i], payloads_.back());
      }
      thread.commit();
      thread.close(kA);
    }
  }

  // Appends up to `count` transactions of one kind to the program of a thread.
  template <typename Transaction>
  void append(uint32_t phase, uint32_t t, uint32_t count, const Transaction& transaction) {
    script::ThreadBuilder thread = script_.thread(phase, t);
    for (uint32_t i = 0; i < count; ++i) {
      if (i % kUnit == 0) {
        thread.until(kPartNs);
        thread.open(kA, kept_);
        thread.open(kB, changed_);
      }
      (this->*transaction)(thread, t, i);
      if (i % kUnit < kUnit - 1 && i + 1 < count) continue;
      thread.close(kB);
      thread.close(kA);
    }
  }

  void change(script::ThreadBuilder& thread, uint32_t, uint32_t i) {
    thread.begin(format::Kind::kScript, class_);
    replace(thread, i);
    thread.commit();
  }

  void abort(script::ThreadBuilder& thread, uint32_t, uint32_t i) {
    thread.begin(format::Kind::kScript, class_);
    thread.insert(kA, keys_[kRecords + i % kRecords], script_.new_payload(text_));
    thread.delete_key(kA, keys_[i % kRecords]);
    thread.abort();
  }

  void fail(script::ThreadBuilder& thread, uint32_t, uint32_t i) {
    thread.begin(format::Kind::kScript, class_);
    thread.insert(kA, keys_[i % kRecords], payloads_[i % kRecords], format::kMayExist);
    thread.delete_key(kA, keys_[kRecords + i % kRecords]);
    thread.get(kA, keys_[kRecords + i % kRecords]);
    thread.commit();
  }

  void read(script::ThreadBuilder& thread, uint32_t, uint32_t i) {
    thread.begin(format::Kind::kScript, class_);
    thread.get(kA, keys_[i % kRecords]);
    thread.next(kA, 2);
    thread.commit();
  }

  void open(script::ThreadBuilder& thread, uint32_t, uint32_t i) {
    constexpr uint8_t kC = 2;
    thread.open(kC, kept_);
    thread.begin(format::Kind::kScript, class_);
    thread.get(kC, keys_[i % kRecords]);
    thread.commit();
    thread.close(kC);
  }

  // Two threads replace one of two records each, and read the other.
  void conflict(script::ThreadBuilder& thread, uint32_t t, uint32_t) {
    thread.begin(format::Kind::kScript, class_);
    replace(thread, t);
    thread.get(kB, keys_[1 - t]);
    thread.commit();
  }

 private:
  void replace(script::ThreadBuilder& thread, uint32_t i) {
    thread.delete_key(kB, keys_[i % kRecords]);
    thread.insert(kB, keys_[i % kRecords], script_.new_payload(text_));
  }

  const uint32_t class_;
  script::ScriptBuilder& script_;
  uint32_t text_ = 0, kept_ = 0, changed_ = 0;
  std::vector<uint32_t> keys_;
  std::vector<script::Payload> payloads_;  // of the records in kept_, then of those in changed_
};

struct Kind {
  std::string_view title, each;
  uint32_t threads;
  void (Writer::*transaction)(script::ThreadBuilder&, uint32_t thread, uint32_t number);
};

constexpr std::size_t kConflicts = 5;
constexpr std::array kKinds{
    Kind{"commits", "transaction that commits changes", 1, &Writer::change},
    Kind{"aborts", "transaction that aborts", 1, &Writer::abort},
    Kind{"failed calls", "transaction whose calls return ENTRY_EXISTS, ENTRY_DNE or KEY_NOTFOUND",
         1, &Writer::fail},
    Kind{"reads", "transaction that only reads", 1, &Writer::read},
    Kind{"openings", "transaction that opens and closes an index", 1, &Writer::open},
    Kind{"conflicts", "transaction that conflicts with another thread", 2, &Writer::conflict}};

std::string kib(int64_t bytes) { return std::to_string(bytes / 1024); }

std::string rounded(double value) { return std::to_string(std::llround(value)); }

}  // namespace

uint32_t growth_transactions(int64_t percent) {
  const int64_t all = percent == 0 ? kPartFull : kPartFull * percent / 100;
  return static_cast<uint32_t>(std::clamp<int64_t>(all, kPartMin, kPartMax));
}

double growth_transactions_max(int64_t percent) {
  double threads = 0;
  for (const Kind& kind : kKinds) threads += kind.threads;
  return threads * (kGrowthParts + 0.5) * growth_transactions(percent);
}

std::vector<ScriptedGrowth> script_growth(int64_t percent, uint32_t class_number,
                                          PoolNumbers& pools, script::ScriptBuilder& script) {
  Writer writer(class_number, pools, script);
  writer.make_indexes();
  std::vector<ScriptedGrowth> scripted(kKinds.size());
  for (std::size_t round = 0; round <= kGrowthParts; ++round) {
    const uint32_t count = growth_transactions(percent) / (round == 0 ? 2 : 1);
    for (std::size_t k = 0; k < kKinds.size(); ++k) {
      const Kind& kind = kKinds[k];
      const std::string part = round == 0 ? "warm-up" : "part " + std::to_string(round);
      const uint32_t phase =
          script.add_phase("memory: " + std::string(kind.title) + ", " + part, kind.threads, {});
      for (uint32_t t = 0; t < kind.threads; ++t) writer.append(phase, t, count, kind.transaction);
      scripted[k].kind = k;
      if (round > 0) scripted[k].parts[round - 1] = phase;
    }
  }
  return scripted;
}

int64_t Growth::total() const { return std::accumulate(bytes.begin(), bytes.end(), int64_t{0}); }

double Growth::per_transaction() const {
  return transactions == 0 ? 0 : static_cast<double>(total()) / static_cast<double>(transactions);
}

bool Growth::is_leak() const {
  const auto [least, most] = std::ranges::minmax(bytes);
  return least >= kCharged * threads + kLeakMin && most <= kUnevenMax * least &&
         per_transaction() >= kLeakPerTransactionMin;
}

std::vector<Growth> measure_growth(std::span<const ScriptedGrowth> scripted,
                                   const script::Outcome& outcome,
                                   std::span<const workload::PhaseMeasures> phases) {
  std::vector<Growth> found;
  for (const ScriptedGrowth& one : scripted) {
    Growth growth{.each = kKinds[one.kind].each, .threads = kKinds[one.kind].threads};
    bool measured = true;
    for (std::size_t part = 0; part < kGrowthParts; ++part) {
      const uint32_t phase = one.parts[part];
      measured = measured && phase < std::min(phases.size(), outcome.phases.size()) &&
                 phases[phase - 1].memory_bytes && phases[phase].memory_bytes;
      if (!measured) break;
      growth.bytes[part] = static_cast<int64_t>(*phases[phase].memory_bytes) -
                           static_cast<int64_t>(*phases[phase - 1].memory_bytes);
      for (const script::ThreadResult& thread : outcome.phases[phase].threads) {
        const script::ThreadTotals& totals = thread.totals;
        growth.transactions += std::accumulate(totals.committed.begin(), totals.committed.end(),
                                               totals.aborted + totals.failed + totals.deadlocked);
        growth.deadlocks += thread.reported->deadlocks;
      }
    }
    if (one.kind == kConflicts && growth.deadlocks < kDeadlocksMin) continue;
    if (measured && growth.transactions > 0) found.push_back(growth);
  }
  return found;
}

std::string growth_text(std::span<const Growth> growths) {
  double most = 0;
  for (const Growth& growth : growths) {
    if (growth.is_leak()) most = std::max(most, growth.per_transaction());
  }
  if (most == 0) return "";
  std::string text = "memory grows with every ", rows;
  bool first = true;
  for (const Growth& growth : growths) {
    if (growth.is_leak() && growth.per_transaction() >= kNamed * most) {
      text += first ? "" : ", and with every ";
      text += std::string(growth.each) + ", by " + rounded(growth.per_transaction()) + " bytes";
      first = false;
    }
    rows += "\n  " + std::string(growth.each) + ": ";
    for (std::size_t part = 0; part < kGrowthParts; ++part) {
      rows += (part == 0 ? "" : ", ") + kib(growth.bytes[part]);
    }
    rows += " KiB in " + std::to_string(growth.transactions) + " transactions";
    if (growth.deadlocks > 0) {
      rows += " (" + std::to_string(growth.deadlocks) + " calls returned DEADLOCK)";
    }
  }
  return text +
         ". These transactions leave as many records as before, so memory runs out in the end: "
         "when a transaction ends, free the memory that it needed. (If the library fills a log of "
         "fixed size, the growth ends when the log is full.)\nGrowth in " +
         std::to_string(kGrowthParts) + " equal parts of the transactions, after a warm-up:" + rows;
}

}  // namespace keydrome::scenarios

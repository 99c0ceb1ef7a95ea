// Generates and judges the operations of the benchmark "isolation": short concurrent rounds, each a
// phase on empty indexes. The player, the process that calls the library, records every call. The
// checker proves that the results are strictly serialisable, or shows why not (README.md).
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "base/check.h"
#include "benchmarks/isolation/bodies.h"
#include "benchmarks/isolation/key_universe.h"
#include "benchmarks/kit/judge/judge.h"
#include "benchmarks/kit/judge/recorded/history_judge.h"
#include "benchmarks/kit/script/script_builder.h"
#include "benchmarks/kit/workload/demand.h"
#include "benchmarks/kit/workload/random_text.h"
#include "benchmarks/kit/workload/workload.h"

namespace keydrome {
namespace isolation {
namespace {

// Events on which threads wait: the indexes are filled; a thread has finished its transactions.
constexpr uint32_t kReady = 0, kDone = 1;
constexpr std::array<KeyType, 3> kTypes = {SHORT, VARCHAR, INT};
// The maximum number of indexes of a run. The number is limited, because a library may need a file
// descriptor or a memory area for each index. Later rounds reuse the indexes of earlier rounds,
// which are empty by then.
constexpr uint32_t kIndexesMax = 96;
constexpr uint32_t kAbortOneIn = 50, kLongAbortOneIn = 5;
constexpr uint32_t kLongOperations = 40;

struct Scale {
  uint32_t threads;
  uint32_t transactions;  // of each thread in a round whose RoundKind::percent is 100
};

// Returns the kind of round `number`. If `only` is positive, all rounds have the kind with the
// number `only`, counted from 1.
const RoundKind& kind_of(uint32_t number, uint32_t only) {
  const std::span<const RoundKind> kinds = round_kinds();
  return kinds[only == 0 ? number % kinds.size() : (only - 1) % kinds.size()];
}

// Returns the number of rounds after which the indexes are reused. It is a multiple of the number
// of kinds and of key types, so rounds with the same indexes have the same kind and key types.
uint32_t rounds_with_own_indexes(uint32_t only) {
  const auto kinds = static_cast<uint32_t>(round_kinds().size());
  static_assert(kTypes.size() == 3);
  KEYDROME_CHECK(kinds % kTypes.size() == 0);
  uint32_t indexes = 0;
  for (uint32_t number = 0; number < kinds; ++number) indexes += kind_of(number, only).indexes;
  return kinds * std::max(1u, kIndexesMax / indexes);
}

// Writes the rounds of a script, the operations of all threads. Each round is a phase on empty
// indexes. Thread 0 creates the indexes, unless an earlier round has done so, and fills them. All
// threads then run their transactions. At the end thread 0 reads everything back and deletes it.
class RoundWriter {
 public:
  RoundWriter(script::ScriptBuilder& script, const Scale& scale, uint32_t only, uint64_t seed)
      : script_(script), scale_(scale), period_(rounds_with_own_indexes(only)), seed_(seed) {
    read_only_ = script.add_class("read");
    writing_ = script.add_class("write");
    workload::Rng rng(seed, 0, workload::Purpose::kPools);
    for (uint64_t bytes = 0; bytes <= MAX_PAYLOAD_LEN - format::kTagBytes; ++bytes) {
      texts_.push_back(script.add_text(workload::letters().text(rng, bytes)));
    }
  }

  void round(uint32_t number, const RoundKind& kind) {
    workload::Rng rng(seed_, number, workload::Purpose::kShape);
    std::vector<KeySpace> key_spaces;
    indexes_.clear();
    for (uint32_t i = 0; i < kind.indexes; ++i) {
      const KeyType type = kTypes[(i + number) % kTypes.size()];
      const std::string name = static_cast<char>('A' + i) + std::to_string(number % period_);
      indexes_.push_back(script_.add_index(name, type));
      key_spaces.push_back(
          {.slot = static_cast<uint8_t>(i), .keys = add_keys(script_, type, kind.keys, rng)});
    }
    const uint32_t phase =
        script_.add_phase("round " + std::to_string(number) + " " + std::string(kind.name),
                          scale_.threads, {.timed = true, .recorded = true});
    prepare(script_.thread(phase, 0), key_spaces, number < period_, kind.changes, rng);
    for (uint32_t t = 0; t < scale_.threads; ++t) {
      script::ThreadBuilder out = script_.thread(phase, t);
      if (t > 0) open(out);
      transactions(out, kind, key_spaces, number * scale_.threads + t);
      out.signal(kDone);
    }
    read_back(script_.thread(phase, 0), key_spaces, kind.changes);
  }

 private:
  void open(script::ThreadBuilder& out) {
    out.wait(kReady, 1);
    for (uint32_t i = 0; i < indexes_.size(); ++i) {
      out.open(static_cast<uint8_t>(i), indexes_[i]);
    }
  }

  // Opens the indexes and fills them. First creates them if `creates` is true, because no earlier
  // round has done so.
  void prepare(script::ThreadBuilder out, std::span<const KeySpace> key_spaces, bool creates,
               uint32_t changes, workload::Rng& rng) {
    for (const uint32_t index : indexes_) {
      if (creates) out.create(index);
    }
    for (uint32_t i = 0; i < indexes_.size(); ++i) {
      out.open(static_cast<uint8_t>(i), indexes_[i]);
    }
    for (const KeySpace& space : key_spaces) fill(out, space, changes, rng);
    out.signal(kReady);
  }

  // Inserts a record for every other key, in transactions of `changes` inserts. If `changes` is
  // kChangesMax, each of these transactions follows one that inserts under the same keys and
  // aborts.
  void fill(script::ThreadBuilder& out, const KeySpace& space, uint32_t changes,
            workload::Rng& rng) {
    for (std::size_t k = 0; k < space.keys.size(); k += std::size_t{2} * changes) {
      if (changes == kChangesMax) {
        insert_half(out, space, k, changes, rng);
        out.abort();
      }
      insert_half(out, space, k, changes, rng);
      out.commit();
    }
  }

  // Begins a transaction that inserts a record for every other key, from position `first`.
  void insert_half(script::ThreadBuilder& out, const KeySpace& space, std::size_t first,
                   uint32_t changes, workload::Rng& rng) {
    out.begin(format::Kind::kScript, writing_);
    const std::size_t end = std::min(space.keys.size(), first + std::size_t{2} * changes);
    for (std::size_t i = first; i < end; i += 2) {
      const uint32_t text = texts_[rng.below(texts_.size())];
      out.insert(space.slot, space.keys[i], script_.new_payload(text));
    }
  }

  void transactions(script::ThreadBuilder& out, const RoundKind& kind,
                    std::span<const KeySpace> key_spaces, uint32_t stream) {
    workload::Rng rng(seed_, stream, workload::Purpose::kStream);
    BodyWriter writer(script_, out, key_spaces, texts_, rng);
    const uint32_t count = scale_.transactions * kind.percent / 100;
    for (uint32_t i = 0; i < count; ++i) {
      const bool read_only = rng.below(10) < 3;
      const auto operations = 1 + static_cast<uint32_t>(rng.below(2 * kind.calls - 1));
      out.begin(format::Kind::kScript, read_only ? read_only_ : writing_);
      kind.body(writer, operations, read_only);
      // Long transactions abort more often, so that aborts with many changes occur.
      if (rng.below(operations < kLongOperations ? kAbortOneIn : kLongAbortOneIn) == 0) {
        out.abort();
      } else {
        out.commit();
      }
    }
  }

  // Reads all records at the end of the round, so that a lost record is found even if no other
  // transaction reads it. Then deletes all keys and checks with a scan that no record is left.
  void read_back(script::ThreadBuilder out, std::span<const KeySpace> key_spaces,
                 uint32_t changes) {
    out.wait(kDone, scale_.threads);
    out.begin(format::Kind::kScript, read_only_);
    for (uint32_t i = 0; i < indexes_.size(); ++i) {
      out.next_to_end(static_cast<uint8_t>(i), script_.inserts(indexes_[i]));
    }
    out.commit();
    for (const KeySpace& space : key_spaces) {
      for (std::size_t k = 0; k < space.keys.size(); k += changes) {
        out.begin(format::Kind::kScript, writing_);
        const std::size_t end = std::min<std::size_t>(space.keys.size(), k + changes);
        for (std::size_t i = k; i < end; ++i) out.delete_key(space.slot, space.keys[i]);
        out.commit();
      }
    }
    out.begin(format::Kind::kScript, read_only_);
    for (const KeySpace& space : key_spaces) out.next(space.slot, 1);
    out.commit();
    for (uint32_t i = 0; i < indexes_.size(); ++i) out.close(static_cast<uint8_t>(i));
  }

  script::ScriptBuilder& script_;
  const Scale scale_;
  const uint32_t period_;
  const uint64_t seed_;
  uint32_t read_only_ = 0, writing_ = 0;  // transaction classes
  std::vector<uint32_t> texts_;
  std::vector<uint32_t> indexes_;  // indexes of the current round
};

// Calls of one transaction, including its retries: the mean over all kinds of rounds, and the mean
// of the kind with the most calls.
constexpr double kCallsOnAverage = 24, kCallsMax = 200;
// Bytes for the text of a string key and for the operation that loads its record.
constexpr double kForKey = 110;
// Keys of a round, in all its indexes.
constexpr double kKeysOnAverage = 6'000, kKeysMax = 40'000;

class Isolation : public workload::Workload {
 public:
  workload::Demand demand(const workload::Parameters& parameters) const override {
    const double threads = parameters.number("threads");
    const bool all_kinds = parameters["only"] == 0;
    const double calls = all_kinds ? kCallsOnAverage : kCallsMax;
    const double keys = all_kinds ? kKeysOnAverage : kKeysMax;
    workload::Demand demand(threads);
    const double transactions = threads * parameters.number("transactions");
    // Thread 0 inserts half of the keys, once or twice, reads them back and deletes all keys.
    demand.add_recorded_calls(parameters.number("rounds") * transactions * calls,
                              transactions * kCallsMax + 2.5 * kKeysMax);
    demand.add_keys(parameters.number("rounds") * keys, sizeof(int64_t));
    demand.add_bytes(parameters.number("rounds") * keys * kForKey);
    return demand;
  }

  Result<script::Script> generate(const workload::Parameters& parameters, uint64_t seed,
                                  const workload::CheckPolicy&) override {
    script::ScriptBuilder script;
    RoundWriter writer(
        script,
        {.threads = parameters.u32("threads"), .transactions = parameters.u32("transactions")},
        parameters.u32("only"), seed);
    for (uint32_t round = 0; round < parameters.u32("rounds"); ++round) {
      writer.round(round, kind_of(round, parameters.u32("only")));
    }
    return script.build();
  }

  void judge(const script::Script& script, const script::Outcome& outcome,
             judge::Findings& findings) const override {
    judge::judge_counters(script, outcome, findings);
    judge::judge_recorded(script, outcome, /*strict=*/true, findings);
  }
};

}  // namespace
}  // namespace isolation

std::unique_ptr<workload::Workload> make_isolation(std::string_view) {
  return std::make_unique<isolation::Isolation>();
}

}  // namespace keydrome

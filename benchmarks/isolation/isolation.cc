// Generates and judges the operations of the benchmark "isolation": short concurrent rounds whose
// recorded history the checker certifies (README.md).
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "benchmarks/isolation/bodies.h"
#include "benchmarks/isolation/key_universe.h"
#include "benchmarks/kit/judge/judge.h"
#include "benchmarks/kit/judge/recorded/history_judge.h"
#include "benchmarks/kit/script/script_builder.h"
#include "benchmarks/kit/workload/random_text.h"
#include "benchmarks/kit/workload/workload.h"

namespace keydrome {
namespace isolation {
namespace {

constexpr uint32_t kReady = 0, kDone = 1;  // events that threads signal
constexpr std::array<KeyType, 3> kTypes = {SHORT, VARCHAR, INT};
constexpr uint32_t kPopulateBatch = 50;  // inserts per transaction

struct Scale {
  uint32_t threads, transactions;  // transactions of each thread in a round, at 100 %
};

// Writes the rounds of a script. Each round is a phase on fresh indexes. Thread 0 creates and fills
// them, all threads run their transactions, and thread 0 reads everything back.
class RoundWriter {
 public:
  RoundWriter(script::ScriptBuilder& script, const Scale& scale, uint64_t seed)
      : script_(script), scale_(scale), seed_(seed) {
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
      const std::string name = static_cast<char>('A' + i) + std::to_string(number);
      indexes_.push_back(script_.add_index(name, type));
      key_spaces.push_back(
          {.slot = static_cast<uint8_t>(i), .keys = add_keys(script_, type, kind.keys, rng)});
    }
    const uint32_t phase =
        script_.add_phase("round " + std::to_string(number) + " " + std::string(kind.name),
                          scale_.threads, {.timed = true, .recorded = true});
    prepare(script_.thread(phase, 0), key_spaces, rng);
    for (uint32_t t = 0; t < scale_.threads; ++t) {
      script::ThreadBuilder out = script_.thread(phase, t);
      if (t > 0) open(out);
      transactions(out, kind, key_spaces, number * scale_.threads + t);
      out.signal(kDone);
    }
    read_back(script_.thread(phase, 0));
  }

 private:
  void open(script::ThreadBuilder& out) {
    out.wait(kReady, 1);
    for (uint32_t i = 0; i < indexes_.size(); ++i) {
      out.open(static_cast<uint8_t>(i), indexes_[i]);
    }
  }

  // Inserts a record for every other key, in transactions of kPopulateBatch inserts.
  void prepare(script::ThreadBuilder out, std::span<const KeySpace> key_spaces,
               workload::Rng& rng) {
    for (const uint32_t index : indexes_) out.create(index);
    for (uint32_t i = 0; i < indexes_.size(); ++i) {
      out.open(static_cast<uint8_t>(i), indexes_[i]);
    }
    for (const KeySpace& space : key_spaces) {
      for (std::size_t k = 0; k < space.keys.size(); k += std::size_t{2} * kPopulateBatch) {
        out.begin(format::Kind::kScript, writing_);
        const std::size_t end = std::min(space.keys.size(), k + std::size_t{2} * kPopulateBatch);
        for (std::size_t i = k; i < end; i += 2) {
          const uint32_t text = texts_[rng.below(texts_.size())];
          out.insert(space.slot, space.keys[i], script_.new_payload(text));
        }
        out.commit();
      }
    }
    out.signal(kReady);
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
      if (rng.below(50) == 0) {
        out.abort();
      } else {
        out.commit();
      }
    }
  }

  // Reads all records at the end of the round, so that a lost record is found even if no other
  // transaction reads it.
  void read_back(script::ThreadBuilder out) {
    out.wait(kDone, scale_.threads);
    out.begin(format::Kind::kScript, read_only_);
    for (uint32_t i = 0; i < indexes_.size(); ++i) {
      out.next_to_end(static_cast<uint8_t>(i), script_.inserts(indexes_[i]));
    }
    out.commit();
    for (uint32_t i = 0; i < indexes_.size(); ++i) out.close(static_cast<uint8_t>(i));
  }

  script::ScriptBuilder& script_;
  const Scale scale_;
  const uint64_t seed_;
  uint32_t read_only_ = 0, writing_ = 0;  // transaction classes
  std::vector<uint32_t> texts_;
  std::vector<uint32_t> indexes_;  // indexes of the current round
};

class Isolation : public workload::Workload {
 public:
  Result<script::Script> generate(const workload::Parameters& parameters, uint64_t seed,
                                  const workload::CheckPolicy&) override {
    script::ScriptBuilder script;
    RoundWriter writer(
        script,
        {.threads = parameters.u32("threads"), .transactions = parameters.u32("transactions")},
        seed);
    const std::span<const RoundKind> kinds = round_kinds();
    const uint32_t only = parameters.u32("only");
    for (uint32_t round = 0; round < parameters.u32("rounds"); ++round) {
      writer.round(round, kinds[only == 0 ? round % kinds.size() : (only - 1) % kinds.size()]);
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

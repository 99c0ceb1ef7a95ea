// Concurrent rounds whose every call is recorded and certified (README.md).
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "benchmarks/isolation/bodies.h"
#include "benchmarks/isolation/key_universe.h"
#include "benchmarks/kit/judge.h"
#include "benchmarks/kit/letters.h"
#include "benchmarks/kit/recorded_judge.h"
#include "benchmarks/kit/script_builder.h"
#include "benchmarks/kit/workload.h"

namespace keydrome {
namespace isolation {
namespace {

constexpr uint32_t kReady = 0, kDone = 1;  // events
constexpr std::array<KeyType, 3> kTypes = {SHORT, VARCHAR, INT};
constexpr uint32_t kPopulateBatch = 50;

struct Shape {
  uint32_t threads, transactions;

  explicit Shape(const Parameters& parameters)
      : threads(number(parameters, "threads")), transactions(number(parameters, "transactions")) {}

  static uint32_t number(const Parameters& parameters, std::string_view name) {
    return static_cast<uint32_t>(parameters[name]);
  }
};

// Writes the rounds of a script. Each is a phase on fresh indexes: thread 0
// makes and fills them, all threads run their transactions, thread 0 reads
// everything back.
class RoundWriter {
 public:
  RoundWriter(ScriptBuilder& script, const Shape& shape, uint64_t seed)
      : script_(script), shape_(shape), seed_(seed) {
    read_only_ = script.add_class("read");
    writing_ = script.add_class("write");
    Rng rng(seed, 0, Purpose::kPools);
    for (uint64_t bytes = 0; bytes <= MAX_PAYLOAD_LEN - kTagBytes; ++bytes) {
      texts_.push_back(script.add_text(letters().text(rng, bytes)));
    }
  }

  void round(uint32_t number, const RoundKind& kind) {
    Rng rng(seed_, number, Purpose::kShape);
    std::vector<Arena> arenas;
    indexes_.clear();
    for (uint32_t i = 0; i < kind.indexes; ++i) {
      const KeyType type = kTypes[(i + number) % kTypes.size()];
      const std::string name = static_cast<char>('A' + i) + std::to_string(number);
      indexes_.push_back(script_.add_index(name, type));
      arenas.push_back(
          {.slot = static_cast<uint8_t>(i), .keys = add_keys(script_, type, kind.keys, rng)});
    }
    const uint32_t phase =
        script_.add_phase("round " + std::to_string(number) + " " + std::string(kind.name),
                          shape_.threads, {.timed = true, .recorded = true});
    prepare(script_.thread(phase, 0), arenas, rng);
    for (uint32_t t = 0; t < shape_.threads; ++t) {
      ThreadBuilder out = script_.thread(phase, t);
      if (t > 0) open(out);
      transactions(out, kind, arenas, number * shape_.threads + t);
      out.signal(kDone);
    }
    read_back(script_.thread(phase, 0));
  }

 private:
  void open(ThreadBuilder& out) {
    out.wait(kReady, 1);
    for (uint32_t i = 0; i < indexes_.size(); ++i) {
      out.open(static_cast<uint8_t>(i), indexes_[i]);
    }
  }

  // Every other key gets a record, in transactions of kPopulateBatch inserts.
  void prepare(ThreadBuilder out, std::span<const Arena> arenas, Rng& rng) {
    for (const uint32_t index : indexes_) out.create(index);
    for (uint32_t i = 0; i < indexes_.size(); ++i) {
      out.open(static_cast<uint8_t>(i), indexes_[i]);
    }
    for (const Arena& arena : arenas) {
      for (std::size_t k = 0; k < arena.keys.size(); k += std::size_t{2} * kPopulateBatch) {
        out.begin(Kind::kScript, writing_);
        const std::size_t end = std::min(arena.keys.size(), k + std::size_t{2} * kPopulateBatch);
        for (std::size_t i = k; i < end; i += 2) {
          const uint32_t text = texts_[rng.below(texts_.size())];
          out.insert(arena.slot, arena.keys[i], script_.new_payload(text));
        }
        out.commit();
      }
    }
    out.signal(kReady);
  }

  void transactions(ThreadBuilder& out, const RoundKind& kind, std::span<const Arena> arenas,
                    uint32_t stream) {
    Rng rng(seed_, stream, Purpose::kStream);
    BodyWriter writer(script_, out, arenas, texts_, rng);
    const uint32_t count = shape_.transactions * kind.percent / 100;
    for (uint32_t i = 0; i < count; ++i) {
      const bool read_only = rng.below(10) < 3;
      const auto operations = 1 + static_cast<uint32_t>(rng.below(2 * kind.operations - 1));
      out.begin(Kind::kScript, read_only ? read_only_ : writing_);
      kind.body(writer, operations, read_only);
      if (rng.below(50) == 0) {
        out.abort();
      } else {
        out.commit();
      }
    }
  }

  // What is there at the end: records that nobody read again must not be lost.
  void read_back(ThreadBuilder out) {
    out.wait(kDone, shape_.threads);
    out.begin(Kind::kScript, read_only_);
    for (uint32_t i = 0; i < indexes_.size(); ++i) {
      out.next_to_end(static_cast<uint8_t>(i), script_.inserts(indexes_[i]));
    }
    out.commit();
    for (uint32_t i = 0; i < indexes_.size(); ++i) out.close(static_cast<uint8_t>(i));
  }

  ScriptBuilder& script_;
  const Shape shape_;
  const uint64_t seed_;
  uint32_t read_only_ = 0, writing_ = 0;  // transaction classes
  std::vector<uint32_t> texts_;
  std::vector<uint32_t> indexes_;  // of the round
};

class Isolation : public Workload {
 public:
  Result<Script> generate(const Parameters& parameters, uint64_t seed,
                          const CheckPolicy&) override {
    ScriptBuilder script;
    RoundWriter writer(script, Shape(parameters), seed);
    const std::span<const RoundKind> kinds = round_kinds();
    const auto only = static_cast<std::size_t>(parameters["only"]);
    for (uint32_t round = 0; round < static_cast<uint64_t>(parameters["rounds"]); ++round) {
      writer.round(round, kinds[only == 0 ? round % kinds.size() : (only - 1) % kinds.size()]);
    }
    return script.build();
  }

  void judge(const Script& script, const Outcome& outcome, Findings& findings) const override {
    judge_counters(script, outcome, findings);
    judge_recorded(script, outcome, /*strict=*/true, findings);
  }
};

}  // namespace
}  // namespace isolation

std::unique_ptr<Workload> make_isolation(std::string_view) {
  return std::make_unique<isolation::Isolation>();
}

}  // namespace keydrome

// Plays thousands of small random scripts under every concurrency control. A serial order must
// explain all results of the committed transactions of a script. In this order, a transaction that
// ended before another one began must come first (real time). No transaction may see uncommitted
// data of another transaction.
//
// A script has few keys, which are close together, so that scans, gaps, missing keys, deletions and
// aborts overlap. The environment variable KEYDROME_SOAK multiplies the number of scripts.
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "checker/model/search_orders.h"
#include "runtime/codec/key_codec.h"
#include "runtime/configuration.h"
#include "runtime/instance/structure_library.h"
#include "runtime/tests/setup_json.h"
#include "runtime/tests/stage.h"
#include "runtime/tests/variants.h"

namespace keydrome::runtime {

using history::History;
using model::OrderSearch;

namespace {

constexpr uint64_t kSeed = 1981;  // the seed of the first script; each further script adds one
constexpr size_t kActors = 3;
// The distance between neighbouring keys. The concurrency control `serial` cuts an index into
// ranges of keys after many changes (see fill_and_empty). With this distance, all keys of a script
// are then in different ranges.
constexpr int64_t kDistance = 8;

struct ScriptVariant : Variant {
  bool cut;  // true: before the script, the first index is filled and emptied, so `serial` cuts it
};

void PrintTo(const ScriptVariant& variant, std::ostream* out) {
  *out << name_of(variant) << (variant.cut ? " cut" : "");
}

// Returns all variants, and in addition the concurrency control `serial` on an index that has been
// cut into ranges.
std::vector<ScriptVariant> script_variants() {
  std::vector<ScriptVariant> found;
  for (const Variant& variant : variants_and_thread_safe()) found.push_back({variant, false});
  found.push_back({{"serial", "rw", false}, true});
  return found;
}

uint64_t scripts_to_play() {
#ifdef KEYDROME_SANITIZED
  constexpr uint64_t kUsual = 60;
#else
  constexpr uint64_t kUsual = 600;
#endif
  const char* factor = std::getenv("KEYDROME_SOAK");
  return kUsual * (factor == nullptr ? 1 : std::strtoull(factor, nullptr, 10));
}

// Writes scripts (see Stage::play). Every insertion has a different payload.
class Author {
 public:
  explicit Author(uint64_t seed) : random_(seed) {}

  // Returns a script. Actor 0 first inserts up to five records with auto-commit. Then the calls of
  // all actors' transactions follow, interleaved at random.
  std::string write() {
    std::string script;
    for (uint64_t count = below(6); count > 0; --count) add(script, 0, "@" + insertion());
    std::vector<std::vector<std::string>> actors(kActors);
    for (std::vector<std::string>& calls : actors) {
      for (uint64_t transactions = 1 + below(2); transactions > 0; --transactions) {
        add_transaction(calls);
      }
    }
    std::vector<size_t> next(kActors, 0);
    for (;;) {
      std::vector<size_t> left;
      for (size_t at = 0; at < kActors; ++at) {
        if (next[at] < actors[at].size()) left.push_back(at);
      }
      if (left.empty()) return script;
      const size_t actor = left[below(left.size())];
      add(script, actor, actors[actor][next[actor]++]);
    }
  }

 private:
  static void add(std::string& script, size_t actor, const std::string& call) {
    script += std::to_string(actor) + ":" + call + " ";
  }

  void add_transaction(std::vector<std::string>& calls) {
    if (below(8) == 0) {
      calls.push_back("@" + data_call());
      return;
    }
    calls.emplace_back("b");
    for (uint64_t count = 1 + below(5); count > 0; --count) calls.push_back(data_call());
    calls.emplace_back(below(6) == 0 ? "a" : "c");
  }

  std::string data_call() {
    const uint64_t which = below(20);
    if (which < 7) return index() + "n";
    if (which < 11) return index() + "g" + key();
    if (which < 16) return insertion();
    if (which < 18 || inserted_.empty()) return index() + "d" + key() + "*";
    return inserted_[below(inserted_.size())];
  }

  std::string insertion() {
    const std::string place = index();
    const std::string pair = key() + "=p" + std::to_string(++payloads_);
    inserted_.push_back(place + "d" + pair);
    return place + "i" + pair;
  }

  std::string index() { return below(5) == 0 ? "B." : ""; }
  std::string key() { return std::to_string(static_cast<int64_t>(below(7)) * kDistance); }
  uint64_t below(uint64_t bound) { return random_() % bound; }

  std::mt19937_64 random_;
  uint64_t payloads_ = 0;
  std::vector<std::string> inserted_;  // for each insertion so far, the call that deletes its pair
};

class RandomScripts : public testing::TestWithParam<ScriptVariant> {
 protected:
  static std::shared_ptr<Index> make_index(Concurrency& concurrency, Strategy& strategy) {
    return std::make_shared<Index>("index", INT, strategy.make_store(key_bytes_of(INT)),
                                   concurrency.make_index_concurrency());
  }

  // Makes so many changes with so many keys that the concurrency control `serial` cuts the index,
  // and leaves it empty.
  static void fill_and_empty(Stage& stage, const std::string& index) {
    // The insertions of the 7th round reach the number of changes that causes the cut. At this
    // moment the index has keys, so it can be cut.
    constexpr int kRounds = 7;
    constexpr int64_t kKeys = 80;
    const auto all = [&](const std::string& letter, const std::string& payload) {
      stage.step(0, parse_call("b"));
      for (int64_t key = 0; key < kKeys; ++key) {
        stage.step(0, parse_call(index + letter + std::to_string(key) + payload));
      }
      stage.step(0, parse_call("c"));
    };
    for (int round = 0; round < kRounds; ++round) {
      all("i", "=fill");
      all("d", "*");
    }
  }

  static void play(const StructureLibrary& structure, const Configuration& configuration, bool cut,
                   const std::string& script) {
    const std::unique_ptr<Strategy> strategy = make_strategy(configuration, structure.table());
    const std::unique_ptr<Concurrency> concurrency =
        make_concurrency(configuration, structure.table());
    const auto first = make_index(*concurrency, *strategy);
    const auto second = make_index(*concurrency, *strategy);
    if (cut) {
      Stage stage(*concurrency, {first.get(), second.get()}, 1);
      fill_and_empty(stage, "");
      ASSERT_EQ(*concurrency->statistics().int_member("cuts"), 1);
    }
    Stage stage(*concurrency, {first.get(), second.get()}, kActors);
    stage.play(script);
    stage.scan_all(0);
    const History history = stage.history();
    const OrderSearch found = model::search_orders(history);
    ASSERT_EQ(found.problem, "") << script << show(history);
    ASSERT_TRUE(found.order.has_value()) << script << show(history);
    ASSERT_TRUE(found.dirty_reads.empty()) << script << show(history);
  }
};

TEST_P(RandomScripts, FitIntoASerialOrder) {
  const ScriptVariant& variant = GetParam();
  const char* path = variant.thread_safe ? KEYDROME_THREAD_SAFE_STRUCTURE : KEYDROME_BTREE;
  const Result<StructureLibrary> structure = StructureLibrary::load(path);
  ASSERT_TRUE(structure.ok()) << structure.error().message;
  const Result<runtime::Setup> setup =
      parse_setup(setup_json(path, variant.lock, variant.concurrency));
  ASSERT_TRUE(setup.ok()) << setup.error().message;
  // There are fewer scripts with a cut index, because filling the index takes a thousand steps.
  const uint64_t scripts = variant.cut ? scripts_to_play() / 6 : scripts_to_play();
  for (uint64_t seed = kSeed; seed < kSeed + scripts; ++seed) {
    ASSERT_NO_FATAL_FAILURE(
        play(*structure, setup->configuration, variant.cut, Author(seed).write()))
        << "seed " << seed;
  }
}

constexpr auto kName = [](const testing::TestParamInfo<ScriptVariant>& info) {
  return name_of(info.param) + (info.param.cut ? "_cut" : "");
};
INSTANTIATE_TEST_SUITE_P(, RandomScripts, testing::ValuesIn(script_variants()), kName);

}  // namespace
}  // namespace keydrome::runtime

// Every control against thousands of small random scripts: the committed transactions of each must
// fit into a serial order that respects real time, and nobody may see what was not committed.
//
// Keys are few and close, so that scans, gaps, missing keys, deletions and aborts meet each other.
// KEYDROME_SOAK multiplies the number of scripts.
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "checker/search_orders.h"
#include "runtime/configuration.h"
#include "runtime/instance/structure_library.h"
#include "runtime/tests/setup_json.h"
#include "runtime/tests/stage.h"

namespace keydrome::runtime {
namespace {

constexpr uint64_t kSeed = 1981;  // of the first script; each has the next one
constexpr size_t kSessions = 3;
// Apart, so that they lie in different ranges once `serial` has cut the index (see fill_and_empty).
constexpr int64_t kDistance = 8;

struct Variant {
  const char* control;
  const char* lock;
  bool cut;  // the indexes have been full and are empty again
};

void PrintTo(const Variant& variant, std::ostream* out) {
  *out << variant.control << " " << variant.lock << (variant.cut ? " cut" : "");
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

// Writes scripts. Every insertion has a payload of its own.
class Author {
 public:
  explicit Author(uint64_t seed) : random_(seed) {}

  std::string write() {
    std::string script;
    for (uint64_t count = below(6); count > 0; --count) add(script, 0, "@" + insertion());
    std::vector<std::vector<std::string>> sessions(kSessions);
    for (std::vector<std::string>& calls : sessions) {
      for (uint64_t transactions = 1 + below(2); transactions > 0; --transactions) {
        add_transaction(calls);
      }
    }
    std::vector<size_t> next(kSessions, 0);
    for (;;) {
      std::vector<size_t> left;
      for (size_t at = 0; at < kSessions; ++at) {
        if (next[at] < sessions[at].size()) left.push_back(at);
      }
      if (left.empty()) return script;
      const size_t session = left[below(left.size())];
      add(script, session, sessions[session][next[session]++]);
    }
  }

 private:
  static void add(std::string& script, size_t session, const std::string& call) {
    script += std::to_string(session) + ":" + call + " ";
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
  std::vector<std::string> inserted_;  // as deletions
};

class RandomScripts : public testing::TestWithParam<Variant> {
 protected:
  static std::shared_ptr<Index> make_index(Control& control, Strategy& strategy) {
    return std::make_shared<Index>("index", INT, strategy.make_store(),
                                   control.make_index_control());
  }

  // Enough changes and keys for `serial` to cut, and an empty index in the end.
  static void fill_and_empty(Stage& stage, const std::string& index) {
    constexpr int kRounds = 7;  // the change that makes the cut due is an insertion
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
    const std::unique_ptr<Control> control = make_control(configuration, structure.table());
    const auto first = make_index(*control, *strategy);
    const auto second = make_index(*control, *strategy);
    if (cut) {
      Stage stage(*control, {first.get(), second.get()}, 1);
      fill_and_empty(stage, "");
      ASSERT_EQ(*control->statistics().int_member("cuts"), 1);
    }
    Stage stage(*control, {first.get(), second.get()}, kSessions);
    stage.play(script);
    stage.scan_all(0);
    const History history = stage.history();
    const OrderSearch found = search_orders(history);
    ASSERT_EQ(found.problem, "") << script << show(history);
    ASSERT_TRUE(found.order.has_value()) << script << show(history);
    ASSERT_TRUE(found.dirty_reads.empty()) << script << show(history);
  }
};

TEST_P(RandomScripts, FitIntoASerialOrder) {
  const Variant& variant = GetParam();
  const Result<StructureLibrary> structure = StructureLibrary::load(KEYDROME_BTREE);
  ASSERT_TRUE(structure.ok()) << structure.error().message;
  const Result<runtime::Setup> setup =
      parse_setup(setup_json(KEYDROME_BTREE, variant.lock, variant.control));
  ASSERT_TRUE(setup.ok()) << setup.error().message;
  // A cut takes a thousand steps.
  const uint64_t scripts = variant.cut ? scripts_to_play() / 6 : scripts_to_play();
  for (uint64_t seed = kSeed; seed < kSeed + scripts; ++seed) {
    ASSERT_NO_FATAL_FAILURE(
        play(*structure, setup->configuration, variant.cut, Author(seed).write()))
        << "seed " << seed;
  }
}

constexpr auto kName = [](const testing::TestParamInfo<Variant>& info) {
  return std::string(info.param.control) + "_" + info.param.lock + (info.param.cut ? "_cut" : "");
};
INSTANTIATE_TEST_SUITE_P(
    , RandomScripts,
    testing::Values(Variant{"index_2pl", "exclusive", false}, Variant{"index_2pl", "rw", false},
                    Variant{"gap_2pl", "rw", false}, Variant{"gap_2pl", "exclusive", false},
                    Variant{"serial", "rw", false}, Variant{"serial", "rw", true},
                    Variant{"occ", "rw", false}, Variant{"occ", "exclusive", false},
                    Variant{"mvcc", "rw", false}, Variant{"mvcc", "exclusive", false}),
    kName);

}  // namespace
}  // namespace keydrome::runtime

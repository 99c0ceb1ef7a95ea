// Compares lookups of the cache-conscious tree with a std::set, with each table of functions that
// this processor can execute (tables.h).
#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "keydrome/structure.h"
#include "structures/csb/tables.h"
#include "structures/tests/pair_source.h"
#include "structures/tests/structure_fixture.h"

namespace keydrome::csb {
namespace {

// The pairs of an instance.
enum class Content { kWords, kMixed, kOther };

struct Case {
  Shape shape;
  Content content;
};

class Lookups : public testing::TestWithParam<Case> {
 protected:
  static std::vector<const KeydromeStructureTable*> tables() {
    std::vector<const KeydromeStructureTable*> all{kTablePlain};
    if (can_use_avx512()) all.push_back(kTableAvx512);
    return all;
  }

  // Puts random pairs into the instance and the model. Payloads of eight bytes are few, so that
  // keys have several payloads.
  static void fill(Structure& structure, Model& model, PairSource& source) {
    for (int i = 0; i < 6000; ++i) {
      Pair pair = source.pair();
      const bool is_word = GetParam().content == Content::kWords ||
                           (GetParam().content == Content::kMixed && source.below(64) != 0);
      if (is_word) pair.second = big_endian(source.below(3), 8);
      ASSERT_TRUE(structure.put_returns(pair, model.insert(pair).second ? 1 : 0));
    }
    ASSERT_TRUE(structure.is_sound());
  }

  static std::optional<std::string> expected(const Model& model, const std::string& key) {
    const auto first = model.lower_bound({key, ""});
    if (first == model.end() || first->first != key) return std::nullopt;
    return first->second;
  }

  static void compare_batch(const KeydromeStructureTable& table, const Structure& structure,
                            const Model& model, PairSource& source) {
    std::vector<std::string> keys;
    std::vector<KeydromeLookup> lookups;
    std::vector<std::array<char, KEYDROME_PAYLOAD_BYTES_MAX>> payloads(source.below(40));
    for (size_t i = 0; i < payloads.size(); ++i) keys.push_back(source.key());
    for (size_t i = 0; i < payloads.size(); ++i) {
      lookups.push_back({bytes_of(keys[i]), {payloads[i].data(), 0, sizeof payloads[i]}, 2});
    }
    ASSERT_EQ(table.find_batch(structure.get(), static_cast<uint32_t>(keys.size()), lookups.data()),
              0);
    for (size_t i = 0; i < keys.size(); ++i) {
      const std::optional<std::string> wanted = expected(model, keys[i]);
      ASSERT_EQ(lookups[i].found, wanted ? 1 : 0);
      if (wanted) {
        ASSERT_EQ(std::string(payloads[i].data(), lookups[i].payload.size), *wanted);
      }
    }
  }
};

TEST_P(Lookups, FindWhatTheModelHas) {
  for (const KeydromeStructureTable* table : tables()) {
    PairSource source(GetParam().shape, 11, 4000, Limits::of(*table));
    WatchedEnvironment environment;
    Structure structure(*table, environment, source.key_bytes());
    Model model;
    ASSERT_NO_FATAL_FAILURE(fill(structure, model, source));
    for (int i = 0; i < 6000; ++i) {
      const std::string key = source.key();
      ASSERT_EQ(structure.find(key), expected(model, key));
    }
    for (int i = 0; i < 100; ++i) {
      const std::string key = source.key();
      std::vector<std::string> payloads;
      for (auto at = model.lower_bound({key, ""}); at != model.end() && at->first == key; ++at) {
        payloads.push_back(at->second);
      }
      ASSERT_EQ(structure.payloads(key), payloads);
    }
    for (int i = 0; i < 200; ++i) {
      ASSERT_NO_FATAL_FAILURE(compare_batch(*table, structure, model, source));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Lookups,
                         testing::Values(Case{Shape::kInt64, Content::kWords},
                                         Case{Shape::kInt64, Content::kMixed},
                                         Case{Shape::kInt64, Content::kOther},
                                         Case{Shape::kInt32, Content::kWords},
                                         Case{Shape::kText, Content::kWords},
                                         Case{Shape::kCommonPrefix, Content::kOther},
                                         Case{Shape::kHostileBytes, Content::kMixed}));

}  // namespace
}  // namespace keydrome::csb

// Implements model_checks.h: compares a structure with a std::set of pairs.
#include "structures/tests/model_checks.h"

#include <gtest/gtest.h>

#include <array>

namespace keydrome {

namespace {

// Returns the first pair of the model that a scan with these arguments must return.
Model::const_iterator bound(const Model& model, const std::string& key,
                            const std::optional<std::string>& payload, bool after) {
  if (payload) {
    return after ? model.upper_bound({key, *payload}) : model.lower_bound({key, *payload});
  }
  auto place = model.lower_bound({key, ""});
  while (after && place != model.end() && place->first == key) ++place;
  return place;
}

void expect_scan_agrees(const Structure& structure, const Model& model, const Pair& probe,
                        bool whole_key, bool after, const RunBuffer& run, uint32_t limit) {
  const std::optional<std::string> payload =
      whole_key ? std::nullopt : std::optional<std::string>(probe.second);
  const Scanned scanned = structure.scan(probe.first, payload, after, run);
  auto expected = bound(model, probe.first, payload, after);
  for (const Pair& pair : scanned.pairs) {
    ASSERT_NE(expected, model.end()) << "scan returned a pair after the last one";
    ASSERT_EQ(pair, *expected++) << "scan must return the next pair in order";
  }
  if (!scanned.more) {
    ASSERT_EQ(expected, model.end()) << "scan returned 0, but a pair follows";
  } else if (scanned.pairs.size() < limit) {
    // A run shorter than its limit is right only if the next pair does not fit.
    size_t bytes = 0;
    for (const Pair& pair : scanned.pairs) bytes += 2 + pair.first.size() + pair.second.size();
    ASSERT_NE(expected, model.end())
        << "scan returned 1, but the run has room, and no pair follows";
    bytes += 2 + expected->first.size() + expected->second.size();
    ASSERT_GT(bytes, run.capacity()) << "scan ended the run, although the next pair fits";
  }
}

std::optional<std::string> expected_payload(const Model& model, const std::string& key,
                                            const std::optional<std::string>& after) {
  const auto found = bound(model, key, after, after.has_value());
  if (found == model.end() || found->first != key) return std::nullopt;
  return found->second;
}

void expect_batch_agrees(const Structure& structure, const Model& model, PairSource& source,
                         size_t count) {
  constexpr size_t kMost = 40;
  std::array<std::string, kMost> keys;
  std::array<char[KEYDROME_PAYLOAD_BYTES_MAX], kMost> payloads;
  std::vector<KeydromeLookup> lookups;
  for (size_t at = 0; at < count; ++at) {
    keys[at] = source.key();
    lookups.push_back({bytes_of(keys[at]), {payloads[at], 0, sizeof payloads[at]}, -9});
  }
  ASSERT_EQ(table().find_batch(structure.get(), static_cast<uint32_t>(count), lookups.data()), 0)
      << "find_batch must return 0";
  for (size_t at = 0; at < count; ++at) {
    const auto expected = expected_payload(model, keys[at], std::nullopt);
    ASSERT_EQ(lookups[at].found, expected ? 1 : 0)
        << "find_batch must set `found` to 1 if the key exists, and to 0 otherwise";
    if (expected) {
      ASSERT_EQ(std::string(payloads[at], lookups[at].payload.size), *expected)
          << "find_batch must return the smallest payload of the key";
    }
  }
}

}  // namespace

void expect_same(const Structure& structure, const Model& model, const PairSource& source,
                 uint32_t limit) {
  if (structure.is_ordered()) {
    const std::vector<Pair> pairs = structure.all(source.smallest_key(), limit);
    ASSERT_EQ(pairs, std::vector<Pair>(model.begin(), model.end()))
        << "scans must return exactly the pairs that exist, in order";
  }
  if (table().find == nullptr) return;
  const std::string* key = nullptr;
  std::optional<std::string> after;
  for (const Pair& pair : model) {
    if (key == nullptr || *key != pair.first) {
      if (key != nullptr) {
        ASSERT_EQ(structure.find(*key, after), std::nullopt) << "the key has no further payload";
      }
      after.reset();
      key = &pair.first;
    }
    ASSERT_EQ(structure.find(pair.first, after), pair.second)
        << "find must return the next payload of the key";
    after = pair.second;
  }
  if (key != nullptr) {
    ASSERT_EQ(structure.find(*key, after), std::nullopt) << "the key has no further payload";
  }
}

void expect_scans_agree(const Structure& structure, const Model& model, PairSource& source) {
  if (!structure.is_ordered()) return;
  const Pair probe = source.pair();
  const bool whole_key = source.below(2) == 0;
  const bool after = source.below(2) == 0;
  for (const uint32_t limit : {1u, 2u, 64u}) {
    ASSERT_NO_FATAL_FAILURE(
        expect_scan_agrees(structure, model, probe, whole_key, after, RunBuffer(limit), limit));
  }
  const auto capacity = KEYDROME_RUN_BYTES_MIN + static_cast<uint32_t>(source.below(64));
  expect_scan_agrees(structure, model, probe, whole_key, after, RunBuffer(1000, capacity), 1000);
}

void expect_lookups_agree(const Structure& structure, const Model& model, PairSource& source) {
  if (table().find != nullptr) {
    const Pair probe = source.pair();
    ASSERT_EQ(structure.find(probe.first), expected_payload(model, probe.first, std::nullopt))
        << "find must return the smallest payload of the key";
    ASSERT_EQ(structure.find(probe.first, probe.second),
              expected_payload(model, probe.first, probe.second))
        << "find must return the smallest payload of the key that is larger than `after`";
  }
  if (table().find_batch != nullptr) {
    for (const size_t count : {0, 1, 7, 40}) {
      ASSERT_NO_FATAL_FAILURE(expect_batch_agrees(structure, model, source, count));
    }
  }
}

}  // namespace keydrome

// Implements model_checks.h: compares a structure with a std::set of pairs.
#include "structures/tests/model_checks.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string_view>
#include <type_traits>
#include <utility>

namespace keydrome {

namespace {

using testing::AssertionFailure;
using testing::AssertionResult;
using testing::AssertionSuccess;

constexpr std::size_t kBytesShown = 24;

// Returns the first bytes as text, and how many there are. GoogleTest would print all of up to some
// thousand bytes, most of them as `\xFF`.
std::string brief(std::string_view bytes) {
  std::string text = "\"";
  for (const char byte : bytes.substr(0, kBytesShown)) {
    std::array<char, 5> escaped{};
    const auto code = static_cast<unsigned char>(byte);
    const bool printable = code >= ' ' && code <= '~' && code != '"' && code != '\\';
    std::snprintf(escaped.data(), escaped.size(), printable ? "%c" : "\\x%02X", code);
    text += escaped.data();
  }
  text += bytes.size() > kBytesShown ? "...\"" : "\"";
  return text + " (" + std::to_string(bytes.size()) + (bytes.size() == 1 ? " byte)" : " bytes)");
}

std::string brief(const std::optional<std::string>& payload) {
  return payload ? "payload " + brief(std::string_view(*payload)) : "no payload";
}

std::string brief(const Pair& pair) {
  return "key " + brief(std::string_view(pair.first)) + " with payload " +
         brief(std::string_view(pair.second));
}

template <class Value>
AssertionResult same(const Value& found, const std::type_identity_t<Value>& expected) {
  if (found == expected) return AssertionSuccess();
  return AssertionFailure() << "returned: " << brief(found) << "\nexpected: " << brief(expected)
                            << "\n";
}

AssertionResult same(const std::vector<Pair>& found, const Model& expected) {
  auto next = expected.begin();
  for (std::size_t at = 0; at < found.size(); ++at, ++next) {
    const std::string number = "pair " + std::to_string(at) + ": ";
    if (next == expected.end()) {
      return AssertionFailure() << number << "returned " << brief(found[at])
                                << ", but no further pair exists\n";
    }
    if (found[at] != *next)
      return same(found[at], *next) << "(" << number << "the first wrong one)\n";
  }
  if (next == expected.end()) return AssertionSuccess();
  return AssertionFailure() << "returned " << found.size()
                            << " pairs, but the next one is missing: " << brief(*next) << "\n";
}

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
    ASSERT_TRUE(same(pair, *expected++)) << "scan must return the next pair in order";
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
      const std::optional<std::string> found(std::in_place, payloads[at], lookups[at].payload.size);
      ASSERT_TRUE(same(found, expected))
          << "find_batch must return the smallest payload of the key";
    }
  }
}

}  // namespace

void expect_same(const Structure& structure, const Model& model, const PairSource& source,
                 uint32_t limit) {
  if (structure.is_ordered()) {
    const std::vector<Pair> pairs = structure.all(source.smallest_key(), limit);
    ASSERT_TRUE(same(pairs, model)) << "scans must return exactly the pairs that exist, in order";
  }
  if (table().find == nullptr) return;
  const std::string* key = nullptr;
  std::optional<std::string> after;
  for (const Pair& pair : model) {
    if (key == nullptr || *key != pair.first) {
      if (key != nullptr) {
        ASSERT_TRUE(same(structure.find(*key, after), {})) << "the key has no further payload";
      }
      after.reset();
      key = &pair.first;
    }
    ASSERT_TRUE(same(structure.find(pair.first, after), std::optional(pair.second)))
        << "find must return the next payload of the key";
    after = pair.second;
  }
  if (key != nullptr) {
    ASSERT_TRUE(same(structure.find(*key, after), {})) << "the key has no further payload";
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
    ASSERT_TRUE(
        same(structure.find(probe.first), expected_payload(model, probe.first, std::nullopt)))
        << "find must return the smallest payload of the key";
    ASSERT_TRUE(same(structure.find(probe.first, probe.second),
                     expected_payload(model, probe.first, probe.second)))
        << "find must return the smallest payload of the key that is larger than `after`";
  }
  if (table().find_batch != nullptr) {
    for (const size_t count : {0, 1, 7, 40}) {
      ASSERT_NO_FATAL_FAILURE(expect_batch_agrees(structure, model, source, count));
    }
  }
}

}  // namespace keydrome

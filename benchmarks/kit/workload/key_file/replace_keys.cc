// Implements replace_keys.h: sorts the different keys of the script (the operations of a session),
// and draws the same number of keys from the file.
#include "benchmarks/kit/workload/key_file/replace_keys.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/count_text.h"
#include "benchmarks/kit/script/evidence/capacities.h"
#include "benchmarks/kit/workload/rng.h"

namespace keydrome::workload {
namespace {

template <typename Key>
void sort_and_make_unique(std::vector<Key>& keys) {
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
}

template <typename Key>
std::size_t rank_of(const std::vector<Key>& sorted, const Key& key) {
  return static_cast<std::size_t>(std::lower_bound(sorted.begin(), sorted.end(), key) -
                                  sorted.begin());
}

// Returns `wanted` of the sorted keys in order (selection sampling: D. Knuth, The Art of Computer
// Programming, volume 2, algorithm 3.4.2 S). REQUIRES: there are at least `wanted` keys.
template <typename Key>
std::vector<Key> sample(const std::vector<Key>& keys, std::size_t wanted, uint64_t seed) {
  Rng rng(seed, 0, Purpose::kKeyFile);
  std::vector<Key> chosen;
  chosen.reserve(wanted);
  for (std::size_t i = 0; chosen.size() < wanted; ++i) {
    if (rng.below(keys.size() - i) < wanted - chosen.size()) chosen.push_back(keys[i]);
  }
  return chosen;
}

Result<void> check_size(std::size_t wanted, std::size_t present) {
  if (wanted <= present) return {};
  return Error{"the key file has " + count_text(present, "key") + ", but the session uses " +
               count_text(wanted, "different key") +
               ", including keys that are looked up but never inserted: raise the number of keys " +
               "in the file, or lower a parameter such as records"};
}

Result<void> replace_integers(script::Script& script, const KeyFile& file, uint64_t seed) {
  std::vector<int64_t>& pool = script.pools.int64_keys;
  std::vector<int64_t> own, checks;
  for (uint32_t number = 0; number < pool.size(); ++number) {
    (script.pools.is_kept(INT, number) ? checks : own).push_back(pool[number]);
  }
  sort_and_make_unique(own);
  sort_and_make_unique(checks);
  KEYDROME_CHECK(own.empty() || own.front() >= 0);
  KEYDROME_CHECK(checks.empty() || checks.back() < 0);
  if (const Result<void> fits = check_size(own.size(), file.size()); !fits) return fits;
  const std::vector<int64_t> chosen = sample(file.integers, own.size(), seed);
  // The keys of checks (extra transactions that test the library) come before all keys of the file.
  // read_key_file() accepts only files that leave room for these keys.
  const int64_t first_check = file.integers.front() - static_cast<int64_t>(checks.size());
  for (uint32_t number = 0; number < pool.size(); ++number) {
    int64_t& key = pool[number];
    if (!script.pools.is_kept(INT, number)) {
      key = chosen[rank_of(own, key)];
    } else if (file.shifted) {
      key = first_check + static_cast<int64_t>(rank_of(checks, key));
    }
  }
  return {};
}

Result<void> replace_strings(script::Script& script, const KeyFile& file, uint64_t seed) {
  const script::Strings& pool = script.pools.varchar_keys;
  std::vector<std::string_view> own;
  std::size_t check_bytes = 0;
  char last_of_checks = 0;  // the largest first byte of a key of checks
  for (uint32_t number = 0; number < pool.size(); ++number) {
    if (!script.pools.is_kept(VARCHAR, number)) {
      own.push_back(pool[number]);
      continue;
    }
    check_bytes += pool[number].size();
    last_of_checks = std::max(last_of_checks, pool[number].front());
  }
  sort_and_make_unique(own);
  if (const Result<void> fits = check_size(own.size(), file.size()); !fits) return fits;
  const std::vector<std::string_view> chosen = sample(file.strings, own.size(), seed);
  const bool outside = static_cast<unsigned char>(file.strings.front().front()) >
                       static_cast<unsigned char>(last_of_checks);
  std::size_t bytes = check_bytes;
  for (const std::string_view key : chosen) bytes += key.size();
  script::Strings replaced;
  replaced.reserve(pool.size(), bytes);
  for (uint32_t number = 0; number < pool.size(); ++number) {
    std::string key(pool[number]);
    if (!script.pools.is_kept(VARCHAR, number)) {
      key = chosen[rank_of(own, pool[number])];
    } else if (!outside) {
      key.front() = kFirstByteOfChecks;
    }
    replaced.add(key);
  }
  script.pools.varchar_keys = std::move(replaced);
  script::set_trace_capacities(script);  // keys may be longer than before
  return {};
}

}  // namespace

Result<void> replace_keys(script::Script& script, const KeyFile& keys, uint64_t seed) {
  return keys.type == INT ? replace_integers(script, keys, seed)
                          : replace_strings(script, keys, seed);
}

}  // namespace keydrome::workload

// Implements keys.h: writes pseudo-random keys of each set, and draws the keys of the timed loops.
#include "structures/bench/keys.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "base/hash.h"

namespace keydrome::bench {
namespace {

constexpr std::array<std::pair<KeySet, std::string_view>, 6> kNames{{{KeySet::kInt, "int"},
                                                                     {KeySet::kYcsb, "ycsb"},
                                                                     {KeySet::kEmail, "email"},
                                                                     {KeySet::kUrl, "url"},
                                                                     {KeySet::kRandom, "random"},
                                                                     {KeySet::kPrefix, "prefix"}}};
constexpr uint32_t kKeyBytesMax = 128;
constexpr double kExponent = 0.99;

// Writes one key. The number that the constructor gets determines all random choices of this key.
class Writer {
 public:
  explicit Writer(uint64_t number) : state_(mix(number)) {}

  std::string_view write(KeySet set) {
    switch (set) {
      case KeySet::kInt:
        for (int shift = 56; shift >= 0; shift -= 8) put(static_cast<char>(state_ >> shift));
        break;
      case KeySet::kYcsb:
        put("user");
        digits(19);
        break;
      case KeySet::kEmail:
        below(10) < 3 ? put("com.example") : host();
        put("@");
        letters(5 + below(10));
        break;
      case KeySet::kUrl:
        url();
        break;
      case KeySet::kRandom:
        letters(1 + below(kKeyBytesMax));
        break;
      case KeySet::kPrefix:
        for (int i = 0; i < 120; ++i) put('p');
        letters(8);
        break;
    }
    return {text_, size_};
  }

 private:
  uint64_t below(uint64_t bound) { return (state_ = mix(state_ + 1)) % bound; }
  void put(char byte) {
    if (size_ < kKeyBytesMax) text_[size_++] = byte;
  }
  void put(std::string_view text) {
    for (const char byte : text) put(byte);
  }
  void letters(uint64_t count) {
    for (; count > 0; --count) put(static_cast<char>('a' + below(26)));
  }
  void digits(uint64_t count) {
    for (; count > 0; --count) put(static_cast<char>('0' + below(10)));
  }
  // Writes one of 10,000 hosts, such as "org.hqzkda".
  void host() {
    static constexpr std::array<std::string_view, 4> kDomains{"com.", "org.", "net.", "de."};
    Writer name(below(10000));
    put(kDomains[name.below(kDomains.size())]);
    name.size_ = 0;
    name.letters(5 + name.below(8));
    put({name.text_, name.size_});
  }
  // Writes a host and 1 to 8 path segments. Each segment is one of 1,000, so that many keys begin
  // with the same bytes.
  void url() {
    host();
    for (uint64_t segments = 1 + below(8); segments > 0; --segments) {
      Writer segment(1'000'000 + below(1000));
      segment.letters(5 + segment.below(11));
      put("/");
      put({segment.text_, segment.size_});
    }
    put("/");
    digits(6);
  }

  char text_[kKeyBytesMax];
  uint32_t size_ = 0;
  uint64_t state_;
};

// A set of hashes with open addressing. It rejects a hash that it already contains. If two
// different keys have the same hash, make_keys() leaves the second key out and makes another one.
class Seen {
 public:
  explicit Seen(uint64_t count) : mask_(std::bit_ceil(2 * count + 1) - 1), hashes_(mask_ + 1) {}
  bool insert(uint64_t hash) {
    hash |= 1;  // 0 marks a free place
    for (uint64_t at = hash >> 1 & mask_;; at = (at + 1) & mask_) {
      if (hashes_[at] == hash) return false;
      if (hashes_[at] != 0) continue;
      hashes_[at] = hash;
      return true;
    }
  }

 private:
  uint64_t mask_;
  MappedArray<uint64_t> hashes_;
};

[[noreturn]] void stop_at_size(uint64_t count, const std::string& keys, const char* option) {
  std::fprintf(stderr,
               "structure_bench: %llu %s take more than 4 GiB; give a smaller number to %s\n",
               static_cast<unsigned long long>(count), keys.c_str(), option);
  std::exit(2);
}

}  // namespace

std::optional<KeySet> key_set_of(std::string_view name) {
  for (const auto& [set, known] : kNames) {
    if (known == name) return set;
  }
  return std::nullopt;
}

std::string_view name_of(KeySet set) { return kNames[static_cast<std::size_t>(set)].second; }

uint64_t mix(uint64_t number) {
  number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9u;
  number = (number ^ (number >> 27)) * 0x94D049BB133111EBu;
  return number ^ (number >> 31);
}

bool Keys::add(std::string_view key) {
  const uint64_t end = uint64_t{ends_[size_]} + key.size();
  if (end > std::numeric_limits<uint32_t>::max()) return false;
  std::memcpy(bytes_.data() + ends_[size_], key.data(), key.size());
  ends_[++size_] = static_cast<uint32_t>(end);
  return true;
}

Keys make_keys(KeySet set, uint64_t count) {
  // The kernel provides a page only when it is written, so reserving too much costs nothing.
  Keys keys(count, count * kKeyBytesMax);
  Seen seen(count);
  for (uint64_t number = 1; keys.size() < count; ++number) {
    Writer writer(number);
    const std::string_view key = writer.write(set);
    if (seen.insert(hash_bytes(key)) && !keys.add(key)) {
      stop_at_size(count, "keys of the set " + std::string(name_of(set)), "--counts");
    }
  }
  return keys;
}

QuerySource::QuerySource(const Keys& keys, uint64_t seed) : keys_(keys), state_(mix(seed)) {
  const auto count = static_cast<double>(keys.size());
  for (uint64_t rank = 1; rank <= keys.size(); ++rank) {
    zeta_ += std::pow(static_cast<double>(rank), -kExponent);
  }
  const double zeta_2 = 1 + std::pow(2.0, -kExponent);
  eta_ = (1 - std::pow(2.0 / count, 1 - kExponent)) / (1 - zeta_2 / zeta_);
}

uint64_t QuerySource::zipf() {
  const double u = static_cast<double>(next() >> 11) * 0x1p-53;
  const double product = u * zeta_;
  if (product < 1) return 0;
  if (product < 1 + std::pow(0.5, kExponent)) return 1;
  const double rank =
      static_cast<double>(keys_.size()) * std::pow(eta_ * u - eta_ + 1, 1 / (1 - kExponent));
  return std::min(static_cast<uint64_t>(rank), keys_.size() - 1);
}

Queries QuerySource::draw(Draw distribution, uint64_t count) {
  Queries queries{Keys(count, count * kKeyBytesMax), 0};
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t number = distribution == Draw::kZipf ? mix(zipf()) : next();
    const uint64_t index = number % keys_.size();
    if (!queries.keys.add(keys_[index])) {
      stop_at_size(count, "keys that a loop looks up", "--operations");
    }
    queries.sum += index;
  }
  return queries;
}

}  // namespace keydrome::bench

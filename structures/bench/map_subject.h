// MapSubject: lets structure_bench, the program that times data structures, measure a map with the
// interface of std::map. A subject is one of the things that this program compares (subject.h).
#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "structures/bench/subject.h"

namespace keydrome::bench {

// Converts the bytes of a key to the type that the map stores and looks up.
struct IntegerKeys {
  using Stored = uint64_t;
  static uint64_t store(std::string_view key) { return probe(key); }
  static uint64_t probe(std::string_view key) {
    uint64_t number = 0;
    std::memcpy(&number, key.data(), sizeof number);
    return __builtin_bswap64(number);
  }
};

// `View` is the string view that the map accepts for lookups, so that no lookup copies the key.
template <class View>
struct StringKeys {
  using Stored = std::string;
  static std::string store(std::string_view key) { return std::string(key); }
  static View probe(std::string_view key) { return View(key.data(), key.size()); }
};

// Returns the key of the next lookup in a chain, i.e. in a loop in which each lookup depends on the
// result of the previous one. `zero` is 0, but the compiler cannot know it, so the address of the
// key depends on `payload`, the previous result.
inline std::string_view after(const Keys& keys, uint64_t index, uint64_t payload, uint64_t zero) {
  const std::string_view key = keys[index];
  return {key.data() + (payload & zero), key.size()};
}

template <class Map, class KeyForm>
class MapSubject : public Subject {
 public:
  explicit MapSubject(std::string name) : name_(std::move(name)) {}

  std::string name() const override { return name_; }
  Abilities abilities() const override {
    return {.peer = true, .ordered = true, .shared_reads = true, .updates = true};
  }

  void load(const Keys& keys) override {
    for (uint64_t i = 0; i < keys.size(); ++i) map_.emplace(KeyForm::store(keys[i]), i);
  }
  void clear() override { map_ = Map(); }

  uint64_t look_up(const Queries& queries) override {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < queries.keys.size(); ++i) sum += found(queries.keys[i])->second;
    return sum & ~kUpdateBit;
  }

  uint64_t chain(const Queries& queries, uint64_t zero) override {
    uint64_t sum = 0, payload = 0;
    for (uint64_t i = 0; i < queries.keys.size(); ++i) {
      payload = found(after(queries.keys, i, payload, zero))->second;
      sum += payload;
    }
    return sum & ~kUpdateBit;
  }

  uint64_t batch(const Queries& queries) override { return look_up(queries); }

  uint64_t scan(const Queries& queries, uint32_t length) override {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < queries.keys.size(); ++i) {
      auto at = map_.lower_bound(KeyForm::probe(queries.keys[i]));
      for (uint32_t left = length; left > 0 && at != map_.end(); --left, ++at) sum += at->second;
    }
    return sum & ~kUpdateBit;
  }

  uint64_t mixed(const Queries& queries) override {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < queries.keys.size(); ++i) {
      const auto at = found(queries.keys[i]);
      sum += at->second;
      if (i % 2 == 1) at->second ^= kUpdateBit;
    }
    return sum & ~kUpdateBit;
  }

 private:
  auto found(std::string_view key) {
    const auto at = map_.find(KeyForm::probe(key));
    KEYDROME_CHECK(at != map_.end());
    return at;
  }

  const std::string name_;
  Map map_;
};

}  // namespace keydrome::bench

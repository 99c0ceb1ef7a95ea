// Lets structure_bench, the program that times data structures, measure oneTBB's concurrent hash
// map, if the package libtbb-dev is installed.
#include "structures/bench/subject.h"

#ifdef KEYDROME_HAS_TBB

#include <tbb/concurrent_hash_map.h>

#include <functional>

#include "base/check.h"
#include "structures/bench/map_subject.h"

namespace keydrome::bench {
namespace {

// Hashes and compares string keys. Also accepts views, so that a lookup needs no std::string.
struct StringCompare {
  using is_transparent = void;
  static std::size_t hash(std::string_view key) { return std::hash<std::string_view>{}(key); }
  static bool equal(std::string_view a, std::string_view b) { return a == b; }
};

template <class Map, class KeyForm>
class TbbSubject : public Subject {
 public:
  std::string name() const override { return "tbb::concurrent_hash_map"; }
  Abilities abilities() const override {
    return {.peer = true, .shared_reads = true, .updates = true, .thread_safe = true};
  }

  void load(const Keys& keys) override {
    for (uint64_t i = 0; i < keys.size(); ++i) map_.emplace(KeyForm::store(keys[i]), i);
  }
  void clear() override { map_ = Map(); }

  uint64_t look_up(const Queries& queries) override {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < queries.keys.size(); ++i) sum += payload_of(queries.keys[i]);
    return sum & ~kUpdateBit;
  }

  uint64_t chain(const Queries& queries, uint64_t zero) override {
    uint64_t sum = 0, payload = 0;
    for (uint64_t i = 0; i < queries.keys.size(); ++i) {
      payload = payload_of(after(queries.keys, i, payload, zero));
      sum += payload;
    }
    return sum & ~kUpdateBit;
  }

  uint64_t batch(const Queries& queries) override { return look_up(queries); }
  uint64_t scan(const Queries&, uint32_t) override { return 0; }

  uint64_t mixed(const Queries& queries) override {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < queries.keys.size(); ++i) {
      if (i % 2 == 0) {
        sum += payload_of(queries.keys[i]);
        continue;
      }
      typename Map::accessor at;
      KEYDROME_CHECK(map_.find(at, KeyForm::probe(queries.keys[i])));
      sum += at->second;
      at->second ^= kUpdateBit;
    }
    return sum & ~kUpdateBit;
  }

 private:
  uint64_t payload_of(std::string_view key) {
    typename Map::const_accessor at;
    KEYDROME_CHECK(map_.find(at, KeyForm::probe(key)));
    return at->second;
  }

  Map map_;
};

}  // namespace

std::unique_ptr<Subject> make_tbb_hash(bool integers) {
  using Integers = tbb::concurrent_hash_map<uint64_t, uint64_t>;
  using Strings = tbb::concurrent_hash_map<std::string, uint64_t, StringCompare>;
  if (integers) return std::make_unique<TbbSubject<Integers, IntegerKeys>>();
  return std::make_unique<TbbSubject<Strings, StringKeys<std::string_view>>>();
}

}  // namespace keydrome::bench

#else

std::unique_ptr<keydrome::bench::Subject> keydrome::bench::make_tbb_hash(bool) { return nullptr; }

#endif

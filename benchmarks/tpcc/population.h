// The tables as they are before the clock starts (TPC-C 4.3.3, scaled).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "benchmarks/kit/rng.h"
#include "benchmarks/kit/script_builder.h"
#include "benchmarks/kit/stripes.h"
#include "benchmarks/tpcc/random.h"
#include "benchmarks/tpcc/shape.h"
#include "benchmarks/tpcc/tables.h"

namespace keydrome::tpcc {

// Writes the load phase; keeps what transactions ask for. Random texts that no transaction looks
// into are drawn from a few hundred, because each takes memory in referee and player.
class Population {
 public:
  // `stripes` may be missing.
  Population(ScriptBuilder& script, const Shape& shape, const NurandConstants& constants,
             uint64_t seed, Stripes* stripes, uint32_t load_class);

  // Every thread loads its share of the warehouses, and of the items.
  void load(uint32_t phase);

  // Numbers of the keys that were loaded into a table.
  const std::vector<uint32_t>& keys(Table table) const {
    return keys_[static_cast<std::size_t>(table)];
  }

 private:
  // What a thread loads, one table after the other.
  struct Loader {
    ThreadBuilder out;
    uint32_t thread;
    Rng rng;
    Table table = Table::kItem;
    uint32_t in_open = 0;  // inserts since the index was opened
    uint64_t inserts = 0;
  };

  void insert(Loader& to, Table table, uint32_t key, uint32_t text);
  void insert(Loader& to, Table table, int64_t key, uint32_t text);
  void insert(Loader& to, Table table, int64_t key, const std::string& text);
  void close(Loader& to);

  void reserve(uint32_t phase);
  void items(Loader& to);
  void warehouse(Loader& to, int64_t w);
  void stock(Loader& to, int64_t w);
  void district(Loader& to, int64_t w, int64_t d);
  void customer(Loader& to, int64_t w, int64_t d, int64_t c);
  void customer_texts(Loader& to, int64_t key, bool bad_credit);
  void orders(Loader& to, int64_t w, int64_t d);
  void order(Loader& to, int64_t w, int64_t d, int64_t o, int64_t c);

  uint32_t one_of(Rng& rng, const std::vector<uint32_t>& texts) {
    return texts[rng.below(texts.size())];
  }
  void draw_texts(Rng& rng);

  ScriptBuilder& script_;
  const Shape& shape_;
  const NurandConstants& constants_;
  uint64_t seed_;
  Stripes* stripes_;
  uint32_t class_;
  std::array<std::vector<uint32_t>, kTables.size()> keys_;
  std::vector<uint32_t> stock_texts_, dist_texts_, address_texts_, data_texts_, last_data_texts_,
      history_texts_;
};

// A random text of `low` to `high` letters and digits, padded to `high`.
std::string random_text(Rng& rng, int64_t low, int64_t high);

// The time of everything that is loaded; that of transactions counts on from it. YYYYMMDDhhmmss.
inline constexpr int64_t kLoadDate = 20'260'101'000'000;

}  // namespace keydrome::tpcc

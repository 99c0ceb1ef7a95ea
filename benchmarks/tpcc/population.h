// Population: writes the inserts of all rows of the benchmark "tpcc" that exist before the run
// (TPC-C clause 4.3.3, scaled).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "benchmarks/kit/script/script_builder.h"
#include "benchmarks/kit/workload/rng.h"
#include "benchmarks/kit/workload/stripes.h"
#include "benchmarks/tpcc/random.h"
#include "benchmarks/tpcc/scale.h"
#include "benchmarks/tpcc/tables.h"

namespace keydrome::tpcc {

// Writes the load phase and remembers the loaded keys. Random texts that no transaction interprets
// come from pools of a few hundred texts. More texts would take memory in two processes: the
// referee, which generates them, and the player, which passes them to the library. Not thread-safe.
class Population {
 public:
  // `stripes` (checks on keys that only one thread uses) may be null.
  Population(script::ScriptBuilder& script, const Scale& scale, const NurandConstants& constants,
             uint64_t seed, workload::Stripes* stripes, uint32_t load_class);

  // Writes the phase. Every thread loads its part of the warehouses and of the items.
  void load(uint32_t phase);

  // Returns the keys that were loaded into a table, as their numbers in the script's list of keys
  // (pool).
  const std::vector<uint32_t>& keys(Table table) const {
    return keys_[static_cast<std::size_t>(table)];
  }

 private:
  // A loading thread, which fills one table after the other.
  struct Loader {
    script::ThreadBuilder out;
    uint32_t thread;
    workload::Rng rng;
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

  uint32_t one_of(workload::Rng& rng, const std::vector<uint32_t>& texts) {
    return texts[rng.below(texts.size())];
  }
  void add_texts(workload::Rng& rng);

  script::ScriptBuilder& script_;
  const Scale& scale_;
  const NurandConstants& constants_;
  uint64_t seed_;
  workload::Stripes* stripes_;
  uint32_t class_;
  std::array<std::vector<uint32_t>, kTables.size()> keys_;
  std::vector<uint32_t> stock_texts_, dist_texts_, address_texts_, data_texts_, last_data_texts_,
      history_texts_;
};

// Returns a random text of `low` to `high` letters and digits, padded to `high`.
std::string random_text(workload::Rng& rng, int64_t low, int64_t high);

// The date and time of all loaded rows, as YYYYMMDDhhmmss. Dates of transactions count up from
// here.
inline constexpr int64_t kLoadDate = 20'260'101'000'000;

}  // namespace keydrome::tpcc

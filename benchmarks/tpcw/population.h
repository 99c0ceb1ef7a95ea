// Population: writes the rows that the web shop of the benchmark "tpcw" has before the run.
//
// Not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "benchmarks/kit/script/script_builder.h"
#include "benchmarks/kit/workload/clients.h"
#include "benchmarks/kit/workload/rng.h"
#include "benchmarks/tpcw/tables.h"

namespace keydrome::tpcw {

class Population {
 public:
  // Adds the texts of addresses and authors.
  Population(script::ScriptBuilder& builder, uint32_t items, uint32_t customers, uint64_t seed);

  // Adds all rows. Carts have no rows, but canaries (check transactions) need keys of carts. This
  // function therefore also adds, for each of the `clients`, one key that the client's cart may use
  // later. Must be called once.
  void write(uint32_t clients);

  // Returns the rows ordered by table, so that a thread opens an index once for many rows.
  const std::vector<workload::Row>& rows() const { return rows_; }
  // Returns the keys of a table, as their numbers in the script's list of keys (pool).
  const std::vector<uint32_t>& keys(uint32_t table) const { return keys_[table]; }
  int64_t orders() const { return orders_; }

  uint32_t items() const { return items_; }
  uint32_t customers() const { return customers_; }
  // Returns the number of different words with which titles begin.
  uint64_t title_words() const;

  int64_t any_item(workload::Rng& rng) const { return rng.between(1, items_); }
  uint32_t any_address_text(workload::Rng& rng) const {
    return address_texts_[rng.below(address_texts_.size())];
  }

 private:
  void insert(Table table, uint32_t key, uint32_t text);
  void insert(Table table, int64_t key, uint32_t text);
  void insert(Table table, int64_t key, const std::string& text);

  void write_authors();
  void write_items();
  void write_item(int64_t item);
  void write_customers();
  void write_orders();
  int64_t write_lines(int64_t order, int64_t lines);

  script::ScriptBuilder& builder_;
  uint32_t items_, customers_;
  workload::Rng rng_;
  std::vector<uint32_t> address_texts_, author_texts_;
  std::array<std::vector<uint32_t>, kTables> keys_;
  std::vector<workload::Row> rows_;
  std::vector<int64_t> prices_;                 // by item - 1
  std::vector<int64_t> discounts_, addresses_;  // by customer - 1
  int64_t orders_ = 0;
};

}  // namespace keydrome::tpcw

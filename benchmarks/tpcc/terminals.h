// The run: transactions of every thread, drawn before it.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "benchmarks/kit/canaries.h"
#include "benchmarks/kit/rng.h"
#include "benchmarks/kit/script_builder.h"
#include "benchmarks/kit/stripes.h"
#include "benchmarks/tpcc/population.h"
#include "benchmarks/tpcc/procedures.h"
#include "benchmarks/tpcc/random.h"
#include "benchmarks/tpcc/shape.h"

namespace keydrome::tpcc {

// The checks that are woven in; both may be missing.
struct Checks {
  Stripes* stripes = nullptr;
  Canaries* canaries = nullptr;
  bool evidence = true;
};

class Terminals {
 public:
  Terminals(ScriptBuilder& script, const Shape& shape, const NurandConstants& constants,
            const Population& population, uint64_t seed, const Checks& checks);

  // Writes the whole phase.
  void run(uint32_t phase);

 private:
  struct Terminal {
    ThreadBuilder out;
    uint32_t thread;
    Rng rng, checks;
    int64_t history = 0;   // records of history that this thread wrote
    uint32_t in_open = 0;  // transactions since the indices were opened
    int64_t done = 0;
    uint32_t turns = 0;  // of the canaries
  };

  void transaction(Terminal& at);
  void new_order(Terminal& at);
  void payment(Terminal& at);
  void order_status(Terminal& at);
  void delivery(Terminal& at);
  void stock_level(Terminal& at);
  std::vector<int64_t> order_lines(Terminal& at, int64_t w, int64_t d, int64_t lines);
  void append_checks(Terminal& at);

  void open(Terminal& at);
  void close(Terminal& at);
  void begin(Terminal& at, Transaction number);
  int64_t home(Terminal& at);
  int64_t other_warehouse(Terminal& at, int64_t w);
  bool is_remote(Terminal& at, int64_t standard_percent);
  CustomerParameters draw_customer(Terminal& at, int64_t w, int64_t d);
  int64_t date(const Terminal& at) const;

  ScriptBuilder& script_;
  const Shape& shape_;
  const NurandConstants& constants_;
  const Population& population_;
  uint64_t seed_;
  Checks checks_;
  std::unordered_map<int64_t, uint32_t> names_;  // (district, name) -> number of the first string
  uint32_t number_text_, line_text_, history_text_, head_text_;
};

}  // namespace keydrome::tpcc

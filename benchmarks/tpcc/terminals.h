// Terminals: writes the run phase of the benchmark "tpcc", which consists of the transactions of
// every terminal (thread).
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "benchmarks/kit/script/script_builder.h"
#include "benchmarks/kit/workload/canaries.h"
#include "benchmarks/kit/workload/rng.h"
#include "benchmarks/kit/workload/stripes.h"
#include "benchmarks/tpcc/population.h"
#include "benchmarks/tpcc/procedures.h"
#include "benchmarks/tpcc/random.h"
#include "benchmarks/tpcc/scale.h"

namespace keydrome::tpcc {

// The check transactions between the others. A stripe uses keys that only its thread uses, so its
// results are known. The reads of a canary must agree with each other. Both pointers may be null.
struct Checks {
  workload::Stripes* stripes = nullptr;
  workload::Canaries* canaries = nullptr;
  bool evidence = true;
};

// Writes the transactions of all terminals. Not thread-safe.
class Terminals {
 public:
  Terminals(script::ScriptBuilder& script, const Scale& scale, const NurandConstants& constants,
            const Population& population, uint64_t seed, const Checks& checks);

  // Writes the whole run phase.
  void run(uint32_t phase);

 private:
  struct Terminal {
    script::ThreadBuilder out;
    uint32_t thread;
    workload::Rng rng, checks;
    int64_t history = 0;   // history records written by this thread
    uint32_t in_open = 0;  // transactions since the indices were opened
    int64_t done = 0;
    uint32_t turns = 0;  // number of the next canary check
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
  CustomerParameters random_customer(Terminal& at, int64_t w, int64_t d);
  int64_t date(const Terminal& at) const;

  script::ScriptBuilder& script_;
  const Scale& scale_;
  const NurandConstants& constants_;
  const Population& population_;
  uint64_t seed_;
  Checks checks_;
  // Numbers of name prefixes in the script's list of string keys, by district * 1000 + name.
  std::unordered_map<int64_t, uint32_t> names_;
  uint32_t number_text_, line_text_, history_text_, head_text_;
};

}  // namespace keydrome::tpcc

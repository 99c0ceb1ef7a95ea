// Stripes: extra transactions whose results are exactly known, because each thread has keys that
// nobody else uses.
//
// The keys lie where the streams' scans do not come by: negative integers and strings that begin
// with '!'. Everything a stripe transaction reads goes into the thread's digest, and the judge
// computes the same digest from its model (digest_judge.h). A library that drops, changes or mixes
// up writes cannot get it right.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "benchmarks/kit/rng.h"
#include "benchmarks/kit/script_builder.h"

namespace keydrome {

class Stripes {
 public:
  // Adds the keys of all threads to the pools. `class_number` is the class of stripe transactions.
  // With `changes_alone` every change is an auto-commit call, transactions only read and none
  // aborts.
  Stripes(ScriptBuilder& script, uint64_t seed, uint32_t threads, uint32_t class_number,
          bool changes_alone = false);

  // Appends open, one auto-commit insert and close.
  void append_insert(ThreadBuilder& out, uint32_t thread);

  // Appends open, one transaction (or changes and one that reads) and close. The patterns in turn:
  // insert and read back, read what was committed before, duplicate and missing pairs, delete all
  // payloads, scan the own range, change everything and abort.
  void append_transaction(ThreadBuilder& out, uint32_t thread);

 private:
  static constexpr uint32_t kKeys = 8;            // of each type, per thread
  static constexpr uint32_t kHomes = 3;           // indices that a thread's stripes use
  static constexpr std::size_t kPayloadsMax = 4;  // of one key

  using Payloads = std::vector<Payload>;
  using Model =
      std::map<uint32_t, Payloads>;  // by place of the key in the thread's order; no empty entries

  struct Home {
    uint32_t index = 0;
    Model model;
  };
  struct Thread {
    Rng rng;
    std::vector<std::vector<uint32_t>> keys;  // by KeyType: numbers of the keys in ascending order
    std::vector<Home> homes;
    uint32_t next_pattern = 0;
  };

  void add_keys(uint32_t number, Thread& thread);
  uint32_t key(const Thread& thread, const Home& home, uint32_t place) const;
  uint32_t pick_present(Thread& thread, const Home& home);
  void begin_changes(ThreadBuilder& out) const;
  void begin_reads(ThreadBuilder& out) const;
  void read(ThreadBuilder& out, Thread& thread, const Home& home, uint32_t place);
  void insert_some(ThreadBuilder& out, Thread& thread, Home& home);
  void exact_pairs(ThreadBuilder& out, Thread& thread, Home& home);
  void delete_all(ThreadBuilder& out, Thread& thread, Home& home);
  void scan_range(ThreadBuilder& out, Thread& thread, const Home& home);

  ScriptBuilder* script_;
  uint32_t class_;
  bool changes_alone_;
  uint32_t text_;
  std::vector<Thread> threads_;
};

}  // namespace keydrome

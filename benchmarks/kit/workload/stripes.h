// Stripes: adds extra transactions, called stripes, whose results are known exactly, because each
// thread uses keys that no other thread uses. Stripes detect libraries that lose, change or mix up
// writes.
//
// The keys are of one of two kinds (StripeKeys). With kOutside, they are outside the range that the
// workload's own scans read. With kPublished, they look like the keys of the SIGMOD 2009 contest,
// because libraries written for the contest may rely on such keys. The judge, which runs after the
// programs, knows every result of a stripe from the thread's own program (judge/expected_state.h).
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "benchmarks/kit/script/script_builder.h"
#include "benchmarks/kit/workload/rng.h"

namespace keydrome::workload {

enum class StripeKeys : uint8_t {
  kOutside,    // negative integers, and strings that begin with '!'
  kPublished,  // positive integers, and strings of letters, anywhere between the workload's keys
};

class Stripes {
 public:
  // Adds the keys of all threads to the pools. `class_number` is the transaction class of stripes.
  // With `changes_alone`, every change is an auto-commit call, and transactions only read. With
  // kPublished, the script must have its own keys already, so that stripes use others.
  Stripes(script::ScriptBuilder& script, uint64_t seed, uint32_t threads, uint32_t class_number,
          bool changes_alone = false, StripeKeys keys = StripeKeys::kOutside);

  // Appends an openIndex, one auto-commit insert and a closeIndex.
  void append_insert(script::ThreadBuilder& out, uint32_t thread);

  // Appends an openIndex, one transaction and a closeIndex. With `changes_alone`, the changes come
  // before the transaction. The patterns rotate:
  //   - insert some payloads and read them back
  //   - read committed records
  //   - insert a stored pair again, and delete a stored pair twice
  //   - scan the thread's own keys
  //   - insert, delete and abort (replaced by the next pattern with `changes_alone`)
  //   - delete all payloads of a key
  void append_transaction(script::ThreadBuilder& out, uint32_t thread);

 private:
  static constexpr uint32_t kKeys = 8;   // keys of each type that a thread has
  static constexpr uint32_t kHomes = 3;  // indexes that a thread's stripes use
  // insert_some() stops when a key has this many payloads.
  static constexpr std::size_t kPayloadsMax = 4;

  using Payloads = std::vector<script::Payload>;
  // The stored payloads, by the position of the key among the thread's keys. A key without payloads
  // has no entry.
  using Model = std::map<uint32_t, Payloads>;

  // An index that a thread's stripes use, and what the thread has stored there.
  struct Home {
    uint32_t index = 0;
    Model model;
  };
  // What the stripes of one thread need.
  struct Thread {
    Rng rng;
    std::vector<std::vector<uint32_t>> keys;  // by KeyType: numbers of the keys, in key order
    std::vector<Home> homes;
    uint32_t next_pattern = 0;
  };

  void add_outside_keys(uint32_t number, Thread& thread);
  void add_published_keys(const std::vector<int32_t>& taken, Thread& thread);
  uint32_t key(const Thread& thread, const Home& home, uint32_t place) const;
  uint32_t pick_present(Thread& thread, const Home& home);
  // These functions begin the writes and the reads of a stripe.
  void begin_changes(script::ThreadBuilder& out) const;
  void begin_reads(script::ThreadBuilder& out) const;
  void read(script::ThreadBuilder& out, Thread& thread, const Home& home, uint32_t place);
  // Each of these functions appends the calls of one pattern.
  void insert_some(script::ThreadBuilder& out, Thread& thread, Home& home);
  void exact_pairs(script::ThreadBuilder& out, Thread& thread, Home& home);
  void delete_all(script::ThreadBuilder& out, Thread& thread, Home& home);
  void scan_range(script::ThreadBuilder& out, Thread& thread, const Home& home);

  script::ScriptBuilder* script_;
  uint32_t class_;
  bool changes_alone_;
  uint32_t text_;
  std::vector<Thread> threads_;
};

}  // namespace keydrome::workload

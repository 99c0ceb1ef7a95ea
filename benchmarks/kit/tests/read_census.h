// Counts what each thread of a phase reads, for the tests of read-backs: extra transactions in
// which a thread reads keys that it has written (workload/read_backs.h). The count is independent
// of the code that generates read-backs, so that the tests find errors of that code. It compares
// the keys themselves, not their numbers in the script, and finds all threads that write a key.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "benchmarks/kit/format/program.h"
#include "benchmarks/kit/judge/keys/key_ranks.h"
#include "benchmarks/kit/script/script.h"
#include "benchmarks/kit/workload/phase_keys.h"

namespace keydrome::testing {

// What a thread reads in a phase.
struct Census {
  uint64_t calls = 0, reads = 0;
  uint64_t known = 0;  // gets of keys that no other thread changes, so that their results are known
  // Known gets of keys that the thread changed: within its last 64 calls, or earlier.
  uint64_t recent = 0, older = 0;
  uint64_t scans = 0;                       // scans of at least eight records, from different keys
  uint64_t closing = 0, closing_scans = 0;  // reads at the end of the program
  uint64_t between_calls = 0;               // calls of read-backs that are not at the end
};

// Counts the reads of all threads of a phase. The script and the ranks must outlive it.
class PhaseCensus {
 public:
  // `writes`: the workload itself inserts or deletes records in the phase. `inserts`: it inserts.
  bool writes = false, inserts = false;
  bool computes = false;  // true if the phase runs procedures, which compute their keys

  // computed: for each index, whether procedures may use its keys (workload::computed_indexes()).
  PhaseCensus(const script::Script& script, const judge::KeyRanks& ranks,
              const script::PhaseScript& phase, std::vector<bool> computed);

  Census count(uint32_t thread) const;

 private:
  template <typename Visit>
  void for_each_op(uint32_t thread, Visit&& visit) const;

  bool is_known(const format::Op& op, uint32_t index) const;
  bool changes_records(const format::Op& run) const;
  uint64_t id(const format::Op& op, const workload::OpFollower& at_op) const;
  void count_get(uint64_t key, uint32_t thread,
                 const std::unordered_map<uint64_t, uint64_t>& written, Census& census) const;

  const script::Script& script_;
  const judge::KeyRanks& ranks_;
  const script::PhaseScript& phase_;
  std::vector<bool> computed_;
  // By key: the number + 1 of the only thread that writes it. UINT32_MAX: several threads write it.
  std::unordered_map<uint64_t, uint32_t> writers_;
};

}  // namespace keydrome::testing

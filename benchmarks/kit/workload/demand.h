// Demand: estimates how much memory a session needs, from the parameters alone. The referee refuses
// a session that does not fit the machine before it generates a single operation.
//
// A workload adds up what its script will contain (workload.h, Workload::demand):
//
//   Demand demand(threads);
//   demand.add_load(records, key_bytes + payload_bytes);
//   demand.add_transactions(threads * transactions, /*ops=*/1);
//   return demand;
//
// The estimates are upper bounds for the referee. tests/test_memory_demand.py compares them with
// what sessions use. All values are doubles, because the product of the largest parameters may
// exceed 64 bits.
//
// Thread safety: plain data.
#pragma once

#include <cstdint>

namespace keydrome::workload {

class Demand {
 public:
  explicit Demand(double threads) : threads_(threads) {}

  // Adds records that the untimed load inserts. `bytes` is the mean size of key and payload.
  void add_load(double records, double bytes);
  // Adds transactions. Each executes `ops` operations between begin and commit, which make `calls`
  // calls in all (a scan is one operation with many calls), and inserts `inserts` new records of
  // `bytes` bytes. The operations of checks are included.
  void add_transactions(double transactions, double ops, double calls, double inserts = 0,
                        double bytes = 0);
  // As above, for operations that make one call each.
  void add_transactions(double transactions, double ops) {
    add_transactions(transactions, ops, ops);
  }
  // Adds keys that no record has, such as those of lookups that miss. `bytes` is their mean size.
  void add_keys(double keys, double bytes);
  // Adds calls of a recorded phase, whose log the referee judges.
  void add_recorded_calls(double calls);
  // Adds bytes that only the generator or the judge of this workload needs.
  void add_bytes(double bytes) { extra_bytes_ += bytes; }

  // Returns an upper bound of the referee's memory in bytes, the memory that it shares with the
  // player included.
  double referee_bytes() const;
  // Returns the memory in bytes that a library should get for the records. A library that needs
  // more than four times the bytes of the records, and 160 bytes for each, exceeds it.
  double library_bytes() const;

 private:
  double threads_;
  double records_ = 0;          // inserted by load and transactions
  double record_bytes_ = 0;     // of all these records
  double ops_ = 0, calls_ = 0;  // of load and transactions
  double recorded_calls_ = 0;
  double extra_bytes_ = 0;
};

}  // namespace keydrome::workload

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

// The factors of the estimates, in bytes. They were measured: the most that a session of any
// instance used, with a margin.
namespace demand_factors {

inline constexpr double kMiB = 1 << 20;
inline constexpr double kReferee = 64 * kMiB;   // program, report and small tables
inline constexpr double kForThread = 2 * kMiB;  // pieces, histogram and curve of a thread
inline constexpr double kForOp = 32;            // an op (16 bytes) in a vector that may have grown
inline constexpr double kForCall = 24;     // a word in shared memory, its reserve, and its copy
inline constexpr double kForRecord = 352;  // expected state, final scan with its evidence, ranks
inline constexpr double kTimesRecordBytes = 5;  // texts: pool, evidence, its copy, expected state
inline constexpr double kForRecordedCall = 96;  // log in shared memory, its copy, checker's tables
inline constexpr double kOpsOfTransaction = 2;  // begin and commit
inline constexpr double kChecksInTransaction = 0.5;  // ops of checks in a transaction, on average
inline constexpr double kChecksInLoad = 0.1;  // ops for handles and stripes with each loaded record

inline constexpr double kLibrary = 1024 * kMiB;
inline constexpr double kLibraryForRecord = 160;
inline constexpr double kLibraryTimesRecordBytes = 4;

}  // namespace demand_factors

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

inline void Demand::add_load(double records, double bytes) {
  records_ += records;
  record_bytes_ += records * bytes;
  ops_ += records * (1 + demand_factors::kChecksInLoad);
  calls_ += records * (1 + demand_factors::kChecksInLoad);
}

inline void Demand::add_transactions(double transactions, double ops, double calls, double inserts,
                                     double bytes) {
  ops_ += transactions *
          (ops + demand_factors::kOpsOfTransaction + demand_factors::kChecksInTransaction);
  calls_ += transactions *
            (calls + demand_factors::kOpsOfTransaction + demand_factors::kChecksInTransaction);
  records_ += transactions * inserts;
  record_bytes_ += transactions * inserts * bytes;
}

inline void Demand::add_keys(double keys, double bytes) { extra_bytes_ += keys * (3 * bytes + 32); }

inline void Demand::add_recorded_calls(double calls) {
  ops_ += calls;
  recorded_calls_ += calls;
}

inline double Demand::referee_bytes() const {
  return demand_factors::kReferee + threads_ * demand_factors::kForThread +
         ops_ * demand_factors::kForOp + calls_ * demand_factors::kForCall +
         records_ * demand_factors::kForRecord + record_bytes_ * demand_factors::kTimesRecordBytes +
         recorded_calls_ * demand_factors::kForRecordedCall + extra_bytes_;
}

inline double Demand::library_bytes() const {
  return demand_factors::kLibrary + records_ * demand_factors::kLibraryForRecord +
         record_bytes_ * demand_factors::kLibraryTimesRecordBytes;
}

}  // namespace keydrome::workload

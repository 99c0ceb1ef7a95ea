// Implements Demand. The factors were measured: the most that a session of any instance used, with
// a margin (tests/test_memory_demand.py).
#include "benchmarks/kit/workload/demand.h"

namespace keydrome::workload {
namespace {

constexpr double kMiB = 1 << 20;
constexpr double kReferee = 64 * kMiB;        // program, report and small tables
constexpr double kForThread = 2 * kMiB;       // pieces, histogram and curve of a thread
constexpr double kForOp = 32;                 // an op (16 bytes) in a vector that may have grown
constexpr double kForCall = 24;               // a word in shared memory, its reserve, and its copy
constexpr double kForRecord = 288;            // expected state, final scan with its evidence, ranks
constexpr double kTimesRecordBytes = 4;       // texts: pool, evidence, its copy, expected state
constexpr double kForRecordedCall = 96;       // log in shared memory, its copy, checker's tables
constexpr double kOpsOfTransaction = 2;       // begin and commit
constexpr double kChecksInTransaction = 0.5;  // ops of checks in a transaction, on average
constexpr double kChecksInLoad = 0.1;         // ops for handles and stripes with each loaded record

constexpr double kLibrary = 1024 * kMiB;
constexpr double kLibraryForRecord = 160;
constexpr double kLibraryTimesRecordBytes = 4;

}  // namespace

void Demand::add_load(double records, double bytes) {
  records_ += records;
  record_bytes_ += records * bytes;
  ops_ += records * (1 + kChecksInLoad);
  calls_ += records * (1 + kChecksInLoad);
}

void Demand::add_transactions(double transactions, double ops, double calls, double inserts,
                              double bytes) {
  ops_ += transactions * (ops + kOpsOfTransaction + kChecksInTransaction);
  calls_ += transactions * (calls + kOpsOfTransaction + kChecksInTransaction);
  records_ += transactions * inserts;
  record_bytes_ += transactions * inserts * bytes;
}

void Demand::add_keys(double keys, double bytes) { extra_bytes_ += keys * (2 * bytes + 16); }

void Demand::add_recorded_calls(double calls) {
  ops_ += calls;
  recorded_calls_ += calls;
}

double Demand::referee_bytes() const {
  return kReferee + threads_ * kForThread + ops_ * kForOp + calls_ * kForCall +
         records_ * kForRecord + record_bytes_ * kTimesRecordBytes +
         recorded_calls_ * kForRecordedCall + extra_bytes_;
}

double Demand::library_bytes() const {
  return kLibrary + records_ * kLibraryForRecord + record_bytes_ * kLibraryTimesRecordBytes;
}

}  // namespace keydrome::workload

// Demand: counts what the script of a session (one repetition of a benchmark) will contain, from
// the parameters alone. From the counts the referee, the process that generates and judges the
// session, estimates how much memory the session needs (harness/referee/session/memory_fit.h). The
// referee refuses a session that does not fit the machine, before it generates a single operation.
//
// A workload adds up its counts (workload.h, Workload::demand):
//
//   Demand demand(threads);
//   demand.add_load(records, key_bytes + payload_bytes);
//   demand.add_transactions(threads * transactions, /*ops=*/1);
//   return demand;
//
// The counts are upper bounds and not much too high: tests/test_memory_demand.py compares the
// estimates with what sessions use. All values are doubles, because the product of the largest
// parameters may exceed 64 bits.
//
// Thread safety: plain data.
#pragma once

#include <cstdint>

namespace keydrome::workload {

struct Demand {
  explicit Demand(double thread_count) : threads(thread_count) {}

  // Adds records that the untimed load inserts. `bytes` is the mean size of key and payload.
  void add_load(double count, double bytes) {
    constexpr double kWithChecks = 1.05;  // ops per record, including ops for handles and checks
    add_inserts(count, bytes);
    load_ops += count * kWithChecks;
  }
  // Adds transactions. Each executes `ops` operations between begin and commit, which make `calls`
  // calls in all (a scan is one operation with many calls).
  void add_transactions(double count, double ops, double calls) {
    constexpr double kBeginAndCommit = 2;
    constexpr double kChecks = 0.35;  // ops of checks and handles in a transaction, on average
    transactions += count;
    run_ops += count * (ops + kBeginAndCommit + kChecks);
    run_words += count * (calls + kBeginAndCommit + kChecks);
    run_words_most += count * (calls + kBeginAndCommit + kChecks);
  }
  // Adds transactions whose operations make one call each.
  void add_transactions(double count, double ops) { add_transactions(count, ops, ops); }
  // Adds transactions that run one procedure each: instructions whose calls depend on earlier
  // results. On average, a procedure makes `calls` calls and has `parameters` parameters.
  // `calls_most` is the average of the limits that the workload gives its procedures
  // (script::ProcedureLimits). The memory that the referee shares with the player, the process that
  // calls the library, has room for so many calls of each procedure.
  void add_procedures(double count, double calls_most, double calls, double parameters) {
    constexpr double kWordsOfCall = 3;  // words of 8 bytes that a call leaves (control_word.h)
    constexpr double kBytes = 72;       // bytes of the result and of the judge's data about it
    procedures += count;
    add_transactions(count, 1, 0);
    run_words += count * kWordsOfCall * calls;
    run_words_most += count * kWordsOfCall * (calls_most + 1);
    extra_bytes += count * (kBytes + parameters * sizeof(int64_t));
  }
  // Adds records that transactions insert and that are not among the loaded ones.
  void add_inserts(double count, double bytes) {
    records += count;
    record_bytes += count * bytes;
    inserts += count;
  }
  // Adds inserts and deletes of transactions that leave the number of records about unchanged.
  void add_changes(double more_inserts, double more_deletes) {
    inserts += more_inserts;
    deletes += more_deletes;
  }
  // Sets the size of the longest record (key and payload), if the sizes differ. The final scan
  // reserves this many bytes for each record.
  void set_longest(double bytes) { longest_bytes = bytes; }
  // Adds a scan of all records so far, in addition to the final scan.
  void add_scan() {
    constexpr double kRecord = 12;  // bytes of a script::InsertedRecord
    extra_bytes += records * kRecord;
  }
  // Adds keys that no record has, such as those of lookups that miss. `bytes` is their mean size.
  void add_keys(double count, double bytes) {
    keys += count;
    key_bytes += count * bytes;
  }
  // Adds calls of recorded phases, in which every call is logged. The referee judges the logs. The
  // largest phase has `in_phase` calls. The memory that the referee shares with the player has room
  // for the log of this phase.
  void add_recorded_calls(double count, double in_phase) {
    recorded_calls += count;
    logged_calls = logged_calls > in_phase ? logged_calls : in_phase;
  }
  // Says how many different keys there are, if records share keys.
  void set_different_keys(double count) { different_keys = count; }
  // Returns how many different keys there are, including keys that no record has.
  double all_keys() const { return different_keys > 0 ? different_keys : records + keys; }
  // Adds the bytes of different strings: string keys and payload texts.
  void add_strings(double bytes) { string_bytes += bytes; }
  // Adds bytes that only the generator or the judge of this workload needs.
  void add_bytes(double bytes) { extra_bytes += bytes; }

  double threads;
  double records = 0;               // records that load and transactions insert
  double record_bytes = 0;          // bytes of keys and payloads of all these records
  double longest_bytes = 0;         // bytes of the longest record; 0: all have the same length
  double inserts = 0, deletes = 0;  // calls of load and transactions
  double keys = 0;                  // keys without a record
  double key_bytes = 0;
  double different_keys = 0;  // 0: each record has a key of its own
  double string_bytes = 0;    // bytes of all string keys and payload texts that differ
  double load_ops = 0;
  double transactions = 0;
  double procedures = 0;  // transactions that run a procedure
  double run_ops = 0;
  double run_words = 0;       // words of transactions in the outcome (format/control_word.h)
  double run_words_most = 0;  // words for which the shared memory has room
  double recorded_calls = 0;
  double logged_calls = 0;  // calls of the largest recorded phase
  double extra_bytes = 0;
};

}  // namespace keydrome::workload

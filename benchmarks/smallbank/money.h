// The money check of the benchmark "smallbank": compares all balances after a run with the effects
// of the committed transactions.
//
// Findings, all required (each fails the library):
// - row_count: a customer has no savings or checking balance, or more than one of a kind
// - money_sum: the sum of all balances differs from the loaded sum plus later deposits minus
//   withdrawals
// - account_money: the sum of a customer's two balances differs from the loaded sum plus the
//   effects of committed transactions, because an update was lost or applied twice
// - impossible_balance: a committed Balance read more or less money than the customer can have had
// - groundless_abort: a transaction aborted for lack of money, but there was always enough
//
// Two further errors change no sum. Only a recorded run finds them, because there all calls are
// checked for serialisability. One is money on the wrong balance of a customer. The other is write
// skew: a WriteCheck charges no penalty, although a Balance has read that the money does not cover
// the check.
//
// The judge knows the amount moved by Amalgamate and the penalty of WriteCheck only from the
// evidence (copied results) that these transactions leave. Without evidence (`--plain`) it checks
// only row_count and money_sum, and money_sum then allows for all possible penalties.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "benchmarks/kit/judge/finding.h"
#include "benchmarks/kit/script/outcome_reader.h"
#include "benchmarks/kit/workload/workload.h"
#include "benchmarks/smallbank/procedures.h"

namespace keydrome::smallbank {

// A customer's loaded balances, and the effects of committed transactions on them.
struct Account {
  int64_t savings = 0, checking = 0;
  int64_t paid_in = 0, paid_out = 0;  // known payments to and from both balances
  // The parts of paid_out that left each balance, except the money that an Amalgamate moved away.
  int64_t out_of_savings = 0, out_of_checking = 0;
  bool emptied = false;  // an Amalgamate moved all money away
};

// The result of a Balance, or of a transaction that aborted for lack of money. `money` is the sum
// that the Balance read, or the amount that the transaction needed.
struct Observation {
  Transaction transaction;
  uint32_t customer;
  int64_t money;
};

// The expected money of all customers, according to the script and the outcome of a run.
struct Books {
  std::vector<Account> accounts;  // by the customer's number
  std::vector<Observation> balances, refusals;
  uint64_t committed = 0;     // committed transactions of the workload, without checks
  bool exact = true;          // false if evidence of a result is missing
  int64_t added = 0;          // change of the sum of all balances, without unknown penalties
  int64_t penalties_max = 0;  // sum of the penalties that are possible but unknown
};

// Computes the expected money of all customers. Uses the rows that phase `load` of the script
// loads, and how the transactions of phase `run` ended and which results they left.
Books keep_books(const script::Script& script, const script::Outcome& outcome, uint32_t load,
                 uint32_t run);

// The balances that the final scan of all records found, by table and customer.
struct Balances {
  struct Entry {
    int64_t sum = 0;    // sum of the rows
    uint32_t rows = 0;  // 1 in a correct index
  };
  std::vector<Entry> savings, checking;
  uint64_t malformed = 0;       // rows of unknown customers, and balances that are not numbers
  std::string first_malformed;  // where the first of them is, and what is wrong with it
};

Balances read_balances(const script::Script& script, const script::Outcome& outcome,
                       uint32_t verify, std::size_t customers);

void check_money(const Books& books, const Balances& balances, judge::Findings& findings);

}  // namespace keydrome::smallbank

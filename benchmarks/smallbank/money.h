// Where the money is after a run, held against what its committed transactions did with it.
//
// Findings, all required:
//   row_count           a customer has not exactly one savings and one checking balance
//   money_sum           the sum of all balances is not what was loaded and paid in and out since
//   account_money       a customer's two balances together are not what was loaded and what
//                       committed transactions added and took away: an update was lost or doubled
//   impossible_balance  a Balance committed that saw more money than the customer can have had, or
//                       less
//   groundless_abort    a transaction was rolled back for want of money that was there all the time
// Which of two balances the money is on only a recorded run tells, and write skew that no sum
// shows: a check without penalty, although a Balance had seen that it was not covered.
//
// What Amalgamate moves and whether WriteCheck charges its penalty is known from the evidence that
// they leave. Without (`--plain`) only row_count and money_sum are judged, the latter with room for
// the penalties.
#pragma once

#include <cstdint>
#include <vector>

#include "benchmarks/kit/finding.h"
#include "benchmarks/kit/outcome_reader.h"
#include "benchmarks/kit/workload.h"
#include "benchmarks/smallbank/procedures.h"

namespace keydrome::smallbank {

// A customer as loaded, and what committed transactions did to the two balances.
struct Account {
  int64_t savings = 0, checking = 0;
  int64_t paid_in = 0, paid_out = 0;  // to and from either, both >= 0; as far as it is known
  int64_t out_of_savings = 0, out_of_checking = 0;  // of paid_out; without what Amalgamate empties
  bool emptied = false;                             // by an Amalgamate
};

// A Balance that saw `money`, or a transaction that was rolled back for want of `money`.
struct Sight {
  Transaction transaction;
  uint32_t customer;
  int64_t money;
};

struct Books {
  std::vector<Account> accounts;  // by the customer's number
  std::vector<Sight> balances, refusals;
  uint64_t committed = 0;  // transactions of the stream
  bool exact = true;       // the evidence was there
  int64_t added = 0;       // to the sum of all balances, without unknown penalties
  int64_t penalties_max = 0;
};

// From the rows that the script loads and how the transactions of phase `run` ended.
Books keep_books(const Script& script, const Outcome& outcome, uint32_t load, uint32_t run);

// A balance of the final scan, by table and customer; more or less than one when something is
// wrong.
struct Balances {
  struct Entry {
    int64_t sum = 0;
    uint32_t rows = 0;
  };
  std::vector<Entry> savings, checking;
  uint64_t strangers = 0;  // rows of no customer, or without a number
};

Balances read_balances(const Script& script, const Outcome& outcome, uint32_t verify,
                       std::size_t customers);

void check_money(const Books& books, const Balances& balances, Findings& findings);

}  // namespace keydrome::smallbank

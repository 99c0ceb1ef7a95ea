// Defines the tables, rows and transactions of the benchmark "smallbank". Each transaction is a
// procedure, a list of instructions for the process that calls the library, because its writes
// depend on its reads.
#pragma once

#include <cstdint>

#include "benchmarks/kit/format/digits.h"
#include "benchmarks/kit/script/script_builder.h"

namespace keydrome::smallbank {

// A table's number is also the number of its index and of its slot. The slot is the variable in
// which the player, the process that makes the calls, keeps the open handle of the index.
enum Table : uint8_t { kAccounts, kSavings, kChecking, kTables };

// A transaction's number is also the number of its procedure and of its transaction class, by which
// the report groups latencies.
enum Transaction : uint32_t {
  kAmalgamate,
  kBalance,
  kDepositChecking,
  kSendPayment,
  kTransactSavings,
  kWriteCheck,
  kTransactions
};

// Fields of the rows. A row of accounts maps a name to a customer number. A row of savings or
// checking maps a customer number to a balance in cents.
inline constexpr format::Field kCustomerField{.at = 0, .width = 5};
inline constexpr format::Field kBalanceField{.at = 0, .width = 8, .is_signed = true};

// Every transaction has all three parameters. kCustomer and kOther are the numbers of names in the
// script's list of string keys, which equal the customer numbers.
enum Parameter : uint32_t {
  kCustomer,
  kOther,   // the customer who receives the money (kAmalgamate and kSendPayment)
  kAmount,  // in cents; kTransactSavings: negative for a withdrawal
  kParameters
};

inline constexpr int64_t kPenalty = 100;  // in cents, for a check that the balances do not cover

// Returns true if the transaction leaves a result as evidence for the judge: the sum moved
// (kAmalgamate), the sum read (kBalance), or the amount charged including the penalty
// (kWriteCheck).
constexpr bool has_result(Transaction transaction) {
  return transaction == kAmalgamate || transaction == kBalance || transaction == kWriteCheck;
}

// Adds the six procedures, numbered as in Transaction.
void add_procedures(script::ScriptBuilder& builder);

}  // namespace keydrome::smallbank

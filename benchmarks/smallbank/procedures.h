// SmallBank's tables, rows and transactions.
#pragma once

#include <cstdint>

#include "benchmarks/kit/digits.h"
#include "benchmarks/kit/script_builder.h"

namespace keydrome::smallbank {

// Also the number of the index and of the slot that has it open.
enum Table : uint8_t { kAccounts, kSavings, kChecking, kTables };

// Also the number of the procedure and of the transaction's class.
enum Transaction : uint32_t {
  kAmalgamate,
  kBalance,
  kDepositChecking,
  kSendPayment,
  kTransactSavings,
  kWriteCheck,
  kTransactions
};

// Rows: accounts has the customer's number under the name, the other two a balance under the
// number. Money is in cents.
inline constexpr Field kCustomerField{.at = 0, .width = 5};
inline constexpr Field kBalanceField{.at = 0, .width = 8, .is_signed = true};

// Every transaction has all of them. Customers are named by their number, which is that of their
// name in the pool of strings.
enum Parameter : uint32_t {
  kCustomer,
  kOther,   // of kAmalgamate and kSendPayment: who gets the money
  kAmount,  // of kTransactSavings below 0 to take it out
  kParameters
};

inline constexpr int64_t kPenalty = 100;  // of a check that is not covered

// What a transaction leaves as evidence: the sum that was moved, seen, or charged with penalty.
constexpr bool has_result(Transaction transaction) {
  return transaction == kAmalgamate || transaction == kBalance || transaction == kWriteCheck;
}

// Adds all six; their numbers are those of Transaction.
void add_procedures(ScriptBuilder& script);

}  // namespace keydrome::smallbank

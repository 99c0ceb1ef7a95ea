// Implements the money check of the benchmark "smallbank": Bookkeeper adds up the committed
// transactions, and Checker compares the sums with the final scan, which reads all records.
#include "benchmarks/smallbank/money.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <string>

#include "base/count_text.h"
#include "benchmarks/kit/judge/evidence.h"

namespace keydrome::smallbank {
namespace {

int64_t number_of(std::string_view bytes) {
  int64_t number = 0;
  std::memcpy(&number, bytes.data(), std::min(sizeof number, bytes.size()));
  return number;
}

// Returns an amount of cents as text with two decimals.
std::string money_text(int64_t cents) {
  const auto size = static_cast<uint64_t>(cents < 0 ? -cents : cents);
  const std::string rest = std::to_string(size % 100);
  return (cents < 0 ? "-" : "") + std::to_string(size / 100) + (rest.size() < 2 ? ".0" : ".") +
         rest;
}

class Bookkeeper {
 public:
  Bookkeeper(const script::Script& script, Books& books) : script_(script), books_(books) {}

  void load(std::span<const format::Op> ops) {
    uint32_t table = kTables;
    for (const format::Op& op : ops) {
      if (op.code == format::OpCode::kOpen) table = op.argument;
      const bool is_row = op.code == format::OpCode::kInsert &&
                          static_cast<format::Kind>(op.kind) == format::Kind::kStream;
      if (!is_row || table == kAccounts) continue;
      if (books_.accounts.size() <= op.key) books_.accounts.resize(op.key + std::size_t{1});
      Account& account = books_.accounts[op.key];
      (table == kSavings ? account.savings : account.checking) =
          format::read_number(script_.pools.payloads[op.payload], kBalanceField).value_or(0);
    }
  }

  void run(std::span<const format::Op> ops, const script::ThreadResult& result) {
    format::walk_program(ops, [&](const format::Step& step) {
      const format::Op& op = ops[step.op];
      if (op.code != format::OpCode::kRun) return;
      const script::TransactionEnd end = result.ends[step.transaction];
      if (end == script::TransactionEnd::kAborted) refuse(op);
      if (end != script::TransactionEnd::kCommitted) return;
      ++books_.committed;
      if ((op.flags & format::kEvidence) == 0) book(op, std::nullopt);
    });
    judge::for_each_evidence(
        ops, result, [&](const format::Step& step, std::span<const script::Evidence> records) {
          const format::Op& op = ops[step.op];
          const bool done = op.code == format::OpCode::kRun &&
                            result.ends[step.transaction] == script::TransactionEnd::kCommitted;
          if (done) book(op, number_of(records[0].payload));
        });
  }

 private:
  int64_t parameter(const format::Op& op, Parameter number) const {
    return script_.pools.parameters[op.key + number];
  }
  uint32_t customer(const format::Op& op, Parameter number) const {
    return static_cast<uint32_t>(parameter(op, number));
  }
  Account& account(const format::Op& op, Parameter number) {
    return books_.accounts[customer(op, number)];
  }

  void refuse(const format::Op& op) {
    const int64_t amount = parameter(op, kAmount);
    const auto transaction = static_cast<Transaction>(op.payload);
    books_.refusals.push_back({.transaction = transaction,
                               .customer = customer(op, kCustomer),
                               .money = transaction == kTransactSavings ? -amount : amount});
  }

  void book(const format::Op& op, std::optional<int64_t> result) {
    const auto transaction = static_cast<Transaction>(op.payload);
    const int64_t amount = parameter(op, kAmount);
    if (has_result(transaction) && !result) books_.exact = false;
    switch (transaction) {
      case kAmalgamate:
        account(op, kCustomer).emptied = true;
        return move(op, result.value_or(0));
      case kBalance:
        if (result) books_.balances.push_back({kBalance, customer(op, kCustomer), *result});
        return;
      case kDepositChecking:
        books_.added += amount;
        account(op, kCustomer).paid_in += amount;
        return;
      case kSendPayment:
        account(op, kCustomer).out_of_checking += amount;
        return move(op, amount);
      case kTransactSavings:
        books_.added += amount;
        account(op, kCustomer).paid_in += std::max<int64_t>(0, amount);
        account(op, kCustomer).paid_out += std::max<int64_t>(0, -amount);
        account(op, kCustomer).out_of_savings += std::max<int64_t>(0, -amount);
        return;
      default:
        if (!result) books_.penalties_max += kPenalty;
        books_.added -= result.value_or(amount);
        account(op, kCustomer).paid_out += result.value_or(amount);
        account(op, kCustomer).out_of_checking += result.value_or(amount);
    }
  }

  // Moves money to the other customer. Amalgamate can move a negative amount; the other customer
  // then pays the first customer's overdraft.
  void move(const format::Op& op, int64_t money) {
    const bool backwards = money < 0;
    Account& from = account(op, backwards ? kOther : kCustomer);
    Account& to = account(op, backwards ? kCustomer : kOther);
    from.paid_out += backwards ? -money : money;
    to.paid_in += backwards ? -money : money;
    if (backwards) from.out_of_checking -= money;
  }

  const script::Script& script_;
  Books& books_;
};

class Checker {
 public:
  Checker(const Books& books, const Balances& balances, judge::Findings& findings)
      : books_(books), balances_(balances), findings_(findings) {}

  void run() {
    rows();
    sum();
    if (!books_.exact) return;
    for (std::size_t c = 0; c < books_.accounts.size(); ++c) account(c);
    for (const Observation& seen : books_.balances) check_balance(seen);
    for (const Observation& seen : books_.refusals) check_refusal(seen);
  }

 private:
  void rows() {
    if (balances_.malformed > 0) {
      findings_.required("row_count", count_text(balances_.malformed, "record") +
                                          (balances_.malformed == 1 ? " is" : " are") +
                                          " wrong. The first is " + balances_.first_malformed);
    }
    for (std::size_t c = 0; c < books_.accounts.size(); ++c) {
      const uint32_t savings = balances_.savings[c].rows, checking = balances_.checking[c].rows;
      if (savings == 1 && checking == 1) continue;
      findings_.required("row_count", "customer " + std::to_string(c) + " has " +
                                          count_text(savings, "savings balance") + " and " +
                                          count_text(checking, "checking balance") +
                                          ", but must have one of each");
    }
  }

  int64_t now(std::size_t c) const { return balances_.savings[c].sum + balances_.checking[c].sum; }

  void sum() {
    int64_t wanted = books_.added, found = 0;
    for (std::size_t c = 0; c < books_.accounts.size(); ++c) {
      wanted += books_.accounts[c].savings + books_.accounts[c].checking;
      found += now(c);
    }
    if (found <= wanted && found >= wanted - books_.penalties_max) return;
    findings_.required(
        "money_sum",
        "the sum of all balances is " + money_text(found) + ", but must be " +
            (books_.penalties_max == 0 ? money_text(wanted)
                                       : "from " + money_text(wanted - books_.penalties_max) +
                                             " to " + money_text(wanted)) +
            " according to the loaded balances and the committed transactions");
  }

  void account(std::size_t c) {
    const Account& account = books_.accounts[c];
    const int64_t wanted = account.savings + account.checking + account.paid_in - account.paid_out;
    if (now(c) == wanted) return;
    findings_.required("account_money",
                       "after the run, customer " + std::to_string(c) + " has " +
                           money_text(now(c)) + " on both balances together, but must have " +
                           money_text(wanted) +
                           " according to the loaded balances and the committed transactions");
  }

  // Transactions ran in an unknown order, some of them after the Balance. The bounds therefore
  // allow for every order.
  void check_balance(const Observation& seen) {
    const Account& account = books_.accounts[seen.customer];
    const int64_t loaded = account.savings + account.checking;
    const int64_t low = loaded - account.paid_out, high = loaded + account.paid_in;
    if (seen.money >= low && seen.money <= high) return;
    findings_.required("impossible_balance",
                       "a Balance transaction read " + money_text(seen.money) + " for customer " +
                           std::to_string(seen.customer) + ", but this customer always had from " +
                           money_text(low) + " to " + money_text(high));
  }

  void check_refusal(const Observation& seen) {
    const Account& account = books_.accounts[seen.customer];
    const bool savings = seen.transaction == kTransactSavings;
    // Savings are never negative, so 0 is a lower bound after an Amalgamate.
    const int64_t low = savings
                            ? account.emptied ? 0 : account.savings - account.out_of_savings
                            : (account.emptied ? 0 : account.checking) - account.out_of_checking;
    if (low < seen.money) return;
    findings_.required("groundless_abort",
                       std::string(savings ? "a TransactSavings" : "a SendPayment") +
                           " transaction aborted because the balance that it read was below " +
                           money_text(seen.money) + ", although customer " +
                           std::to_string(seen.customer) + " always had at least " +
                           money_text(low) + " on that balance");
  }

  const Books& books_;
  const Balances& balances_;
  judge::Findings& findings_;
};

}  // namespace

Books keep_books(const script::Script& script, const script::Outcome& outcome, uint32_t load,
                 uint32_t run) {
  Books books;
  Bookkeeper keeper(script, books);
  for (const std::vector<format::Op>& ops : script.phases[load].threads) keeper.load(ops);
  for (std::size_t t = 0; t < outcome.phases[run].threads.size(); ++t) {
    keeper.run(script.phases[run].threads[t], outcome.phases[run].threads[t]);
  }
  return books;
}

Balances read_balances(const script::Script& script, const script::Outcome& outcome,
                       uint32_t verify, std::size_t customers) {
  Balances balances{.savings = std::vector<Balances::Entry>(customers),
                    .checking = std::vector<Balances::Entry>(customers)};
  for (std::size_t t = 0; t < outcome.phases[verify].threads.size(); ++t) {
    const std::vector<format::Op>& ops = script.phases[verify].threads[t];
    std::size_t at = 0;
    uint32_t table = kTables;
    const auto visit = [&](const format::Step& step, std::span<const script::Evidence> records) {
      for (; at <= step.op; ++at) {
        if (ops[at].code == format::OpCode::kOpen) table = ops[at].argument;
      }
      if (table == kAccounts) return;  // never changes; the judge of all benchmarks checks it
      for (const script::Evidence& record : records) {
        const int64_t customer = number_of(record.key);
        // Negative keys belong to stripes (checks on keys that only one thread uses).
        if (record.code != SUCCESS || customer < 0) continue;
        const std::string_view payload = record.payload;
        const std::optional<int64_t> balance = format::read_number(
            payload.substr(std::min<std::size_t>(format::kTagBytes, payload.size())),
            kBalanceField);
        if (!balance || customer >= static_cast<int64_t>(customers)) {
          if (balances.malformed++ > 0) continue;
          balances.first_malformed =
              std::string("in the table of ") + (table == kSavings ? "savings" : "checking") +
              " balances, under key " + std::to_string(customer) + ": " +
              (balance ? "no customer has this number" : "its payload contains no balance");
          continue;
        }
        std::vector<Balances::Entry>& entries =
            table == kSavings ? balances.savings : balances.checking;
        Balances::Entry& entry = entries[static_cast<std::size_t>(customer)];
        entry.sum += *balance;
        ++entry.rows;
      }
    };
    judge::for_each_evidence(ops, outcome.phases[verify].threads[t], visit);
  }
  return balances;
}

void check_money(const Books& books, const Balances& balances, judge::Findings& findings) {
  Checker(books, balances, findings).run();
}

}  // namespace keydrome::smallbank

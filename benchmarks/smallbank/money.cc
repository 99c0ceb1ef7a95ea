#include "benchmarks/smallbank/money.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <string>

#include "benchmarks/kit/evidence.h"

namespace keydrome::smallbank {
namespace {

int64_t number_of(std::string_view bytes) {
  int64_t number = 0;
  std::memcpy(&number, bytes.data(), std::min(sizeof number, bytes.size()));
  return number;
}

// In units, with the cents.
std::string money_text(int64_t cents) {
  const auto size = static_cast<uint64_t>(cents < 0 ? -cents : cents);
  const std::string rest = std::to_string(size % 100);
  return (cents < 0 ? "-" : "") + std::to_string(size / 100) + (rest.size() < 2 ? ".0" : ".") +
         rest;
}

class Bookkeeper {
 public:
  Bookkeeper(const Script& script, Books& books) : script_(script), books_(books) {}

  void load(std::span<const Op> ops) {
    uint32_t table = kTables;
    for (const Op& op : ops) {
      if (op.code == OpCode::kOpen) table = op.argument;
      const bool is_row = op.code == OpCode::kInsert && static_cast<Kind>(op.kind) == Kind::kStream;
      if (!is_row || table == kAccounts) continue;
      if (books_.accounts.size() <= op.key) books_.accounts.resize(op.key + std::size_t{1});
      Account& account = books_.accounts[op.key];
      (table == kSavings ? account.savings : account.checking) =
          read_number(script_.pools.payloads[op.payload], kBalanceField).value_or(0);
    }
  }

  void run(std::span<const Op> ops, const ThreadResult& result) {
    walk_program(ops, [&](const Step& step) {
      const Op& op = ops[step.op];
      if (op.code != OpCode::kRun) return;
      const TransactionEnd end = result.ends[step.transaction];
      if (end == TransactionEnd::kAborted) refuse(op);
      if (end != TransactionEnd::kCommitted) return;
      ++books_.committed;
      if ((op.flags & kEvidence) == 0) book(op, std::nullopt);
    });
    for_each_evidence(ops, result, [&](const Step& step, std::span<const Evidence> records) {
      const Op& op = ops[step.op];
      const bool done =
          op.code == OpCode::kRun && result.ends[step.transaction] == TransactionEnd::kCommitted;
      if (done) book(op, number_of(records[0].payload));
    });
  }

 private:
  int64_t parameter(const Op& op, Parameter number) const {
    return script_.pools.parameters[op.key + number];
  }
  uint32_t customer(const Op& op, Parameter number) const {
    return static_cast<uint32_t>(parameter(op, number));
  }
  Account& account(const Op& op, Parameter number) { return books_.accounts[customer(op, number)]; }

  void refuse(const Op& op) {
    const int64_t amount = parameter(op, kAmount);
    const auto transaction = static_cast<Transaction>(op.payload);
    books_.refusals.push_back({.transaction = transaction,
                               .customer = customer(op, kCustomer),
                               .money = transaction == kTransactSavings ? -amount : amount});
  }

  void book(const Op& op, std::optional<int64_t> result) {
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

  // From the customer to the other one. An overdrawn account is emptied by paying in.
  void move(const Op& op, int64_t money) {
    const bool backwards = money < 0;
    Account& from = account(op, backwards ? kOther : kCustomer);
    Account& to = account(op, backwards ? kCustomer : kOther);
    from.paid_out += backwards ? -money : money;
    to.paid_in += backwards ? -money : money;
    if (backwards) from.out_of_checking -= money;
  }

  const Script& script_;
  Books& books_;
};

class Checker {
 public:
  Checker(const Books& books, const Balances& balances, Findings& findings)
      : books_(books), balances_(balances), findings_(findings) {}

  void run() {
    rows();
    sum();
    if (!books_.exact) return;
    for (std::size_t c = 0; c < books_.accounts.size(); ++c) account(c);
    for (const Sight& sight : books_.balances) seen(sight);
    for (const Sight& sight : books_.refusals) refused(sight);
  }

 private:
  void rows() {
    if (balances_.strangers > 0) {
      findings_.required("row_count", std::to_string(balances_.strangers) +
                                          " balances are of no customer or are no numbers");
    }
    for (std::size_t c = 0; c < books_.accounts.size(); ++c) {
      const uint32_t savings = balances_.savings[c].rows, checking = balances_.checking[c].rows;
      if (savings == 1 && checking == 1) continue;
      findings_.required("row_count", "customer " + std::to_string(c) + " has " +
                                          std::to_string(savings) + " savings balances and " +
                                          std::to_string(checking) + " checking balances");
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
    findings_.required("money_sum", "the balances add up to " + money_text(found) +
                                        ", and what was loaded and committed since to " +
                                        money_text(wanted));
  }

  void account(std::size_t c) {
    const Account& account = books_.accounts[c];
    const int64_t wanted = account.savings + account.checking + account.paid_in - account.paid_out;
    if (now(c) == wanted) return;
    findings_.required("account_money", "customer " + std::to_string(c) + " has " +
                                            money_text(now(c)) + " and must have " +
                                            money_text(wanted));
  }

  // In whatever order they came, and some of them later.
  void seen(const Sight& sight) {
    const Account& account = books_.accounts[sight.customer];
    const int64_t loaded = account.savings + account.checking;
    const int64_t low = loaded - account.paid_out, high = loaded + account.paid_in;
    if (sight.money >= low && sight.money <= high) return;
    findings_.required("impossible_balance", "a Balance saw " + money_text(sight.money) +
                                                 " of customer " + std::to_string(sight.customer) +
                                                 ", who had at least " + money_text(low) +
                                                 " and at most " + money_text(high));
  }

  void refused(const Sight& sight) {
    const Account& account = books_.accounts[sight.customer];
    const bool savings = sight.transaction == kTransactSavings;
    // Savings are never below 0.
    const int64_t low = savings
                            ? account.emptied ? 0 : account.savings - account.out_of_savings
                            : (account.emptied ? 0 : account.checking) - account.out_of_checking;
    if (low < sight.money) return;
    findings_.required("groundless_abort",
                       std::string(savings ? "TransactSavings" : "SendPayment") +
                           " was rolled back for want of " + money_text(sight.money) +
                           ", and customer " + std::to_string(sight.customer) +
                           " never had less than " + money_text(low) + " there");
  }

  const Books& books_;
  const Balances& balances_;
  Findings& findings_;
};

}  // namespace

Books keep_books(const Script& script, const Outcome& outcome, uint32_t load, uint32_t run) {
  Books books;
  Bookkeeper keeper(script, books);
  for (const std::vector<Op>& ops : script.phases[load].threads) keeper.load(ops);
  for (std::size_t t = 0; t < outcome.phases[run].threads.size(); ++t) {
    keeper.run(script.phases[run].threads[t], outcome.phases[run].threads[t]);
  }
  return books;
}

Balances read_balances(const Script& script, const Outcome& outcome, uint32_t verify,
                       std::size_t customers) {
  Balances balances{.savings = std::vector<Balances::Entry>(customers),
                    .checking = std::vector<Balances::Entry>(customers)};
  for (std::size_t t = 0; t < outcome.phases[verify].threads.size(); ++t) {
    const std::vector<Op>& ops = script.phases[verify].threads[t];
    std::size_t at = 0;
    uint32_t table = kTables;
    const auto visit = [&](const Step& step, std::span<const Evidence> records) {
      for (; at <= step.op; ++at) {
        if (ops[at].code == OpCode::kOpen) table = ops[at].argument;
      }
      if (table == kAccounts) return;  // nobody writes there: the default judge knows its rows
      for (const Evidence& record : records) {
        const int64_t customer = number_of(record.key);
        if (record.code != SUCCESS || customer < 0) continue;  // below 0: of stripes
        const std::string_view payload = record.payload;
        const std::optional<int64_t> balance = read_number(
            payload.substr(std::min<std::size_t>(kTagBytes, payload.size())), kBalanceField);
        if (!balance || customer >= static_cast<int64_t>(customers)) {
          ++balances.strangers;
          continue;
        }
        std::vector<Balances::Entry>& entries =
            table == kSavings ? balances.savings : balances.checking;
        Balances::Entry& entry = entries[static_cast<std::size_t>(customer)];
        entry.sum += *balance;
        ++entry.rows;
      }
    };
    for_each_evidence(ops, outcome.phases[verify].threads[t], visit);
  }
  return balances;
}

void check_money(const Books& books, const Balances& balances, Findings& findings) {
  Checker(books, balances, findings).run();
}

}  // namespace keydrome::smallbank

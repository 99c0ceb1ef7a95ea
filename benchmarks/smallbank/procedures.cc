// Implements the six transactions of the benchmark "smallbank" as procedures, because their writes
// depend on earlier reads. A procedure is a list of instructions that the player, the process that
// calls the library, executes.
#include "benchmarks/smallbank/procedures.h"

#include "benchmarks/kit/script/procedure_helpers.h"

namespace keydrome::smallbank {
namespace {

using script::ProcedureBuilder;

enum Register : uint8_t { kZero, kName, kOtherName, kMoney, kNumber, kOtherNumber, kSum, kRest };
enum RowNumber : uint8_t { kNameRow, kSavingsRow, kCheckingRow, kOtherRow };

ProcedureBuilder start() {
  ProcedureBuilder p;
  p.set(kZero, 0);
  script::take_parameters(p, {kName, kOtherName, kMoney});
  return p;
}

// Sets register `number` to the number of the customer whose name is in register `name`.
void find_customer(ProcedureBuilder& p, uint8_t name, uint8_t number) {
  p.get(kAccounts, name, kNameRow);
  p.load(number, kNameRow, kCustomerField);
}

// Reads a record of the table into row `row`, a buffer of the procedure. Register `number` contains
// the number of the customer. Sets register `balance` to the balance in this record.
void read(ProcedureBuilder& p, Table table, uint8_t number, uint8_t row, uint8_t balance) {
  p.get(table, number, row);
  p.load(balance, row, kBalanceField);
}

// Writes a new balance into `row`, and `row` into the table.
void write(ProcedureBuilder& p, Table table, uint8_t number, uint8_t row, uint8_t balance) {
  p.store(row, kBalanceField, balance);
  p.replace(table, number, row);
}

// Sets kSum to the sum of both balances, and kRest to the checking balance.
void read_both(ProcedureBuilder& p) {
  read(p, kSavings, kNumber, kSavingsRow, kSum);
  read(p, kChecking, kNumber, kCheckingRow, kRest);
  p.add(kSum, kSum, kRest);
}

// Adds `money` to a checking balance.
void deposit(ProcedureBuilder& p, uint8_t number, uint8_t row, uint8_t money) {
  read(p, kChecking, number, row, kRest);
  p.add(kRest, kRest, money);
  write(p, kChecking, number, row, kRest);
}

ProcedureBuilder amalgamate() {
  ProcedureBuilder p = start();
  find_customer(p, kName, kNumber);
  find_customer(p, kOtherName, kOtherNumber);
  read_both(p);
  write(p, kSavings, kNumber, kSavingsRow, kZero);
  write(p, kChecking, kNumber, kCheckingRow, kZero);
  deposit(p, kOtherNumber, kOtherRow, kSum);
  p.result(kSum);
  p.end();
  return p;
}

ProcedureBuilder balance() {
  ProcedureBuilder p = start();
  find_customer(p, kName, kNumber);
  read_both(p);
  p.result(kSum);
  p.end();
  return p;
}

ProcedureBuilder deposit_checking() {
  ProcedureBuilder p = start();
  find_customer(p, kName, kNumber);
  deposit(p, kNumber, kCheckingRow, kMoney);
  p.end();
  return p;
}

ProcedureBuilder send_payment() {
  ProcedureBuilder p = start();
  const ProcedureBuilder::Label poor = p.label();
  find_customer(p, kName, kNumber);
  find_customer(p, kOtherName, kOtherNumber);
  read(p, kChecking, kNumber, kCheckingRow, kRest);
  p.jump_if_less(kRest, kMoney, poor);
  p.subtract(kRest, kRest, kMoney);
  write(p, kChecking, kNumber, kCheckingRow, kRest);
  deposit(p, kOtherNumber, kOtherRow, kMoney);
  p.end();
  p.place(poor);
  p.roll_back();
  p.end();
  return p;
}

ProcedureBuilder transact_savings() {
  ProcedureBuilder p = start();
  const ProcedureBuilder::Label poor = p.label();
  find_customer(p, kName, kNumber);
  read(p, kSavings, kNumber, kSavingsRow, kRest);
  p.add(kRest, kRest, kMoney);
  p.jump_if_less(kRest, kZero, poor);
  write(p, kSavings, kNumber, kSavingsRow, kRest);
  p.end();
  p.place(poor);
  p.roll_back();
  p.end();
  return p;
}

ProcedureBuilder write_check() {
  ProcedureBuilder p = start();
  const ProcedureBuilder::Label uncovered = p.label(), charge = p.label();
  find_customer(p, kName, kNumber);
  read_both(p);
  p.jump_if_less(kSum, kMoney, uncovered);
  p.jump(charge);
  p.place(uncovered);
  p.set(kSum, static_cast<int32_t>(kPenalty));
  p.add(kMoney, kMoney, kSum);
  p.place(charge);
  p.subtract(kRest, kRest, kMoney);
  write(p, kChecking, kNumber, kCheckingRow, kRest);
  p.result(kMoney);
  p.end();
  return p;
}

}  // namespace

void add_procedures(script::ScriptBuilder& builder) {
  const auto add = [&](Transaction number, const ProcedureBuilder& code, uint32_t reads,
                       uint32_t writes) {
    const script::ProcedureLimits limits = {
        .parameters = kParameters, .tags = writes, .calls = reads + 2 * writes};
    script::add_numbered_procedure(builder, number, code, limits);
  };
  add(kAmalgamate, amalgamate(), 5, 3);
  add(kBalance, balance(), 3, 0);
  add(kDepositChecking, deposit_checking(), 2, 1);
  add(kSendPayment, send_payment(), 4, 2);
  add(kTransactSavings, transact_savings(), 2, 1);
  add(kWriteCheck, write_check(), 3, 1);
}

}  // namespace keydrome::smallbank

#include "benchmarks/tpcc/procedures.h"

#include "base/check.h"
#include "benchmarks/tpcc/keys.h"
#include "benchmarks/tpcc/rows.h"
#include "benchmarks/tpcc/tables.h"

namespace keydrome::tpcc {
namespace {

// The registers; each transaction uses its own of them.
enum Register : uint8_t {
  kZero,
  kOne,
  kWarehouse,
  kDistrict,
  kCustomer,
  kNumber,
  kKey,
  kFrom,
  kEnd,
  kTotal,
  kLine,
  kLines,
  kText,
  kDate,
  kScratch,
  kItem,
  kStock,
  kDist,
  kDistAt,
  kAmount,
  kOrdered,
  kRemote,
  kSupplier,
  kOther,
  kBit,
  kDone,
  kHistory,
  kHead,
  kRegistersUsed
};
static_assert(kRegistersUsed <= kRegisters);

constexpr uint8_t kRowA = 0, kRowB = 1, kRowC = 2, kRowD = 3, kFirstChunkRow = 4, kHeadRow = 10;
static_assert(kFirstChunkRow + kDataParts <= kHeadRow && kHeadRow < kRows);

constexpr uint8_t kWarehouseSlot = slot(Table::kWarehouse);
constexpr uint8_t kDistrictSlot = slot(Table::kDistrict);
constexpr uint8_t kCustomerSlot = slot(Table::kCustomer);
constexpr uint8_t kNameSlot = slot(Table::kCustomerName);
constexpr uint8_t kHistorySlot = slot(Table::kHistory);
constexpr uint8_t kOrdersSlot = slot(Table::kOrders);
constexpr uint8_t kByCustomerSlot = slot(Table::kOrderByCustomer);
constexpr uint8_t kNewOrderSlot = slot(Table::kNewOrder);
constexpr uint8_t kLineSlot = slot(Table::kOrderLine);
constexpr uint8_t kItemSlot = slot(Table::kItem);
constexpr uint8_t kStockSlot = slot(Table::kStock);

void add_to_field(ProcedureBuilder& p, uint8_t row, Field field, uint8_t amount) {
  p.load(kScratch, row, field);
  p.add(kScratch, kScratch, amount);
  p.store(row, field, kScratch);
}

void constants(ProcedureBuilder& p) {
  p.set(kZero, 0);
  p.set(kOne, 1);
}

// kKey <- the key of part 0 of customer kCustomer of kDistrict; a customer by name is found first.
void find_customer(ProcedureBuilder& p) {
  const ProcedureBuilder::Label known = p.label(), some = p.label();
  p.parameter(kDistrict);
  p.parameter(kCustomer);
  p.parameter(kFrom);
  p.parameter(kEnd);
  p.jump_if_less(kZero, kCustomer, known);
  p.scan(kNameSlot, kFrom, kEnd, kNameCustomer);
  p.count(kNumber);
  p.jump_if_less(kZero, kNumber, some);
  p.unfit();
  p.place(some);
  p.subtract(kNumber, kNumber, kOne);
  p.divide(kNumber, kNumber, 2);  // of n, the one in place n / 2 rounded up, counted from 1
  p.element(kCustomer, kNumber);
  p.place(known);
  p.shift(kKey, kDistrict, kCustomerBits);
  p.add(kKey, kKey, kCustomer);
  p.shift(kKey, kKey, kCustomerPartBits);
}

// The ordered quantity leaves the stock, which is filled up when it gets low.
void take_from_stock(ProcedureBuilder& p, uint8_t row) {
  const ProcedureBuilder::Label low = p.label(), done = p.label();
  p.load(kNumber, row, kQuantity);
  p.set(kScratch, 10);
  p.add(kScratch, kScratch, kOrdered);
  p.jump_if_less(kNumber, kScratch, low);
  p.subtract(kNumber, kNumber, kOrdered);
  p.jump(done);
  p.place(low);
  p.set(kScratch, 91);
  p.add(kNumber, kNumber, kScratch);
  p.subtract(kNumber, kNumber, kOrdered);
  p.place(done);
  p.store(row, kQuantity, kNumber);
  add_to_field(p, row, kStockYtd, kOrdered);
  add_to_field(p, row, kOrderCount, kOne);
  add_to_field(p, row, kRemoteCount, kRemote);
}

// One line of an order: rows kRowA item, kRowB stock, kRowC dist, kRowD line. kKey is the key of
// the line before.
void order_line(ProcedureBuilder& p) {
  for (const uint8_t to : {kItem, kStock, kDist, kOrdered, kRemote, kSupplier}) p.parameter(to);
  p.get(kItemSlot, kItem, kRowA);
  p.load(kAmount, kRowA, kPrice);
  p.multiply(kAmount, kAmount, kOrdered);
  p.get(kStockSlot, kStock, kRowB);
  p.get(kStockSlot, kDist, kRowC);
  take_from_stock(p, kRowB);
  p.replace(kStockSlot, kStock, kRowB);
  p.text(kRowD, kText);
  p.store(kRowD, kLineItem, kItem);
  p.store(kRowD, kLineSupply, kSupplier);
  p.store(kRowD, kLineQuantity, kOrdered);
  p.store(kRowD, kLineAmount, kAmount);
  p.copy(kRowD, kLineDist, kDistWidth, kRowC, kDistAt);
  p.add(kKey, kKey, kOne);
  p.insert(kLineSlot, kKey, kRowD);
}

ProcedureBuilder new_order() {
  ProcedureBuilder p;
  constants(p);
  for (const uint8_t to : {kWarehouse, kDistrict, kCustomer, kHistory, kHead, kText, kOther,
                           kDistAt, kLines, kTotal}) {
    p.parameter(to);
  }
  p.get(kWarehouseSlot, kWarehouse, kRowA);
  p.load(kScratch, kRowA, kTax);
  p.get(kDistrictSlot, kDistrict, kRowB);
  p.load(kScratch, kRowB, kTax);
  p.load(kNumber, kRowB, kNextOrder);
  p.add(kScratch, kNumber, kOne);
  p.store(kRowB, kNextOrder, kScratch);
  p.replace(kDistrictSlot, kDistrict, kRowB);
  p.get(kCustomerSlot, kCustomer, kRowC);
  p.load(kScratch, kRowC, kDiscount);
  p.shift(kKey, kDistrict, kOrderBits);
  p.add(kKey, kKey, kNumber);
  p.text(kRowA, kHistory);
  p.insert(kOrdersSlot, kKey, kRowA);
  p.text(kRowA, kHead);
  p.store(kRowA, kOrderNumber, kNumber);
  p.insert(kNewOrderSlot, kKey, kRowA);
  p.subtract(kOther, kOther, kNumber);
  p.insert(kByCustomerSlot, kOther, kRowA);
  p.shift(kKey, kKey, kLineBits);
  p.set(kLine, 0);
  const ProcedureBuilder::Label next = p.label();
  p.place(next);
  order_line(p);
  p.add(kLine, kLine, kOne);
  p.jump_if_less(kLine, kLines, next);
  const ProcedureBuilder::Label none = p.label();
  p.jump_if_equal(kTotal, kZero, none);
  p.get(kItemSlot, kTotal, kRowA, none);
  p.place(none);
  p.end();
  return p;
}

// Moves C_DATA up by the length of the head and puts that in front. kKey is the customer's key.
void prepend_to_data(ProcedureBuilder& p) {
  p.text(kHeadRow, kHead);
  p.store(kHeadRow, kHeadCustomer, kCustomer);
  p.store(kHeadRow, kHeadCustomerDistrict, kItem);
  p.store(kHeadRow, kHeadCustomerWarehouse, kStock);
  p.store(kHeadRow, kHeadDistrict, kDist);
  p.store(kHeadRow, kHeadWarehouse, kSupplier);
  p.store(kHeadRow, kHeadAmount, kAmount);
  const auto row = [](int64_t part) { return static_cast<uint8_t>(kFirstChunkRow + part); };
  for (int32_t part = 0; part < kDataParts; ++part) {
    p.set(kScratch, static_cast<int32_t>(kFirstDataPart) + part);
    p.add(kOther, kKey, kScratch);
    p.get(kCustomerSlot, kOther, row(part));
  }
  for (int32_t part = kDataParts - 1; part >= 0; --part) {
    const uint32_t size = part == kDataParts - 1 ? kLastPartBytes : uint32_t{kRowMax};
    p.copy(row(part), kDataHead, static_cast<uint8_t>(size - kDataHead), row(part), kZero);
    if (part == 0) {
      p.copy(row(part), 0, kDataHead, kHeadRow, kZero);
    } else {
      p.set(kScratch, static_cast<int32_t>(kRowMax - kDataHead));
      p.copy(row(part), 0, kDataHead, row(part - 1), kScratch);
    }
    p.set(kScratch, static_cast<int32_t>(kFirstDataPart) + part);
    p.add(kOther, kKey, kScratch);
    p.replace(kCustomerSlot, kOther, row(part));
  }
}

void write_history(ProcedureBuilder& p) {
  p.text(kRowD, kText);
  p.store(kRowD, kHistoryWarehouse, kStock);
  p.store(kRowD, kHistoryDistrict, kItem);
  p.store(kRowD, kHistoryCustomer, kCustomer);
  p.store(kRowD, kHistoryTo, kSupplier);
  p.store(kRowD, kHistoryToDistrict, kDist);
  p.store(kRowD, kHistoryDate, kDate);
  p.store(kRowD, kHistoryAmount, kAmount);
  p.copy(kRowD, kHistoryData, kPlaceNameWidth, kRowA, kZero);
  p.copy(kRowD, kHistoryData + kPlaceNameWidth + 4, kPlaceNameWidth, kRowB, kZero);
  p.insert(kHistorySlot, kHistory, kRowD);
}

ProcedureBuilder payment() {
  ProcedureBuilder p;
  const ProcedureBuilder::Label bad = p.label(), paid = p.label();
  constants(p);
  for (const uint8_t to : {kWarehouse, kDistrict, kAmount}) p.parameter(to);
  p.get(kWarehouseSlot, kWarehouse, kRowA);
  add_to_field(p, kRowA, kYtd, kAmount);
  p.replace(kWarehouseSlot, kWarehouse, kRowA);
  p.get(kDistrictSlot, kDistrict, kRowB);
  add_to_field(p, kRowB, kYtd, kAmount);
  p.replace(kDistrictSlot, kDistrict, kRowB);
  find_customer(p);
  for (const uint8_t to : {kHistory, kText, kHead, kDate, kSupplier, kDist, kStock, kItem}) {
    p.parameter(to);
  }
  p.get(kCustomerSlot, kKey, kRowC);
  p.load(kScratch, kRowC, kBalance);
  p.subtract(kScratch, kScratch, kAmount);
  p.store(kRowC, kBalance, kScratch);
  add_to_field(p, kRowC, kYtdPayment, kAmount);
  add_to_field(p, kRowC, kPaymentCount, kOne);
  p.replace(kCustomerSlot, kKey, kRowC);
  write_history(p);
  p.load(kNumber, kRowC, kCredit);
  p.set(kScratch, static_cast<int32_t>(*read_number(kBadCredit, {0, 2})));
  p.jump_if_equal(kNumber, kScratch, bad);
  p.jump(paid);
  p.place(bad);
  prepend_to_data(p);
  p.place(paid);
  p.end();
  return p;
}

ProcedureBuilder order_status() {
  ProcedureBuilder p;
  const ProcedureBuilder::Label ordered = p.label(), whole = p.label();
  constants(p);
  find_customer(p);
  p.get(kCustomerSlot, kKey, kRowA);
  p.load(kScratch, kRowA, kBalance);
  // The newest order.
  p.shift(kFrom, kDistrict, kCustomerOrderBits - kOrderBits);
  p.add(kFrom, kFrom, kCustomer);
  p.add(kEnd, kFrom, kOne);
  p.shift(kFrom, kFrom, kOrderBits);
  p.shift(kEnd, kEnd, kOrderBits);
  p.scan(kByCustomerSlot, kFrom, kEnd, kOrderNumber, 1);
  p.count(kNumber);
  p.jump_if_less(kZero, kNumber, ordered);
  p.unfit();  // every customer has ordered
  p.place(ordered);
  p.element(kNumber, kZero);
  p.shift(kKey, kDistrict, kOrderBits);
  p.add(kKey, kKey, kNumber);
  p.get(kOrdersSlot, kKey, kRowB);
  p.load(kLines, kRowB, kOrderLines);
  p.add(kEnd, kKey, kOne);
  p.shift(kFrom, kKey, kLineBits);
  p.shift(kEnd, kEnd, kLineBits);
  p.scan(kLineSlot, kFrom, kEnd, kLineItem);
  p.count(kNumber);
  p.jump_if_equal(kNumber, kLines, whole);
  p.unfit();
  p.place(whole);
  p.end();
  return p;
}

// The oldest new order of district kDistrict, if there is one.
void deliver_district(ProcedureBuilder& p) {
  const ProcedureBuilder::Label none = p.label(), line = p.label();
  p.shift(kFrom, kDistrict, kOrderBits);
  p.add(kEnd, kDistrict, kOne);
  p.shift(kEnd, kEnd, kOrderBits);
  p.scan(kNewOrderSlot, kFrom, kEnd, kOrderNumber, 1);
  p.count(kNumber);
  p.jump_if_equal(kNumber, kZero, none);
  p.element(kNumber, kZero);
  p.add(kKey, kFrom, kNumber);
  p.remove(kNewOrderSlot, kKey);
  p.get(kOrdersSlot, kKey, kRowA);
  p.load(kCustomer, kRowA, kOrderCustomer);
  p.load(kLines, kRowA, kOrderLines);
  p.store(kRowA, kOrderCarrier, kText);
  p.replace(kOrdersSlot, kKey, kRowA);
  p.shift(kKey, kKey, kLineBits);
  p.set(kTotal, 0);
  p.set(kLine, 0);
  p.place(line);
  p.add(kKey, kKey, kOne);
  p.get(kLineSlot, kKey, kRowB);
  p.load(kAmount, kRowB, kLineAmount);
  p.add(kTotal, kTotal, kAmount);
  p.store(kRowB, kLineDelivery, kDate);
  p.replace(kLineSlot, kKey, kRowB);
  p.add(kLine, kLine, kOne);
  p.jump_if_less(kLine, kLines, line);
  p.shift(kKey, kDistrict, kCustomerBits);
  p.add(kKey, kKey, kCustomer);
  p.shift(kKey, kKey, kCustomerPartBits);
  p.get(kCustomerSlot, kKey, kRowC);
  add_to_field(p, kRowC, kBalance, kTotal);
  add_to_field(p, kRowC, kDeliveryCount, kOne);
  p.replace(kCustomerSlot, kKey, kRowC);
  p.add(kDone, kDone, kBit);
  p.place(none);
}

// The result has a bit for each district that had an order: bit 0 is district 1.
ProcedureBuilder delivery() {
  ProcedureBuilder p;
  const ProcedureBuilder::Label next = p.label();
  constants(p);
  for (const uint8_t to : {kWarehouse, kText, kDate}) p.parameter(to);
  p.set(kDone, 0);
  p.set(kBit, 1);
  p.set(kScratch, static_cast<int32_t>(kDistricts));
  p.add(kOther, kWarehouse, kScratch);
  p.add(kDistrict, kWarehouse, kZero);
  p.place(next);
  p.add(kDistrict, kDistrict, kOne);
  deliver_district(p);
  p.add(kBit, kBit, kBit);
  p.jump_if_less(kDistrict, kOther, next);
  p.result(kDone);
  p.end();
  return p;
}

// The result is how many items are low.
ProcedureBuilder stock_level() {
  ProcedureBuilder p;
  const ProcedureBuilder::Label enough = p.label(), item = p.label(), body = p.label(),
                                high = p.label(), done = p.label();
  constants(p);
  for (const uint8_t to : {kDistrict, kWarehouse, kOther}) p.parameter(to);
  p.get(kDistrictSlot, kDistrict, kRowA);
  p.load(kNumber, kRowA, kNextOrder);
  p.set(kScratch, kOrdersLooked);
  p.subtract(kFrom, kNumber, kScratch);
  p.jump_if_less(kZero, kFrom, enough);
  p.set(kFrom, 1);
  p.place(enough);
  p.shift(kKey, kDistrict, kOrderBits);
  p.add(kFrom, kKey, kFrom);
  p.add(kEnd, kKey, kNumber);
  p.shift(kFrom, kFrom, kLineBits);
  p.shift(kEnd, kEnd, kLineBits);
  p.scan(kLineSlot, kFrom, kEnd, kLineItem);
  p.sort();
  p.count(kLines);
  p.set(kLine, 0);
  p.set(kTotal, 0);
  p.place(item);
  p.jump_if_less(kLine, kLines, body);
  p.jump(done);
  p.place(body);
  p.element(kItem, kLine);
  p.add(kStock, kWarehouse, kItem);
  p.shift(kStock, kStock, kStockPartBits);
  p.get(kStockSlot, kStock, kRowB);
  p.load(kNumber, kRowB, kQuantity);
  p.add(kLine, kLine, kOne);
  p.jump_if_less(kNumber, kOther, high);
  p.jump(item);
  p.place(high);
  p.add(kTotal, kTotal, kOne);
  p.jump(item);
  p.place(done);
  p.result(kTotal);
  p.end();
  return p;
}

}  // namespace

void add_procedures(ScriptBuilder& script) {
  constexpr uint32_t kLinesTop = static_cast<uint32_t>(kLinesMax);
  constexpr uint32_t kDistrictsTop = static_cast<uint32_t>(kDistricts);
  constexpr uint32_t kScanned = kOrdersLooked * kLinesTop;
  constexpr uint32_t kNamesakes = 128;  // more than any last name of a district has by chance
  constexpr uint32_t kDataPartsTop = static_cast<uint32_t>(kDataParts);
  const auto add = [&](Transaction number, const ProcedureBuilder& code,
                       const ProcedureLimits& limits) {
    KEYDROME_CHECK(script.add_procedure(code, limits) == static_cast<uint32_t>(number));
  };
  add(Transaction::kNewOrder, new_order(),
      {.parameters = kNewParameters + kLineParameters * kLinesTop,
       .tags = 4 + 2 * kLinesTop,
       .calls = 8 + 6 * kLinesTop});
  add(Transaction::kPayment, payment(),
      {.parameters = kPayParameters, .tags = 4 + kDataPartsTop, .calls = 40 + kNamesakes});
  add(Transaction::kOrderStatus, order_status(),
      {.parameters = 4, .tags = 0, .calls = 24 + kNamesakes});
  add(Transaction::kDelivery, delivery(),
      {.parameters = kDeliverParameters,
       .tags = kDistrictsTop * (2 + kLinesTop),
       .calls = kDistrictsTop * (9 + 3 * kLinesTop)});
  add(Transaction::kStockLevel, stock_level(),
      {.parameters = kLevelParameters, .tags = 0, .calls = 3 + 2 * kScanned});
}

}  // namespace keydrome::tpcc

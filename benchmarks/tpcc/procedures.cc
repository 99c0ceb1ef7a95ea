// TPC-C's transactions as procedures: instruction lists for the process that calls the library.
#include "benchmarks/tpcc/procedures.h"

#include <initializer_list>

#include "benchmarks/kit/script/procedure_helpers.h"
#include "benchmarks/tpcc/keys.h"
#include "benchmarks/tpcc/rows.h"
#include "benchmarks/tpcc/tables.h"

namespace keydrome::tpcc {
namespace {

using script::ProcedureBuilder;
using Label = ProcedureBuilder::Label;

// The registers (variables of a procedure). No transaction uses all. The names at the end are
// second names of registers that one transaction uses for another purpose.
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
  kRegistersUsed,
  // NewOrder
  kOrderText = kHistory,
  kNumberText = kHead,
  kByCustomer = kOther,
  kUnusedItem = kTotal,
  // Payment
  kHeadText = kHead,
  kPartKey = kOther,
  kToWarehouse = kSupplier,
  kToDistrict = kDist,
  kOfWarehouse = kStock,
  kOfDistrict = kItem,
  // Delivery
  kCarrier = kText,
  kLastDistrict = kOther,
  // StockLevel
  kThreshold = kOther,
};
static_assert(kRegistersUsed <= format::kRegisters);

constexpr uint8_t kRowA = 0, kRowB = 1, kRowC = 2, kRowD = 3, kFirstChunkRow = 4, kHeadRow = 10;
static_assert(kFirstChunkRow + kDataParts <= kHeadRow && kHeadRow < format::kRows);

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

ProcedureBuilder start(std::initializer_list<uint8_t> parameters) {
  ProcedureBuilder p;
  script::set_zero_and_one(p, kZero, kOne);
  script::take_parameters(p, parameters);
  return p;
}

// Sets register `to` to `from` + number.
void add_number(ProcedureBuilder& p, uint8_t to, uint8_t from, int32_t number) {
  p.set(kScratch, number);
  p.add(to, from, kScratch);
}

void add_to_field(ProcedureBuilder& p, uint8_t row, format::Field field, uint8_t amount) {
  script::add_to_field(p, row, field, amount, kScratch);
}

// Reads a record into `row`, adds `amount` to a field and writes the record back.
void add_to_record(ProcedureBuilder& p, uint8_t slot, uint8_t key, uint8_t row, format::Field field,
                   uint8_t amount) {
  p.get(slot, key, row);
  add_to_field(p, row, field, amount);
  p.replace(slot, key, row);
}

// Sets kKey to customer_key(kDistrict, kCustomer, part 0).
void make_customer_key(ProcedureBuilder& p) {
  p.shift(kKey, kDistrict, kCustomerBits);
  p.add(kKey, kKey, kCustomer);
  p.shift(kKey, kKey, kCustomerPartBits);
}

// Sets kKey to order_key(kDistrict, kNumber).
void make_order_key(ProcedureBuilder& p) {
  p.shift(kKey, kDistrict, kOrderBits);
  p.add(kKey, kKey, kNumber);
}

// Shifts both ends of the key range [kFrom, kEnd) left by `bits` bits.
void shift_range(ProcedureBuilder& p, int32_t bits) {
  p.shift(kFrom, kFrom, bits);
  p.shift(kEnd, kEnd, bits);
}

// Sets kCustomer to the middle one of the n customers with a name in [kFrom, kEnd): customer n / 2,
// rounded up and counted from 1 (clause 2.5.2.2). If n is 0, the transaction must not commit.
void find_customer_by_name(ProcedureBuilder& p) {
  const Label found = p.label();
  p.scan(kNameSlot, kFrom, kEnd, kNameCustomer);
  p.count(kNumber);
  p.jump_if_less(kZero, kNumber, found);
  p.unfit();
  p.place(found);
  p.subtract(kNumber, kNumber, kOne);
  p.divide(kNumber, kNumber, 2);
  p.element(kCustomer, kNumber);
}

// Reads the CustomerParameters. Sets kKey to the customer's key, part 0.
void find_customer(ProcedureBuilder& p) {
  const Label known = p.label();
  script::take_parameters(p, {kDistrict, kCustomer, kFrom, kEnd});
  p.jump_if_less(kZero, kCustomer, known);
  find_customer_by_name(p);
  p.place(known);
  make_customer_key(p);
}

// Subtracts kOrdered from the quantity in stock record `row`. First adds 91 if fewer than 10 would
// remain (clause 2.4.2.2).
void take_from_stock(ProcedureBuilder& p, uint8_t row) {
  const Label low = p.label(), done = p.label();
  p.load(kNumber, row, kQuantity);
  p.set(kScratch, 10);
  p.add(kScratch, kScratch, kOrdered);
  p.jump_if_less(kNumber, kScratch, low);
  p.subtract(kNumber, kNumber, kOrdered);
  p.jump(done);
  p.place(low);
  add_number(p, kNumber, kNumber, 91);
  p.subtract(kNumber, kNumber, kOrdered);
  p.place(done);
  p.store(row, kQuantity, kNumber);
  add_to_field(p, row, kStockYtd, kOrdered);
  add_to_field(p, row, kOrderCount, kOne);
  add_to_field(p, row, kRemoteCount, kRemote);
}

// Reads the NewOrderLineParameters and writes one line of an order. Changes kKey from the key of
// the previous line to the key of the new line.
void write_order_line(ProcedureBuilder& p) {
  constexpr uint8_t kItemRow = kRowA, kStockRow = kRowB, kDistRow = kRowC, kLineRow = kRowD;
  script::take_parameters(p, {kItem, kStock, kDist, kOrdered, kRemote, kSupplier});
  p.get(kItemSlot, kItem, kItemRow);
  p.load(kAmount, kItemRow, kPrice);
  p.multiply(kAmount, kAmount, kOrdered);
  p.get(kStockSlot, kStock, kStockRow);
  p.get(kStockSlot, kDist, kDistRow);
  take_from_stock(p, kStockRow);
  p.replace(kStockSlot, kStock, kStockRow);
  p.text(kLineRow, kText);
  p.store(kLineRow, kLineItem, kItem);
  p.store(kLineRow, kLineSupply, kSupplier);
  p.store(kLineRow, kLineQuantity, kOrdered);
  p.store(kLineRow, kLineAmount, kAmount);
  p.copy(kLineRow, kLineDist, kDistWidth, kDistRow, kDistAt);
  p.add(kKey, kKey, kOne);
  p.insert(kLineSlot, kKey, kLineRow);
}

// Sets kNumber to the next order number of the district and increases the stored number. Also reads
// the taxes and the discount, as TPC-C demands, but does not use them.
void take_order_number(ProcedureBuilder& p) {
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
}

// Inserts order kNumber into orders, new_order and customer_orders. Sets kKey to its order_key.
void insert_order(ProcedureBuilder& p) {
  make_order_key(p);
  p.text(kRowA, kOrderText);
  p.insert(kOrdersSlot, kKey, kRowA);
  p.text(kRowA, kNumberText);
  p.store(kRowA, kOrderNumber, kNumber);
  p.insert(kNewOrderSlot, kKey, kRowA);
  p.subtract(kByCustomer, kByCustomer, kNumber);
  p.insert(kByCustomerSlot, kByCustomer, kRowA);
}

ProcedureBuilder new_order() {
  ProcedureBuilder p = start({kWarehouse, kDistrict, kCustomer, kOrderText, kNumberText, kText,
                              kByCustomer, kDistAt, kLines, kUnusedItem});
  take_order_number(p);
  insert_order(p);
  p.shift(kKey, kKey, kLineBits);
  p.set(kLine, 0);
  const Label next = p.label();
  p.place(next);
  write_order_line(p);
  p.add(kLine, kLine, kOne);
  p.jump_if_less(kLine, kLines, next);
  // An order that will be rolled back requests an item that does not exist.
  const Label none = p.label();
  p.jump_if_equal(kUnusedItem, kZero, none);
  p.get(kItemSlot, kUnusedItem, kRowA, none);
  p.place(none);
  p.end();
  return p;
}

// Writes a description of the payment in front of C_DATA, which is stored in parts of at most
// kRowMax characters. The old text moves back by kDataHead characters and loses its end. kKey is
// the key of part 0 of the customer.
void prepend_to_data(ProcedureBuilder& p) {
  const auto row = [](int64_t part) { return static_cast<uint8_t>(kFirstChunkRow + part); };
  const auto make_part_key = [&](int32_t part) {
    add_number(p, kPartKey, kKey, static_cast<int32_t>(kFirstDataPart) + part);
  };
  p.text(kHeadRow, kHeadText);
  p.store(kHeadRow, kHeadCustomer, kCustomer);
  p.store(kHeadRow, kHeadCustomerDistrict, kOfDistrict);
  p.store(kHeadRow, kHeadCustomerWarehouse, kOfWarehouse);
  p.store(kHeadRow, kHeadDistrict, kToDistrict);
  p.store(kHeadRow, kHeadWarehouse, kToWarehouse);
  p.store(kHeadRow, kHeadAmount, kAmount);
  for (int32_t part = 0; part < kDataParts; ++part) {
    make_part_key(part);
    p.get(kCustomerSlot, kPartKey, row(part));
  }
  // Goes from the last part to the first, so that each part still has its old text when it is
  // copied.
  for (int32_t part = kDataParts - 1; part >= 0; --part) {
    const uint32_t size = part == kDataParts - 1 ? kLastPartBytes : uint32_t{kRowMax};
    p.copy(row(part), kDataHead, static_cast<uint8_t>(size - kDataHead), row(part), kZero);
    if (part == 0) {
      p.copy(row(part), 0, kDataHead, kHeadRow, kZero);
    } else {
      p.set(kScratch, static_cast<int32_t>(kRowMax - kDataHead));
      p.copy(row(part), 0, kDataHead, row(part - 1), kScratch);
    }
    make_part_key(part);
    p.replace(kCustomerSlot, kPartKey, row(part));
  }
}

// Writes the history record. Needs the warehouse row in kRowA and the district row in kRowB.
void write_history(ProcedureBuilder& p) {
  constexpr uint8_t kGap = 4;  // characters between the two names
  p.text(kRowD, kText);
  p.store(kRowD, kHistoryWarehouse, kOfWarehouse);
  p.store(kRowD, kHistoryDistrict, kOfDistrict);
  p.store(kRowD, kHistoryCustomer, kCustomer);
  p.store(kRowD, kHistoryTo, kToWarehouse);
  p.store(kRowD, kHistoryToDistrict, kToDistrict);
  p.store(kRowD, kHistoryDate, kDate);
  p.store(kRowD, kHistoryAmount, kAmount);
  p.copy(kRowD, kHistoryData, kPlaceNameWidth, kRowA, kZero);
  p.copy(kRowD, kHistoryData + kPlaceNameWidth + kGap, kPlaceNameWidth, kRowB, kZero);
  p.insert(kHistorySlot, kHistory, kRowD);
}

// Reads the customer with key kKey into kRowC and writes the payment to this record.
void pay(ProcedureBuilder& p) {
  p.get(kCustomerSlot, kKey, kRowC);
  script::subtract_from_field(p, kRowC, kBalance, kAmount, kScratch);
  add_to_field(p, kRowC, kYtdPayment, kAmount);
  add_to_field(p, kRowC, kPaymentCount, kOne);
  p.replace(kCustomerSlot, kKey, kRowC);
}

ProcedureBuilder payment() {
  ProcedureBuilder p = start({kWarehouse, kDistrict, kAmount});
  add_to_record(p, kWarehouseSlot, kWarehouse, kRowA, kYtd, kAmount);
  add_to_record(p, kDistrictSlot, kDistrict, kRowB, kYtd, kAmount);
  find_customer(p);
  script::take_parameters(
      p, {kHistory, kText, kHeadText, kDate, kToWarehouse, kToDistrict, kOfWarehouse, kOfDistrict});
  pay(p);
  write_history(p);
  const Label bad = p.label(), done = p.label();
  p.load(kNumber, kRowC, kCredit);
  p.set(kScratch, static_cast<int32_t>(*format::read_number(kBadCredit, {0, 2})));
  p.jump_if_equal(kNumber, kScratch, bad);
  p.jump(done);
  p.place(bad);
  prepend_to_data(p);
  p.place(done);
  p.end();
  return p;
}

// Sets kNumber to the customer's newest order. Every customer has an order, so the transaction must
// not commit if none is found.
void find_newest_order(ProcedureBuilder& p) {
  const Label found = p.label();
  p.shift(kFrom, kDistrict, kCustomerOrderBits - kOrderBits);
  p.add(kFrom, kFrom, kCustomer);
  p.add(kEnd, kFrom, kOne);
  shift_range(p, kOrderBits);
  p.scan(kByCustomerSlot, kFrom, kEnd, kOrderNumber, 1);
  p.count(kNumber);
  p.jump_if_less(kZero, kNumber, found);
  p.unfit();
  p.place(found);
  p.element(kNumber, kZero);
}

ProcedureBuilder order_status() {
  ProcedureBuilder p = start({});
  const Label complete = p.label();
  find_customer(p);
  p.get(kCustomerSlot, kKey, kRowA);
  p.load(kScratch, kRowA, kBalance);
  find_newest_order(p);
  make_order_key(p);
  p.get(kOrdersSlot, kKey, kRowB);
  p.load(kLines, kRowB, kOrderLines);
  // Reads the lines of the order: there must be as many as the order row says.
  p.add(kEnd, kKey, kOne);
  p.shift(kFrom, kKey, kLineBits);
  p.shift(kEnd, kEnd, kLineBits);
  p.scan(kLineSlot, kFrom, kEnd, kLineItem);
  p.count(kNumber);
  p.jump_if_equal(kNumber, kLines, complete);
  p.unfit();
  p.place(complete);
  p.end();
  return p;
}

// Sets the delivery date of all kLines lines of the order with key kKey. Adds up their amounts in
// kTotal.
void deliver_lines(ProcedureBuilder& p) {
  const Label line = p.label();
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
}

// Delivers the oldest new order of kDistrict, if there is one, and then adds the bit kBit to kDone.
void deliver_district(ProcedureBuilder& p) {
  const Label none = p.label();
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
  p.store(kRowA, kOrderCarrier, kCarrier);
  p.replace(kOrdersSlot, kKey, kRowA);
  deliver_lines(p);
  make_customer_key(p);
  p.get(kCustomerSlot, kKey, kRowC);
  add_to_field(p, kRowC, kBalance, kTotal);
  add_to_field(p, kRowC, kDeliveryCount, kOne);
  p.replace(kCustomerSlot, kKey, kRowC);
  p.add(kDone, kDone, kBit);
  p.place(none);
}

// Delivers in all districts. The result has a bit for each delivered order: bit 0 is district 1.
ProcedureBuilder delivery() {
  ProcedureBuilder p = start({kWarehouse, kCarrier, kDate});
  const Label next = p.label();
  p.set(kDone, 0);
  p.set(kBit, 1);
  add_number(p, kLastDistrict, kWarehouse, static_cast<int32_t>(kDistricts));
  p.add(kDistrict, kWarehouse, kZero);
  p.place(next);
  p.add(kDistrict, kDistrict, kOne);
  deliver_district(p);
  p.add(kBit, kBit, kBit);
  p.jump_if_less(kDistrict, kLastDistrict, next);
  p.result(kDone);
  p.end();
  return p;
}

// Reads the items of the newest kOrdersLooked orders of the district into the list, each item once.
void list_recent_items(ProcedureBuilder& p) {
  const Label positive = p.label();
  p.get(kDistrictSlot, kDistrict, kRowA);
  p.load(kNumber, kRowA, kNextOrder);
  p.set(kScratch, kOrdersLooked);
  p.subtract(kFrom, kNumber, kScratch);
  p.jump_if_less(kZero, kFrom, positive);
  p.set(kFrom, 1);
  p.place(positive);
  p.shift(kKey, kDistrict, kOrderBits);
  p.add(kFrom, kKey, kFrom);
  p.add(kEnd, kKey, kNumber);
  shift_range(p, kLineBits);
  p.scan(kLineSlot, kFrom, kEnd, kLineItem);
  p.sort();
}

// The result is the number of items in the list that have fewer than kThreshold pieces in stock.
ProcedureBuilder stock_level() {
  ProcedureBuilder p = start({kDistrict, kWarehouse, kThreshold});
  const Label item = p.label(), body = p.label(), low = p.label(), done = p.label();
  list_recent_items(p);
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
  p.jump_if_less(kNumber, kThreshold, low);
  p.jump(item);
  p.place(low);
  p.add(kTotal, kTotal, kOne);
  p.jump(item);
  p.place(done);
  p.result(kTotal);
  p.end();
  return p;
}

}  // namespace

void add_procedures(script::ScriptBuilder& builder) {
  constexpr uint32_t kLinesTop = static_cast<uint32_t>(kLinesMax);
  constexpr uint32_t kDistrictsTop = static_cast<uint32_t>(kDistricts);
  constexpr uint32_t kScanned = kOrdersLooked * kLinesTop;
  constexpr uint32_t kNamesakes = 128;  // room for this many customers with the same last name
  constexpr uint32_t kDataPartsTop = static_cast<uint32_t>(kDataParts);
  const auto add = [&](Transaction number, const ProcedureBuilder& code,
                       const script::ProcedureLimits& limits) {
    script::add_numbered_procedure(builder, static_cast<uint32_t>(number), code, limits);
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

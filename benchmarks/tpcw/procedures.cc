// Implements the interactions (pages) of TPC-W as procedures, because their later calls depend on
// the results of earlier ones. A procedure is a list of instructions that the player, the process
// that calls the library, executes.
#include "benchmarks/tpcw/procedures.h"

#include <initializer_list>

#include "benchmarks/kit/script/procedure_helpers.h"
#include "benchmarks/tpcw/tables.h"

namespace keydrome::tpcw {
namespace {

using script::ProcedureBuilder;

// The number of orders whose lines one scan reads. The list of numbers that a procedure can store
// must have room for all these lines.
constexpr int32_t kChunk = 200;
static_assert(kChunk * kLinesMax < format::kListMax);

enum Register : uint8_t {
  kZero,
  kOne,
  kItem,
  kCustomer,
  kName,
  kFrom,
  kEnd,
  kKey,
  kUntil,
  kNumber,
  kCount,
  kAt,
  kScratch,
  kBase,
  kBook,
  kQuantity,
  kMoney,
  kSum,
  kText,
  kLineText,
  kByCustomer,
  kLineAt,
  kPercent,
  kShown,
  kRegistersUsed
};
static_assert(kRegistersUsed <= format::kRegisters);

enum RowNumber : uint8_t { kItemRow, kCustomerRow, kOtherRow, kNewRow };

using Label = ProcedureBuilder::Label;

ProcedureBuilder start(std::initializer_list<uint8_t> parameters) {
  ProcedureBuilder p;
  script::set_zero_and_one(p, kZero, kOne);
  script::take_parameters(p, parameters);
  return p;
}

// Reads an item and its related items.
void promotion(ProcedureBuilder& p) {
  p.get(kItems, kItem, kItemRow);
  for (uint32_t i = 0; i < kRelatedItems; ++i) {
    p.load(kNumber, kItemRow, related_item(i));
    p.get(kItems, kNumber, kOtherRow);
  }
}

// Sets kCustomer to the number of the customer with name kName. Reads the customer's row into
// kCustomerRow.
void look_up(ProcedureBuilder& p) {
  p.get(kCustomerNames, kName, kOtherRow);
  p.load(kCustomer, kOtherRow, kCustomerNumber);
  p.get(kCustomers, kCustomer, kCustomerRow);
}

void read_address(ProcedureBuilder& p, uint8_t row, format::Field field) {
  p.load(kNumber, row, field);
  p.get(kAddresses, kNumber, kOtherRow);
}

ProcedureBuilder home() {
  ProcedureBuilder p = start({kCustomer, kItem});
  p.get(kCustomers, kCustomer, kCustomerRow);
  promotion(p);
  p.end();
  return p;
}

ProcedureBuilder promotion_alone() {
  ProcedureBuilder p = start({kItem});
  promotion(p);
  p.end();
  return p;
}

ProcedureBuilder list(Table table) {
  ProcedureBuilder p = start({kFrom, kEnd});
  p.scan(table, kFrom, kEnd, kItemNumber, kPage);
  p.end();
  return p;
}

ProcedureBuilder product_detail() {
  ProcedureBuilder p = start({kItem});
  p.get(kItems, kItem, kItemRow);
  p.load(kNumber, kItemRow, kAuthor);
  p.get(kAuthors, kNumber, kOtherRow);
  p.end();
  return p;
}

// Reads the lines of the newest orders, and the items of the first kPage lines. Reads the lines in
// chunks of kChunk orders, because the procedure's list is too short for all lines.
ProcedureBuilder best_sellers() {
  ProcedureBuilder p = start({kSum});
  const Label chunk = p.label(), whole = p.label(), show = p.label(), shown = p.label();
  p.set(kUntil, 1);
  p.shift(kUntil, kUntil, kOrderBits);
  p.scan(kOrders, kZero, kUntil, kOrderNumber, 1);
  p.element(kNumber, kZero);
  p.subtract(kFrom, kUntil, kOne);
  p.subtract(kFrom, kFrom, kNumber);
  p.add(kUntil, kFrom, kSum);
  p.set(kShown, 0);
  p.place(chunk);
  p.set(kScratch, kChunk);
  p.add(kEnd, kFrom, kScratch);
  p.jump_if_less(kEnd, kUntil, whole);
  p.add(kEnd, kUntil, kZero);
  p.place(whole);
  p.shift(kKey, kFrom, kLineBits);
  p.shift(kScratch, kEnd, kLineBits);
  p.scan(kOrderLines, kKey, kScratch, kLineItem);
  p.count(kCount);
  p.set(kAt, 0);
  p.set(kScratch, kPage);
  p.place(show);
  p.jump_if_equal(kAt, kCount, shown);
  p.jump_if_equal(kShown, kScratch, shown);
  p.element(kItem, kAt);
  p.get(kItems, kItem, kItemRow);
  p.add(kAt, kAt, kOne);
  p.add(kShown, kShown, kOne);
  p.jump(show);
  p.place(shown);
  p.add(kFrom, kEnd, kZero);
  p.jump_if_less(kFrom, kUntil, chunk);
  p.end();
  return p;
}

ProcedureBuilder look_up_alone() {
  ProcedureBuilder p = start({kName});
  look_up(p);
  p.end();
  return p;
}

ProcedureBuilder register_customer() {
  ProcedureBuilder p = start({});
  for (const Table table : {kCustomerNames, kCustomers, kAddresses}) {
    script::take_parameters(p, {kKey, kText});
    p.text(kNewRow, kText);
    p.insert(table, kKey, kNewRow);
  }
  p.end();
  return p;
}

ProcedureBuilder start_with_cart() { return start({kFrom, kEnd, kText, kBook, kQuantity}); }

// Sets kKey to the cart key of item kBook, and kNewRow to the row of the cart line.
void put_into_cart(ProcedureBuilder& p) {
  p.add(kKey, kFrom, kBook);
  p.text(kNewRow, kText);
  p.store(kNewRow, kCartItem, kBook);
  p.store(kNewRow, kCartQuantity, kQuantity);
}

// For each cart line in the list: sets kItem and kQuantity, reads the item into kItemRow, and then
// runs the instructions that `visit` appends.
template <typename Visit>
void for_each_line(ProcedureBuilder& p, Visit&& visit) {
  const Label line = p.label();
  p.count(kCount);
  p.set(kAt, 0);
  p.set(kBase, static_cast<int32_t>(format::kDigitBase));
  p.place(line);
  p.element(kBook, kAt);
  p.divide(kItem, kBook, static_cast<int32_t>(format::kDigitBase));
  p.multiply(kScratch, kItem, kBase);
  p.subtract(kQuantity, kBook, kScratch);
  p.get(kItems, kItem, kItemRow);
  visit();
  p.add(kAt, kAt, kOne);
  p.jump_if_less(kAt, kCount, line);
}

void scan_cart(ProcedureBuilder& p) {
  p.scan(kCarts, kFrom, kEnd, kCartLine, static_cast<uint8_t>(kLinesMax));
}

ProcedureBuilder cart() {
  ProcedureBuilder p = start_with_cart();
  const Label is_new = p.label();
  put_into_cart(p);
  p.get(kCarts, kKey, kOtherRow, is_new);
  p.remove(kCarts, kKey);
  p.place(is_new);
  p.insert(kCarts, kKey, kNewRow);
  scan_cart(p);
  for_each_line(p, [] {});
  p.end();
  return p;
}

// Reads the cart into the list. Adds an item first if the cart is empty.
void fill_cart(ProcedureBuilder& p) {
  const Label filled = p.label();
  scan_cart(p);
  p.count(kCount);
  p.jump_if_less(kZero, kCount, filled);
  put_into_cart(p);
  p.insert(kCarts, kKey, kNewRow);
  scan_cart(p);
  p.place(filled);
}

ProcedureBuilder buy_request() {
  ProcedureBuilder p = start_with_cart();
  p.parameter(kName);
  look_up(p);
  script::add_to_field(p, kCustomerRow, kLogins, kOne, kNumber);
  p.replace(kCustomers, kCustomer, kCustomerRow);
  read_address(p, kCustomerRow, kAddress);
  fill_cart(p);
  for_each_line(p, [] {});
  p.end();
  return p;
}

// Moves one line from the cart to the order, and takes the quantity from the stock.
void buy_line(ProcedureBuilder& p) {
  const Label enough = p.label();
  p.load(kNumber, kItemRow, kStock);
  p.subtract(kNumber, kNumber, kQuantity);
  p.set(kScratch, static_cast<int32_t>(kStockMin - 1));
  p.jump_if_less(kScratch, kNumber, enough);
  p.set(kScratch, static_cast<int32_t>(kRestock));
  p.add(kNumber, kNumber, kScratch);
  p.place(enough);
  p.store(kItemRow, kStock, kNumber);
  p.replace(kItems, kItem, kItemRow);
  p.load(kMoney, kItemRow, kPrice);
  p.multiply(kMoney, kMoney, kQuantity);
  p.add(kSum, kSum, kMoney);
  p.text(kNewRow, kLineText);
  p.store(kNewRow, kLineItem, kItem);
  p.store(kNewRow, kLineQuantity, kQuantity);
  p.store(kNewRow, kAmount, kMoney);
  p.add(kLineAt, kLineAt, kOne);
  p.insert(kOrderLines, kLineAt, kNewRow);
  p.add(kScratch, kFrom, kItem);
  p.remove(kCarts, kScratch);
}

// Subtracts the discount of the customer in kCustomerRow from kSum.
void discounted(ProcedureBuilder& p) {
  p.load(kPercent, kCustomerRow, kDiscount);
  p.set(kScratch, 100);
  p.subtract(kPercent, kScratch, kPercent);
  p.multiply(kSum, kSum, kPercent);
  p.divide(kSum, kSum, 100);
}

ProcedureBuilder buy_confirm() {
  ProcedureBuilder p = start_with_cart();
  p.parameter(kCustomer);
  p.get(kCustomers, kCustomer, kCustomerRow);
  fill_cart(p);
  script::take_parameters(p, {kName, kKey, kByCustomer, kText, kShown, kLineText});
  p.shift(kLineAt, kKey, kLineBits);
  p.set(kSum, 0);
  for_each_line(p, [&] { buy_line(p); });
  discounted(p);
  p.text(kNewRow, kText);
  p.store(kNewRow, kOrderNumber, kName);
  p.store(kNewRow, kLines, kCount);
  p.store(kNewRow, kOrderCustomer, kCustomer);
  p.load(kNumber, kCustomerRow, kAddress);
  p.store(kNewRow, kOrderAddress, kNumber);
  p.store(kNewRow, kTotal, kSum);
  p.insert(kOrders, kKey, kNewRow);
  p.text(kNewRow, kShown);
  p.store(kNewRow, kOrderNumber, kName);
  p.insert(kCustomerOrders, kByCustomer, kNewRow);
  p.end();
  return p;
}

// Reads the customer's newest order, if there is one. The order must have all its lines, and their
// sum minus the discount must equal its total. Otherwise the transaction is unfit: it must not
// commit.
ProcedureBuilder order_display() {
  ProcedureBuilder p = start({kName});
  const Label ordered = p.label(), line = p.label(), wrong = p.label(), right = p.label();
  look_up(p);
  p.shift(kFrom, kCustomer, kOrderBits);
  p.add(kEnd, kCustomer, kOne);
  p.shift(kEnd, kEnd, kOrderBits);
  p.scan(kCustomerOrders, kFrom, kEnd, kOrderNumber, 1);
  p.count(kCount);
  p.jump_if_less(kZero, kCount, ordered);
  p.end();
  p.place(ordered);
  p.element(kNumber, kZero);
  p.shift(kKey, kOne, kOrderBits);
  p.subtract(kKey, kKey, kOne);
  p.subtract(kKey, kKey, kNumber);
  p.get(kOrders, kKey, kItemRow);
  p.load(kUntil, kItemRow, kLines);
  p.load(kMoney, kItemRow, kTotal);
  read_address(p, kItemRow, kOrderAddress);
  p.shift(kFrom, kKey, kLineBits);
  p.add(kEnd, kKey, kOne);
  p.shift(kEnd, kEnd, kLineBits);
  p.scan(kOrderLines, kFrom, kEnd, kAmount, static_cast<uint8_t>(kLinesMax + 1));
  p.count(kCount);
  p.jump_if_less(kCount, kUntil, wrong);
  p.set(kSum, 0);
  p.set(kAt, 0);
  p.place(line);
  p.element(kScratch, kAt);
  p.add(kSum, kSum, kScratch);
  p.add(kAt, kAt, kOne);
  p.jump_if_less(kAt, kCount, line);
  discounted(p);
  p.jump_if_equal(kSum, kMoney, right);
  p.place(wrong);
  p.unfit();
  p.place(right);
  p.end();
  return p;
}

// Gives an item a new price and date. The date moves the item among the new products. The items
// that were bought last become the item's related items.
ProcedureBuilder admin_confirm() {
  ProcedureBuilder p = start({kItem, kMoney, kUntil});
  const auto place_key = [&] {
    p.load(kKey, kItemRow, kSubject);
    p.shift(kKey, kKey, kDateBits);
    p.add(kKey, kKey, kBase);
    p.load(kNumber, kItemRow, kDate);
    p.subtract(kKey, kKey, kNumber);
    p.shift(kKey, kKey, kItemBits);
    p.add(kKey, kKey, kItem);
  };
  p.set(kBase, static_cast<int32_t>(kLastDate));
  p.get(kItems, kItem, kItemRow);
  place_key();
  p.get(kSubjects, kKey, kOtherRow);
  p.remove(kSubjects, kKey);
  p.store(kItemRow, kPrice, kMoney);
  p.store(kItemRow, kDate, kUntil);
  place_key();
  p.insert(kSubjects, kKey, kOtherRow);
  p.set(kEnd, 1);
  p.shift(kEnd, kEnd, kOrderBits + kLineBits);
  p.scan(kOrderLines, kZero, kEnd, kLineItem, static_cast<uint8_t>(kRelatedItems));
  p.set(kAt, 0);
  for (uint32_t i = 0; i < kRelatedItems; ++i) {
    p.element(kNumber, kAt);
    p.store(kItemRow, related_item(i), kNumber);
    p.add(kAt, kAt, kOne);
  }
  p.replace(kItems, kItem, kItemRow);
  p.end();
  return p;
}

}  // namespace

void add_procedures(script::ScriptBuilder& builder, uint32_t newest_orders) {
  constexpr auto kCartLines = static_cast<uint32_t>(kLinesMax);
  const uint32_t chunks = newest_orders / kChunk + 1;
  // The calls that scan the cart and read its items.
  const uint32_t shown_cart = kCartLines + 1 + kCartLines;
  const uint32_t filled_cart = 3 + shown_cart;
  const auto add = [&](Procedure number, const ProcedureBuilder& code,
                       const script::ProcedureLimits& limits) {
    script::add_numbered_procedure(builder, number, code, limits);
  };
  add(kHome, home(), {.parameters = 2, .calls = 2 + kRelatedItems});
  add(kNewProducts, list(kSubjects), {.parameters = 2, .calls = kPage + 1});
  add(kBestSellers, best_sellers(),
      {.parameters = 1, .calls = 2 + chunks * 2 + newest_orders * kCartLines + kPage});
  add(kProductDetail, product_detail(), {.parameters = 1, .calls = 2});
  add(kPromotion, promotion_alone(), {.parameters = 1, .calls = 1 + kRelatedItems});
  add(kSearchTitle, list(kTitles), {.parameters = 2, .calls = kPage + 1});
  add(kLookUp, look_up_alone(), {.parameters = 1, .calls = 2});
  add(kRegister, register_customer(), {.parameters = kRegisterParameters, .tags = 3, .calls = 3});
  add(kCart, cart(), {.parameters = kCartParameters, .tags = 1, .calls = 3 + shown_cart});
  add(kBuyRequest, buy_request(),
      {.parameters = kCartParameters + 1, .tags = 2, .calls = 5 + 2 * filled_cart});
  add(kBuyConfirm, buy_confirm(),
      {.parameters = kConfirmParameters,
       .tags = 3 + 2 * kCartLines,
       .calls = 3 + 2 * filled_cart + 4 * kCartLines});
  add(kOrderDisplay, order_display(), {.parameters = 1, .calls = 8 + kCartLines});
  add(kAdminConfirm, admin_confirm(),
      {.parameters = kAdminParameters, .tags = 2, .calls = 7 + kRelatedItems});
}

}  // namespace keydrome::tpcw

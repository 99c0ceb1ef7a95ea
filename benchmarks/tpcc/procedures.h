// Declares the five transactions of TPC-C with their parameters. Each is a procedure, a list of
// instructions that the player (the process that calls the library) executes, because later calls
// depend on earlier reads (kit/format/procedure.h).
#pragma once

#include <cstdint>
#include <string_view>

#include "benchmarks/kit/script/script_builder.h"

namespace keydrome::tpcc {

// A transaction's number is also the number of its procedure and of its transaction class, by which
// the report groups latencies.
enum class Transaction : uint8_t { kNewOrder, kPayment, kOrderStatus, kDelivery, kStockLevel };
inline constexpr uint32_t kTransactions = 5;

// The following lists give the parameters in their order. A text or string is given by its number
// in the script's lists (pools). A blank text is a row whose fields the procedure fills in.

// Parameters of NewOrder. The NewOrderLineParameters of each line follow. An order that will be
// rolled back requests an unused item instead of its last line.
enum NewOrderParameter : uint32_t {
  kNewWarehouse,   // w
  kNewDistrict,    // district_key
  kNewCustomer,    // customer_key, part 0
  kNewOrderText,   // text of the complete order row
  kNewNumberText,  // blank text for new_order and customer_orders
  kNewLineText,    // blank text of a line
  kNewByCustomer,  // order_by_customer_key for order 0
  kNewDistAt,      // dist_at(district number)
  kNewLines,       // number of lines that follow
  kNewUnused,      // number of the unused item; 0 for a normal order
  kNewParameters
};
enum NewOrderLineParameter : uint32_t {
  kLineItemNumber,
  kLineStock,     // stock_key, part 0
  kLineDistPart,  // stock_key of the part that has the S_DIST of this district
  kLineOrdered,   // quantity
  kLineRemote,    // 1 if another warehouse supplies the line
  kLineSupplier,  // warehouse that supplies the line
  kLineParameters
};

// Chooses a customer by number. If `customer` is 0, chooses the middle customer of those with names
// in [from, end).
struct CustomerParameters {
  int64_t district = 0, customer = 0, from = 0, end = 0;
};

enum PaymentParameter : uint32_t {
  kPayWarehouse,
  kPayDistrict,  // district_key
  kPayAmount,
  kPayCustomerDistrict,  // this and the next three: CustomerParameters
  kPayCustomer,
  kPayFrom,
  kPayEnd,
  kPayHistory,      // history_key
  kPayHistoryText,  // blank text, with dots between the two names
  kPayHeadText,     // blank text for the head of C_DATA
  kPayDate,
  kPayToWarehouse,  // this and the next three: plain numbers, for the fields of rows
  kPayToDistrict,
  kPayOfWarehouse,
  kPayOfDistrict,
  kPayParameters
};

enum DeliveryParameter : uint32_t {
  kDeliverWarehouse,  // district_key(w, 0)
  kDeliverCarrier,
  kDeliverDate,
  kDeliverParameters
};

enum StockLevelParameter : uint32_t {
  kLevelDistrict,   // district_key
  kLevelWarehouse,  // stock_key(w, 0, 0) without the part's bits
  kLevelThreshold,
  kLevelParameters
};

inline constexpr std::string_view kBadCredit = "BC";
inline constexpr int32_t kOrdersLooked = 20;  // orders whose lines StockLevel reads

// Adds the five procedures, numbered as in Transaction.
void add_procedures(script::ScriptBuilder& builder);

}  // namespace keydrome::tpcc

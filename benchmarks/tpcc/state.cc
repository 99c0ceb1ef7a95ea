// Implements read_state(), which gets the tables of the benchmark "tpcc" from the results of a scan
// of all records: parses each record into a row of its table.
#include "benchmarks/tpcc/state.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/count_text.h"
#include "benchmarks/kit/judge/evidence.h"
#include "benchmarks/kit/judge/keys/key_ranks.h"
#include "benchmarks/tpcc/keys.h"
#include "benchmarks/tpcc/rows.h"

namespace keydrome::tpcc {
namespace {

constexpr int64_t low_bits(int64_t key, int32_t bits) { return key & ((int64_t{1} << bits) - 1); }

// Reads the fields of one record. fits() returns false after a requested field was missing or was
// not a number.
class Reader {
 public:
  Reader(const script::Evidence& record, KeyType type) : text_(record.payload) {
    text_.remove_prefix(std::min<std::size_t>(format::kTagBytes, text_.size()));
    if (type == VARCHAR) {
      name_ = record.key;
    } else if (type == SHORT) {
      int32_t key = 0;
      std::memcpy(&key, record.key.data(), std::min(sizeof key, record.key.size()));
      key_ = key;
    } else {
      std::memcpy(&key_, record.key.data(), std::min(sizeof key_, record.key.size()));
    }
  }

  bool is_stripe(KeyType type) const { return type == VARCHAR ? name_.starts_with('!') : key_ < 0; }
  int64_t key() const { return key_; }
  std::string_view name() const { return name_; }
  bool fits() const { return fits_; }

  int64_t number(format::Field field) {
    const std::optional<int64_t> number = format::read_number(text_, field);
    if (!number) fits_ = false;
    return number.value_or(0);
  }

  // Returns a text field without its padding.
  std::string_view text(std::size_t at, std::size_t width) {
    if (at + width > text_.size()) {
      fits_ = false;
      return {};
    }
    const std::string_view padded = text_.substr(at, width);
    return padded.substr(0, padded.find_last_not_of(kPadding) + 1);
  }

 private:
  std::string_view text_, name_;
  int64_t key_ = 0;
  bool fits_ = true;
};

void add_customer(Reader& row, State& to) {
  if (low_bits(row.key(), kCustomerPartBits) != 0) return;
  const int64_t id = row.key() >> kCustomerPartBits;
  const int64_t district = id >> kCustomerBits, c = low_bits(id, kCustomerBits);
  to.customers.push_back(
      {.district = district,
       .c = c,
       .balance = row.number(kBalance),
       .ytd_payment = row.number(kYtdPayment),
       .payments = row.number(kPaymentCount),
       .deliveries = row.number(kDeliveryCount),
       .name_key = name_key(district >> 4, low_bits(district, 4), row.text(kLastAt, kNameWidth),
                            row.text(kFirstAt, kNameWidth), c)});
}

void add_order_row(Table table, Reader& row, State& to) {
  const int64_t key = row.key();
  switch (table) {
    case Table::kOrders:
      to.orders.push_back({.district = key >> kOrderBits,
                           .o = low_bits(key, kOrderBits),
                           .c = row.number(kOrderCustomer),
                           .carrier = row.number(kOrderCarrier),
                           .lines = row.number(kOrderLines)});
      return;
    case Table::kOrderByCustomer:
      to.by_customer.push_back({.district = key >> kCustomerOrderBits,
                                .c = low_bits(key >> kOrderBits, kCustomerOrderBits - kOrderBits),
                                .o = row.number(kOrderNumber),
                                .key_o = kNewestOrder - low_bits(key, kOrderBits)});
      return;
    case Table::kNewOrder:
      to.new_orders.push_back({.district = key >> kOrderBits,
                               .c = 0,
                               .o = row.number(kOrderNumber),
                               .key_o = low_bits(key, kOrderBits)});
      return;
    default:
      to.lines.push_back({.order = key >> kLineBits,
                          .number = low_bits(key, kLineBits),
                          .delivery = row.number(kLineDelivery),
                          .quantity = row.number(kLineQuantity),
                          .amount = row.number(kLineAmount)});
  }
}

void add_row(Table table, Reader& row, State& to) {
  switch (table) {
    case Table::kWarehouse:
      to.warehouses.push_back({.w = row.key(), .ytd = row.number(kYtd)});
      return;
    case Table::kDistrict:
      to.districts.push_back(
          {.district = row.key(), .ytd = row.number(kYtd), .next_order = row.number(kNextOrder)});
      return;
    case Table::kCustomer:
      return add_customer(row, to);
    case Table::kCustomerName:
      to.names.push_back({.key = std::string(row.name()), .c = row.number(kNameCustomer)});
      return;
    case Table::kHistory:
      to.history.push_back(
          {.to_district = district_key(row.number(kHistoryTo), row.number(kHistoryToDistrict)),
           .of_district = district_key(row.number(kHistoryWarehouse), row.number(kHistoryDistrict)),
           .c = row.number(kHistoryCustomer),
           .amount = row.number(kHistoryAmount)});
      return;
    case Table::kItem:
      row.number(kPrice);
      return;
    case Table::kStock:
      if (low_bits(row.key(), kStockPartBits) != 0) return;
      to.stock.push_back({.key = row.key(),
                          .ytd = row.number(kStockYtd),
                          .orders = row.number(kOrderCount),
                          .remotes = row.number(kRemoteCount)});
      return;
    default:
      add_order_row(table, row, to);
  }
}

}  // namespace

State read_state(const script::Script& script, const script::PhaseOutcome& outcome,
                 uint32_t phase) {
  State state;
  for (std::size_t t = 0; t < outcome.threads.size(); ++t) {
    const std::vector<format::Op>& ops = script.phases[phase].threads[t];
    std::size_t at = 0;
    uint32_t index = 0;
    judge::for_each_evidence(ops, outcome.threads[t], [&](const format::Step& step, auto records) {
      for (; at <= step.op; ++at) {
        if (ops[at].code == format::OpCode::kOpen) index = ops[at].argument;
      }
      for (const script::Evidence& record : records) {
        if (record.code != SUCCESS) continue;
        Reader row(record, kTables[index].type);
        if (row.is_stripe(kTables[index].type)) continue;
        ++state.records[index];
        add_row(static_cast<Table>(index), row, state);
        if (row.fits() || state.malformed++ > 0) continue;
        state.first_malformed = "in the table " + std::string(kTables[index].name) +
                                ", under key " +
                                judge::KeyRanks::text_of(kTables[index].type, record.key) +
                                ", with a payload of " + count_text(record.payload.size(), "byte");
      }
    });
  }
  return state;
}

}  // namespace keydrome::tpcc

// Implements Population, which loads the tables of TPC-C. With n threads, thread t loads the items
// and warehouses t + 1, t + 1 + n, t + 1 + 2n and so on.
#include "benchmarks/tpcc/population.h"

#include <numeric>
#include <utility>

#include "benchmarks/kit/workload/random_text.h"
#include "benchmarks/tpcc/keys.h"
#include "benchmarks/tpcc/procedures.h"
#include "benchmarks/tpcc/rows.h"

namespace keydrome::tpcc {
namespace {

constexpr uint32_t kTexts = 512;
constexpr uint32_t kInsertsPerOpen = 100;
// A thread inserts one stripe record after this many inserts. Only one thread uses a stripe record,
// so the judge knows the right result of every read of it.
constexpr uint32_t kStripeEvery = 1000;
constexpr int64_t kCents = 100;
constexpr int64_t kTaxMax = 2000, kDiscountMax = 5000, kPriceMin = 100, kPriceMax = 10'000;
constexpr int64_t kCreditLimitCents = 50'000 * kCents;
constexpr int64_t kBadCreditPercent = 10, kOriginalPercent = 10;

const workload::Alphabet& alphanumeric() {
  static const workload::Alphabet characters(
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
  return characters;
}

void put(std::string& row, format::Field field, int64_t number) {
  KEYDROME_CHECK(field.holds(number) && field.at + field.width <= row.size());
  format::write_number(row.data(), field, number);
}

// Returns S_DATA or I_DATA. One text in ten contains "ORIGINAL" at a random position.
std::string data_text(workload::Rng& rng) {
  std::string text = random_text(rng, 26, 50);
  if (rng.below(100) < kOriginalPercent) text.replace(rng.below(18), 8, "ORIGINAL");
  return text;
}

// Returns two streets, city, state, and the first half of the zip code.
std::string address(workload::Rng& rng) {
  std::string text;
  for (const auto& [low, high] : {std::pair{10, 20}, {10, 20}, {10, 20}, {2, 2}, {4, 4}}) {
    text += random_text(rng, low, high);
  }
  return text;
}

// Returns the name and address of a warehouse or district.
std::string name_and_address(workload::Rng& rng, std::size_t bytes) {
  std::string row = random_text(rng, 6, kPlaceNameWidth);
  row += address(rng);
  KEYDROME_CHECK(row.size() == kPlaceText);
  row.resize(bytes, kPadding);
  put(row, kTax, rng.between(0, kTaxMax));
  return row;
}

}  // namespace

std::string random_text(workload::Rng& rng, int64_t low, int64_t high) {
  std::string text = alphanumeric().text(rng, static_cast<std::size_t>(rng.between(low, high)));
  text.resize(static_cast<std::size_t>(high), kPadding);
  return text;
}

Population::Population(script::ScriptBuilder& script, const Scale& scale,
                       const NurandConstants& constants, uint64_t seed, workload::Stripes* stripes,
                       uint32_t load_class)
    : script_(script),
      scale_(scale),
      constants_(constants),
      seed_(seed),
      stripes_(stripes),
      class_(load_class) {
  workload::Rng rng(seed, 0, workload::Purpose::kPools);
  add_texts(rng);
}

void Population::add_texts(workload::Rng& rng) {
  const auto add = [&](std::vector<uint32_t>& to, const std::string& text) {
    to.push_back(script_.add_text(text));
  };
  for (uint32_t i = 0; i < kTexts; ++i) {
    std::string row(kStockBytes, kPadding);
    put(row, kQuantity, rng.between(10, 100));
    row.replace(kStockDist - 50, 50, data_text(rng));
    row.replace(kStockDist, kDistWidth, random_text(rng, kDistWidth, kDistWidth));
    add(stock_texts_, row);
    add(dist_texts_, random_text(rng, 3 * kDistWidth, 3 * kDistWidth));
    row = address(rng);
    row += random_text(rng, 16, 16);  // the phone
    add(address_texts_, row);
    add(data_texts_, random_text(rng, kRowMax, kRowMax));
    add(last_data_texts_, random_text(rng, 0, kLastPartBytes));
    add(history_texts_, random_text(rng, 12, 24));
  }
}

// Reserves memory for approximately all rows of the load. Without this, the script's lists of keys
// and texts, and the programs, would be copied each time they grow.
void Population::reserve(uint32_t phase) {
  constexpr int64_t kLines = (kLinesMin + kLinesMax) / 2, kOrderRows = kLines + 3;
  constexpr int64_t kCustomerTexts = kLines + 5;  // 5: customer, name, history, order, number
  constexpr int64_t kCustomerTextBytes = kLines * kLineBytes + kCustomerBytes + kHistoryBytes +
                                         kOrderBytes + kOrderNumber.width + kNameCustomer.width;
  const int64_t customers = scale_.warehouses * kDistricts * scale_.customers;
  const int64_t rows = customers * (kDataParts + kFirstDataPart + 2 + kOrderRows) +
                       scale_.warehouses * scale_.items * 4 + scale_.items;
  script_.reserve(phase, static_cast<uint64_t>(rows / scale_.threads * 11 / 10));
  const int64_t texts = customers * kCustomerTexts + scale_.items;
  const int64_t bytes = customers * kCustomerTextBytes + scale_.items * int64_t{kItemBytes};
  script_.reserve_texts(static_cast<std::size_t>(texts * 5 / 4),  // because the run adds more texts
                        static_cast<std::size_t>(bytes * 5 / 4));
}

void Population::load(uint32_t phase) {
  reserve(phase);
  for (uint32_t t = 0; t < scale_.threads; ++t) {
    Loader to{.out = script_.thread(phase, t),
              .thread = t,
              .rng = workload::Rng(seed_, t, workload::Purpose::kPopulate)};
    items(to);
    for (int64_t w = t + 1; w <= scale_.warehouses; w += scale_.threads) warehouse(to, w);
    close(to);
  }
}

void Population::insert(Loader& to, Table table, uint32_t key, uint32_t text) {
  if (to.in_open == kInsertsPerOpen || to.table != table) close(to);
  if (to.in_open == 0) {
    to.out.unit_start();
    to.out.open(slot(table), static_cast<uint32_t>(table));
    to.table = table;
  }
  ++to.in_open;
  to.out.auto_commit_as(format::Kind::kStream, class_);
  to.out.insert(slot(table), key, script_.new_payload(text));
  keys_[static_cast<std::size_t>(table)].push_back(key);
  if (stripes_ != nullptr && ++to.inserts % kStripeEvery == 0) {
    close(to);
    stripes_->append_insert(to.out, to.thread);
  }
}

void Population::insert(Loader& to, Table table, int64_t key, uint32_t text) {
  const bool is_short = kTables[static_cast<std::size_t>(table)].type == SHORT;
  insert(to, table,
         is_short ? script_.add_int32_key(static_cast<int32_t>(key)) : script_.add_int64_key(key),
         text);
}

void Population::insert(Loader& to, Table table, int64_t key, const std::string& text) {
  insert(to, table, key, script_.add_text(text));
}

void Population::close(Loader& to) {
  if (to.in_open > 0) to.out.close(slot(to.table));
  to.in_open = 0;
}

void Population::items(Loader& to) {
  for (int64_t i = to.thread + 1; i <= scale_.items; i += scale_.threads) {
    std::string row(6, kPadding);
    put(row, kItemImage, to.rng.between(1, 10'000));
    put(row, kPrice, to.rng.between(kPriceMin, kPriceMax));
    row += random_text(to.rng, 14, 24);
    row += data_text(to.rng);
    KEYDROME_CHECK(row.size() == kItemBytes);
    insert(to, Table::kItem, i, row);
  }
}

void Population::warehouse(Loader& to, int64_t w) {
  std::string row = name_and_address(to.rng, kWarehouseBytes);
  put(row, kYtd, kDistricts * scale_.customers * kFirstPayment);
  insert(to, Table::kWarehouse, w, row);
  stock(to, w);
  for (int64_t d = 1; d <= kDistricts; ++d) {
    row = name_and_address(to.rng, kDistrictBytes);
    put(row, kYtd, scale_.customers * kFirstPayment);
    put(row, kNextOrder, scale_.customers + 1);
    insert(to, Table::kDistrict, district_key(w, d), row);
  }
  for (int64_t d = 1; d <= kDistricts; ++d) district(to, w, d);
}

void Population::stock(Loader& to, int64_t w) {
  for (int64_t i = 1; i <= scale_.items; ++i) {
    insert(to, Table::kStock, stock_key(w, i, 0), one_of(to.rng, stock_texts_));
    for (int64_t part = 1; part <= 3; ++part) {
      insert(to, Table::kStock, stock_key(w, i, part), one_of(to.rng, dist_texts_));
    }
  }
}

void Population::district(Loader& to, int64_t w, int64_t d) {
  for (int64_t c = 1; c <= scale_.customers; ++c) customer(to, w, d, c);
  for (int64_t c = 1; c <= scale_.customers; ++c) {
    std::string row(kHistoryData, kPadding);
    put(row, kHistoryWarehouse, w);
    put(row, kHistoryDistrict, d);
    put(row, kHistoryCustomer, c);
    put(row, kHistoryTo, w);
    put(row, kHistoryToDistrict, d);
    put(row, kHistoryDate, kLoadDate);
    put(row, kHistoryAmount, kFirstPayment);
    row += script_.pools().payloads[one_of(to.rng, history_texts_)];
    insert(to, Table::kHistory, history_key(district_key(w, d), to.thread, c), row);
  }
  orders(to, w, d);
}

void Population::customer(Loader& to, int64_t w, int64_t d, int64_t c) {
  const int64_t number =
      c <= scale_.names() ? c - 1 : nurand(to.rng, kNurandName, constants_.name_load, 0, 999);
  const std::string last = last_name(number), first = random_text(to.rng, 8, 16);
  const bool bad_credit = to.rng.below(100) < kBadCreditPercent;
  std::string row(kCustomerBytes, kPadding);
  put(row, kBalance, kFirstBalance);
  put(row, kYtdPayment, kFirstPayment);
  put(row, kPaymentCount, 1);
  put(row, kDeliveryCount, 0);
  put(row, kDiscount, to.rng.between(0, kDiscountMax));
  row.replace(kCredit.at, kCredit.width, bad_credit ? kBadCredit : "GC");
  row.replace(kLastAt, kNameWidth, padded(last, kNameWidth));
  row.replace(kFirstAt, kNameWidth, first);
  row.replace(kFirstAt + kNameWidth, 2, "OE");
  put(row, kCreditLimit, kCreditLimitCents);
  put(row, kSince, kLoadDate);
  const int64_t district = district_key(w, d);
  insert(to, Table::kCustomer, customer_key(district, c, 0), row);
  insert(to, Table::kCustomer, customer_key(district, c, 1), one_of(to.rng, address_texts_));
  for (int64_t part = 0; part < kDataParts; ++part) {
    const bool is_last = part == kDataParts - 1;
    insert(to, Table::kCustomer, customer_key(district, c, kFirstDataPart + part),
           one_of(to.rng, is_last ? last_data_texts_ : data_texts_));
  }
  std::string named(kNameCustomer.width, kPadding);
  put(named, kNameCustomer, c);
  insert(to, Table::kCustomerName, script_.add_varchar_key(name_key(w, d, last, first, c)),
         script_.add_text(named));
}

// Writes one order for every customer, in random order of the customers.
void Population::orders(Loader& to, int64_t w, int64_t d) {
  std::vector<int64_t> customers(static_cast<std::size_t>(scale_.customers));
  std::iota(customers.begin(), customers.end(), 1);
  for (std::size_t i = customers.size(); i > 1; --i) {
    std::swap(customers[i - 1], customers[to.rng.below(i)]);
  }
  for (int64_t o = 1; o <= scale_.customers; ++o) {
    order(to, w, d, o, customers[static_cast<std::size_t>(o - 1)]);
  }
}

void Population::order(Loader& to, int64_t w, int64_t d, int64_t o, int64_t c) {
  const int64_t district = district_key(w, d);
  const bool delivered = o <= scale_.delivered();
  const int64_t lines = to.rng.between(kLinesMin, kLinesMax);
  std::string row(kOrderBytes, kPadding);
  put(row, kOrderCustomer, c);
  put(row, kOrderDate, kLoadDate);
  put(row, kOrderCarrier, delivered ? to.rng.between(1, 10) : 0);
  put(row, kOrderLines, lines);
  put(row, kOrderLocal, 1);
  insert(to, Table::kOrders, order_key(district, o), row);
  std::string number(kOrderNumber.width, kPadding);
  put(number, kOrderNumber, o);
  const uint32_t number_text = script_.add_text(number);
  insert(to, Table::kOrderByCustomer, order_by_customer_key(district, c, o), number_text);
  if (!delivered) insert(to, Table::kNewOrder, order_key(district, o), number_text);
  std::string common(kLineDist, kPadding);  // the fields that all lines share
  put(common, kLineSupply, w);
  put(common, kLineDelivery, delivered ? kLoadDate : 0);
  put(common, kLineQuantity, 5);
  for (int64_t line = 1; line <= lines; ++line) {
    row = common;
    put(row, kLineItem, to.rng.between(1, scale_.items));
    put(row, kLineAmount, delivered ? 0 : to.rng.between(1, 999'999));
    alphanumeric().append(to.rng, kDistWidth, row);
    insert(to, Table::kOrderLine, order_line_key(order_key(district, o), line), row);
  }
}

}  // namespace keydrome::tpcc

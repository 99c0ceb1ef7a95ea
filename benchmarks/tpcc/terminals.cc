// Implements Terminals: chooses each transaction and its parameters at random, as TPC-C's clause 2
// demands.
#include "benchmarks/tpcc/terminals.h"

#include <algorithm>
#include <string>
#include <utility>

#include "benchmarks/tpcc/keys.h"
#include "benchmarks/tpcc/rows.h"
#include "benchmarks/tpcc/tables.h"

namespace keydrome::tpcc {
namespace {

// A thread runs two checks each time after this many transactions: a stripe on keys that only this
// thread uses, and a canary whose reads must agree. Checks are about 2 % of all transactions.
constexpr int64_t kCheckEvery = 100;
constexpr int64_t kOpsOfTransaction = 4;  // begin, run, commit, and a fraction of open and close
constexpr uint64_t kNewOrderPercent = 45, kPaymentPercent = 43, kOthersPercent = 4;
constexpr uint64_t kByNamePercent = 60, kRollbackPercent = 1;
constexpr int64_t kRemoteLinePercent = 1, kRemotePaymentPercent = 15;

std::string order_text(int64_t c, int64_t date, int64_t lines, bool local) {
  std::string row(kOrderBytes, kPadding);
  format::write_number(row.data(), kOrderCustomer, c);
  format::write_number(row.data(), kOrderDate, date);
  format::write_number(row.data(), kOrderLines, lines);
  format::write_number(row.data(), kOrderLocal, local ? 1 : 0);
  return row;
}

}  // namespace

Terminals::Terminals(script::ScriptBuilder& script, const Scale& scale,
                     const NurandConstants& constants, const Population& population, uint64_t seed,
                     const Checks& checks)
    : script_(script),
      scale_(scale),
      constants_(constants),
      population_(population),
      seed_(seed),
      checks_(checks),
      number_text_(script.add_text(std::string(kOrderNumber.width, kPadding))),
      line_text_(script.add_text(std::string(kLineBytes, kPadding))),
      history_text_(script.add_text(std::string(kHistoryBytes, '.'))),
      head_text_(script.add_text(std::string(kDataHead, kPadding))) {}

void Terminals::run(uint32_t phase) {
  script_.reserve(phase, static_cast<uint64_t>(scale_.transactions * kOpsOfTransaction));
  for (uint32_t t = 0; t < scale_.threads; ++t) {
    Terminal at{.out = script_.thread(phase, t),
                .thread = t,
                .rng = workload::Rng(seed_, t, workload::Purpose::kStream),
                .checks = workload::Rng(seed_, t, workload::Purpose::kCanaries),
                .turns = t};
    for (int64_t i = 0; i < scale_.transactions; ++i) {
      open(at);
      transaction(at);
      ++at.done;
      if (++at.in_open == scale_.per_open) close(at);
      if (at.done % kCheckEvery == 0) append_checks(at);
    }
    close(at);
  }
}

// Chooses a transaction. If the run has only NewOrder and Payment, their ratio is still 45 to 43.
void Terminals::transaction(Terminal& at) {
  const uint64_t both = kNewOrderPercent + kPaymentPercent;
  const uint64_t percentile = at.rng.below(scale_.two_transactions ? both : 100);
  if (percentile < kNewOrderPercent) return new_order(at);
  if (percentile < both) return payment(at);
  if (percentile < both + kOthersPercent) return order_status(at);
  if (percentile < both + 2 * kOthersPercent) return delivery(at);
  stock_level(at);
}

void Terminals::open(Terminal& at) {
  if (at.in_open > 0) return;
  at.out.unit_start();
  for (uint32_t table = 0; table < kTables.size(); ++table) {
    at.out.open(static_cast<uint8_t>(table), table);
  }
}

void Terminals::close(Terminal& at) {
  if (at.in_open == 0) return;
  for (uint32_t table = 0; table < kTables.size(); ++table) {
    at.out.close(static_cast<uint8_t>(table));
  }
  at.in_open = 0;
}

void Terminals::begin(Terminal& at, Transaction number) {
  at.out.begin(format::Kind::kStream, static_cast<uint32_t>(number));
}

int64_t Terminals::home(Terminal& at) {
  return scale_.any_warehouse ? at.rng.between(1, scale_.warehouses)
                              : at.thread % scale_.warehouses + 1;
}

int64_t Terminals::other_warehouse(Terminal& at, int64_t w) {
  const int64_t other = at.rng.between(1, scale_.warehouses - 1);
  return other < w ? other : other + 1;
}

bool Terminals::is_remote(Terminal& at, int64_t standard_percent) {
  const int64_t percent =
      scale_.remote_percent == kStandardRemote ? standard_percent : scale_.remote_percent;
  return at.rng.between(0, 99) < percent && scale_.warehouses > 1;
}

int64_t Terminals::date(const Terminal& at) const { return kLoadDate + 1 + at.done; }

CustomerParameters Terminals::random_customer(Terminal& at, int64_t w, int64_t d) {
  const int64_t district = district_key(w, d);
  if (at.rng.below(100) >= kByNamePercent) {
    const int64_t c = nurand(at.rng, kNurandCustomer, constants_.customer, 1, scale_.customers);
    return {.district = district, .customer = c};
  }
  const int64_t number = nurand(at.rng, kNurandName, constants_.name, 0, scale_.names() - 1);
  const auto [entry, is_new] = names_.try_emplace(district * 1000 + number, 0);
  if (is_new) {
    const std::string prefix = name_prefix(w, d, last_name(number));
    entry->second = script_.add_varchar_key(prefix);
    script_.add_varchar_key(prefix + "~");  // sorts after all first names
  }
  return {.district = district, .from = entry->second, .end = entry->second + 1};
}

// Returns the NewOrderLineParameters of `lines` lines.
std::vector<int64_t> Terminals::order_lines(Terminal& at, int64_t w, int64_t d, int64_t lines) {
  const bool standard = scale_.remote_percent == kStandardRemote;
  const int64_t remote_line = !standard && is_remote(at, 0) ? at.rng.between(0, lines - 1) : -1;
  std::vector<int64_t> parameters;
  for (int64_t line = 0; line < lines; ++line) {
    const int64_t i = nurand(at.rng, kNurandItem, constants_.item, 1, scale_.items);
    const bool remote = standard ? is_remote(at, kRemoteLinePercent) : line == remote_line;
    const int64_t supplier = remote ? other_warehouse(at, w) : w;
    parameters.insert(parameters.end(),
                      {i, stock_key(supplier, i, 0), stock_key(supplier, i, dist_part(d)),
                       at.rng.between(1, 10), remote ? 1 : 0, supplier});
  }
  return parameters;
}

void Terminals::new_order(Terminal& at) {
  const int64_t w = home(at), d = at.rng.between(1, kDistricts);
  const int64_t c = nurand(at.rng, kNurandCustomer, constants_.customer, 1, scale_.customers);
  const int64_t count = at.rng.between(kLinesMin, kLinesMax);
  const bool rolls_back = at.rng.below(100) < kRollbackPercent;
  std::vector<int64_t> lines = order_lines(at, w, d, count);
  if (rolls_back) lines.resize(lines.size() - kLineParameters);
  bool local = true;
  for (std::size_t line = 0; line < lines.size(); line += kLineParameters) {
    local = local && lines[line + kLineRemote] == 0;
  }
  const int64_t district = district_key(w, d);
  const uint32_t text = script_.add_text(order_text(c, date(at), count, local));
  std::vector<int64_t> parameters = {w,
                                     district,
                                     customer_key(district, c, 0),
                                     text,
                                     number_text_,
                                     line_text_,
                                     order_by_customer_key(district, c, 0),
                                     dist_at(d),
                                     static_cast<int64_t>(lines.size()) / kLineParameters,
                                     rolls_back ? scale_.unused_item() : 0};
  parameters.insert(parameters.end(), lines.begin(), lines.end());
  begin(at, Transaction::kNewOrder);
  at.out.run(static_cast<uint32_t>(Transaction::kNewOrder), parameters);
  if (rolls_back) return at.out.abort();
  at.out.commit();
  for (const Table table : {Table::kOrders, Table::kOrderByCustomer, Table::kNewOrder}) {
    script_.expect_inserts(static_cast<uint32_t>(table), 1);
  }
  script_.expect_inserts(static_cast<uint32_t>(Table::kOrderLine), static_cast<uint32_t>(count));
}

void Terminals::payment(Terminal& at) {
  const int64_t w = home(at), d = at.rng.between(1, kDistricts);
  const bool remote = is_remote(at, kRemotePaymentPercent);
  const int64_t of_w = remote ? other_warehouse(at, w) : w;
  const int64_t of_d = remote ? at.rng.between(1, kDistricts) : d;
  const CustomerParameters customer = random_customer(at, of_w, of_d);
  const int64_t district = district_key(w, d);
  // Loaded history records are numbered like the customers, so new ones begin after them.
  const int64_t history = history_key(district, at.thread, scale_.customers + 1 + at.history++);
  begin(at, Transaction::kPayment);
  at.out.run(static_cast<uint32_t>(Transaction::kPayment),
             std::vector<int64_t>{w, district, at.rng.between(100, 500'000), customer.district,
                                  customer.customer, customer.from, customer.end, history,
                                  history_text_, head_text_, date(at), w, d, of_w, of_d});
  at.out.commit();
  script_.expect_inserts(static_cast<uint32_t>(Table::kHistory), 1);
}

void Terminals::order_status(Terminal& at) {
  const int64_t w = home(at), d = at.rng.between(1, kDistricts);
  const CustomerParameters customer = random_customer(at, w, d);
  begin(at, Transaction::kOrderStatus);
  at.out.run(
      static_cast<uint32_t>(Transaction::kOrderStatus),
      std::vector<int64_t>{customer.district, customer.customer, customer.from, customer.end});
  at.out.commit();
}

void Terminals::delivery(Terminal& at) {
  const int64_t w = home(at);
  begin(at, Transaction::kDelivery);
  at.out.run(static_cast<uint32_t>(Transaction::kDelivery),
             std::vector<int64_t>{district_key(w, 0), at.rng.between(1, 10), date(at)},
             checks_.evidence ? format::kEvidence : uint8_t{0});
  at.out.commit();
}

// Each terminal uses the same district in every StockLevel.
void Terminals::stock_level(Terminal& at) {
  const int64_t w = home(at), d = at.thread % kDistricts + 1;
  begin(at, Transaction::kStockLevel);
  at.out.run(static_cast<uint32_t>(Transaction::kStockLevel),
             std::vector<int64_t>{district_key(w, d), w << kItemBits, at.rng.between(10, 20)});
  at.out.commit();
}

void Terminals::append_checks(Terminal& at) {
  close(at);
  if (checks_.stripes != nullptr) checks_.stripes->append_transaction(at.out, at.thread);
  if (checks_.canaries == nullptr) return;
  const auto table = static_cast<uint32_t>(at.checks.below(kTables.size()));
  const std::vector<uint32_t>& keys = population_.keys(static_cast<Table>(table));
  checks_.canaries->append(at.out, at.checks, table, at.turns++,
                           [&] { return keys[at.checks.below(keys.size())]; });
}

}  // namespace keydrome::tpcc

// Implements the two kinds of Shop. For the rows that a scan found, RowReader parses them. For the
// rows that must exist, Bookkeeper applies the committed transactions to the loaded rows.
#include "benchmarks/tpcw/shop.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "benchmarks/kit/format/program_walk.h"
#include "benchmarks/kit/judge/evidence.h"
#include "benchmarks/tpcw/procedures.h"

namespace keydrome::tpcw {
namespace {

// A row of a table: its key as a number or a name, and its text without the tag (the first eight
// characters of a payload).
struct RawRow {
  Table table;
  int64_t key;
  std::string_view name, text;
};

// Parses rows and adds them to a shop.
class RowReader {
 public:
  explicit RowReader(Shop& shop) : shop_(shop) {}

  void add(const RawRow& row) {
    text_ = row.text;
    fits_ = true;
    const bool is_new = store(row);
    if ((fits_ && is_new) || shop_.malformed++ > 0) return;
    shop_.first_malformed = row.table;
    shop_.first_malformed_key = kTableSpecs[row.table].type == VARCHAR
                                    ? '"' + std::string(row.name) + '"'
                                    : std::to_string(row.key);
    shop_.is_first_repeated = fits_;
  }

 private:
  int64_t number(format::Field field) {
    const std::optional<int64_t> number = format::read_number(text_, field);
    if (!number) fits_ = false;
    return number.value_or(0);
  }

  // Adds the row. Returns false for the second row of a key.
  bool store(const RawRow& row) {
    switch (row.table) {
      case kItems:
        return shop_.items
            .try_emplace(row.key, ItemRow{.price = number(kPrice),
                                          .stock = number(kStock),
                                          .subject = number(kSubject),
                                          .date = number(kDate)})
            .second;
      case kSubjects:
        return shop_.by_subject.try_emplace(row.key, number(kItemNumber)).second;
      case kCustomers:
        return shop_.customers
            .try_emplace(row.key, CustomerRow{.discount = number(kDiscount),
                                              .address = number(kAddress),
                                              .logins = number(kLogins)})
            .second;
      case kCustomerNames:
        return shop_.names.try_emplace(std::string(row.name), number(kCustomerNumber)).second;
      case kAddresses:
        return shop_.addresses.insert(row.key).second;
      case kOrders:
        return shop_.orders
            .try_emplace(row.key, OrderRow{.number = number(kOrderNumber),
                                           .customer = number(kOrderCustomer),
                                           .lines = number(kLines),
                                           .total = number(kTotal)})
            .second;
      case kOrderLines:
        return shop_.lines
            .try_emplace(row.key, LineRow{.item = number(kLineItem),
                                          .quantity = number(kLineQuantity),
                                          .amount = number(kAmount)})
            .second;
      case kCustomerOrders:
        return shop_.by_customer.try_emplace(row.key, number(kOrderNumber)).second;
      case kCarts:
        if (number(kCartItem) != (row.key & ((int64_t{1} << kItemBits) - 1))) fits_ = false;
        return shop_.carts.try_emplace(row.key, number(kCartQuantity)).second;
      default:
        return true;
    }
  }

  Shop& shop_;
  std::string_view text_;
  bool fits_ = true;
};

RawRow found_row(Table table, const script::Evidence& record) {
  RawRow row{.table = table, .key = 0, .name = {}, .text = record.payload};
  row.text.remove_prefix(std::min<std::size_t>(format::kTagBytes, row.text.size()));
  const KeyType type = kTableSpecs[table].type;
  if (type == VARCHAR) {
    row.name = record.key;
  } else if (type == SHORT) {
    int32_t key = 0;
    std::memcpy(&key, record.key.data(), std::min(sizeof key, record.key.size()));
    row.key = key;
  } else {
    std::memcpy(&row.key, record.key.data(), std::min(sizeof row.key, record.key.size()));
  }
  return row;
}

bool is_stripe(const RawRow& row) {
  return kTableSpecs[row.table].type == VARCHAR ? row.name.starts_with('!') : row.key < 0;
}

RawRow loaded_row(const script::Pools& pools, Table table, const format::Op& op) {
  RawRow row{.table = table, .key = 0, .name = {}, .text = pools.payloads[op.payload]};
  const KeyType type = kTableSpecs[table].type;
  if (type == VARCHAR) {
    row.name = pools.varchar_keys[op.key];
  } else {
    row.key = type == SHORT ? pools.int32_keys[op.key] : pools.int64_keys[op.key];
  }
  return row;
}

// Applies committed transactions to the books, the expected rows of the shop.
class Bookkeeper {
 public:
  Bookkeeper(const script::Pools& pools, Books& books) : pools_(pools), books_(books) {}

  void book(const format::Op& op) {
    const std::span<const int64_t> parameters = std::span(pools_.parameters).subspan(op.key);
    switch (op.payload) {
      case kRegister:
        return register_customer(parameters);
      case kCart:
        books_.shop.carts[parameters[kCartFrom] | parameters[kCartBook]] = parameters[kCartCount];
        return;
      case kBuyRequest:
        fill(parameters);
        return log_in(pools_.varchar_keys[static_cast<std::size_t>(parameters[kCartParameters])]);
      case kBuyConfirm:
        return confirm(parameters);
      case kAdminConfirm: {
        ItemRow& item = books_.shop.items[parameters[kAdminItem]];
        item.date = parameters[kAdminDate];
        books_.new_prices[parameters[kAdminItem]].insert(parameters[kAdminPrice]);
        return;
      }
      default:
        return;
    }
  }

 private:
  using Carts = std::map<int64_t, int64_t>;

  void register_customer(std::span<const int64_t> parameters) {
    RowReader reader(books_.shop);
    const auto text = [&](RegisterParameter number) -> std::string_view {
      return pools_.payloads[static_cast<std::size_t>(parameters[number])];
    };
    reader.add({.table = kCustomerNames,
                .key = 0,
                .name = pools_.varchar_keys[static_cast<std::size_t>(parameters[kNewName])],
                .text = text(kNewNameText)});
    reader.add({.table = kCustomers,
                .key = parameters[kNewCustomer],
                .name = {},
                .text = text(kNewCustomerText)});
    reader.add({.table = kAddresses,
                .key = parameters[kNewAddress],
                .name = {},
                .text = text(kNewAddressText)});
  }

  // Counts a login. Ignores customers whose registration did not commit, because they cannot log
  // in.
  void log_in(std::string_view name) {
    const auto customer = books_.shop.names.find(name);
    if (customer != books_.shop.names.end()) ++books_.shop.customers[customer->second].logins;
  }

  // Returns the first line of a buyer's cart. Adds an item first if the cart is empty.
  Carts::iterator fill(std::span<const int64_t> parameters) {
    Carts& carts = books_.shop.carts;
    const auto first = carts.lower_bound(parameters[kCartFrom]);
    if (first != carts.end() && first->first < parameters[kCartEnd]) return first;
    return carts.emplace(parameters[kCartFrom] | parameters[kCartBook], parameters[kCartCount])
        .first;
  }

  void confirm(std::span<const int64_t> parameters) {
    Carts& carts = books_.shop.carts;
    auto line = fill(parameters);
    const int64_t order = parameters[kConfirmOrder], customer = parameters[kConfirmCustomer];
    int64_t count = 0;
    while (count < kLinesMax && line != carts.end() && line->first < parameters[kCartEnd]) {
      const int64_t item = line->first - parameters[kCartFrom];
      books_.shop.lines[line_key(order, ++count)] = {
          .item = item, .quantity = line->second, .amount = 0};
      books_.sold[item] += line->second;
      line = carts.erase(line);
    }
    books_.shop.orders[parameters[kConfirmKey]] = {
        .number = order, .customer = customer, .lines = count, .total = 0};
    books_.shop.by_customer[parameters[kConfirmByCustomer]] = order;
  }

  const script::Pools& pools_;
  Books& books_;
};

}  // namespace

Books open_books(const script::Script& script, uint32_t load) {
  Books books;
  RowReader reader(books.shop);
  for (const std::vector<format::Op>& ops : script.phases[load].threads) {
    uint32_t table = kTables;
    for (const format::Op& op : ops) {
      if (op.code == format::OpCode::kOpen) table = op.argument;
      const bool is_row = op.code == format::OpCode::kInsert &&
                          static_cast<format::Kind>(op.kind) == format::Kind::kStream;
      if (is_row) reader.add(loaded_row(script.pools, static_cast<Table>(table), op));
    }
  }
  return books;
}

Shop read_scan(const script::Script& script, const script::Outcome& outcome, uint32_t verify) {
  Shop shop;
  RowReader reader(shop);
  const std::vector<script::ThreadResult>& threads = outcome.phases[verify].threads;
  for (std::size_t t = 0; t < threads.size(); ++t) {
    const std::vector<format::Op>& ops = script.phases[verify].threads[t];
    std::size_t at = 0;
    uint32_t table = kTables;
    judge::for_each_evidence(
        ops, threads[t], [&](const format::Step& step, std::span<const script::Evidence> records) {
          for (; at <= step.op; ++at) {
            if (ops[at].code == format::OpCode::kOpen) table = ops[at].argument;
          }
          for (const script::Evidence& record : records) {
            if (record.code != SUCCESS) continue;
            const RawRow row = found_row(static_cast<Table>(table), record);
            if (!is_stripe(row)) reader.add(row);
          }
        });
  }
  return shop;
}

void keep_books(const script::Script& script, const script::Outcome& outcome, uint32_t run,
                Books& books) {
  // Applies the transactions of one thread after the other, although their real order is unknown.
  // Threads share only logins, stock, dates and prices. The books for these are the same in every
  // order of the transactions.
  Bookkeeper keeper(script.pools, books);
  const std::vector<script::ThreadResult>& threads = outcome.phases[run].threads;
  for (std::size_t t = 0; t < threads.size(); ++t) {
    const std::vector<format::Op>& ops = script.phases[run].threads[t];
    format::walk_program(ops, [&](const format::Step& step) {
      if (ops[step.op].code != format::OpCode::kRun) return;
      if (threads[t].ends[step.transaction] == script::TransactionEnd::kCommitted)
        keeper.book(ops[step.op]);
    });
  }
}

}  // namespace keydrome::tpcw

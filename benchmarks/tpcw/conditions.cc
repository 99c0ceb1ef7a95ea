// Implements the condition check of the benchmark "tpcw". Compares the rows that the final scan of
// all records read with each other, and with the rows that the shop must have.
#include "benchmarks/tpcw/conditions.h"

#include <cstdint>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/count_text.h"

namespace keydrome::tpcw {
namespace {

// Says from what the stock of an item follows.
constexpr const char* kWhyStock =
    "the loaded stock, minus what committed transactions bought, plus 21 whenever the rest would "
    "be less than 10";
static_assert(kStockMin == 10 && kRestock == 21);

std::string list_of(const std::set<int64_t>& numbers) {
  std::string list;
  for (const int64_t number : numbers) list += (list.empty() ? "" : ", ") + std::to_string(number);
  return list;
}

int64_t row_key(int64_t key) { return key; }
template <typename Key, typename RowValue>
const Key& row_key(const std::pair<const Key, RowValue>& row) {
  return row.first;
}

// Returns how many keys of `all` are missing in `some`.
template <typename All, typename Some>
std::size_t count_missing(const All& all, const Some& some) {
  std::size_t count = 0;
  for (const auto& row : all) count += some.contains(row_key(row)) ? 0 : 1;
  return count;
}

// Returns the parts of a sentence that are not empty, with "and" between them.
std::string joined(std::initializer_list<std::string> parts) {
  std::string text;
  for (const std::string& part : parts) {
    text += (text.empty() || part.empty() ? "" : " and ") + part;
  }
  return text;
}

class Checker {
 public:
  Checker(const Books& books, const Shop& found, const std::string& when, judge::Findings& findings)
      : books_(books), wanted_(books.shop), found_(found), when_(when), findings_(findings) {}

  void run() {
    if (found_.malformed > 0) {
      report("malformed_row",
             count_text(found_.malformed, "record") +
                 (found_.malformed == 1 ? " is wrong. It is" : " are wrong. The first one is") +
                 " in the table " + std::string(kTableSpecs[found_.first_malformed].name) +
                 ", under key " + found_.first_malformed_key + ": " +
                 (found_.is_first_repeated ? "the table contains another record under the same key"
                                           : "its payload cannot be a row of this table"));
    }
    row_counts();
    orders();
    lines();
    items();
    customers();
    if (found_.carts != wanted_.carts) differing_cart();
    secondary_indices();
  }

 private:
  void report(const char* name, const std::string& what) {
    findings_.required(name, when_ + ": " + what);
  }

  // `why` says from what the wanted number follows.
  void expect(const char* name, int64_t found, int64_t wanted, const std::string& what,
              const char* why = "the value that the load or a committed transaction wrote") {
    if (found == wanted) return;
    report(name, what + " is " + std::to_string(found) + ", but must be " + std::to_string(wanted) +
                     ", " + why);
  }

  template <typename Found, typename Wanted>
  void same_keys(Table table, const Found& found, const Wanted& wanted) {
    const std::size_t lost = count_missing(wanted, found), strange = count_missing(found, wanted);
    if (lost + strange == 0) return;
    report("row_count",
           "the table " + std::string(kTableSpecs[table].name) + ' ' +
               joined({lost == 0 ? ""
                                 : "lacks " + count_text(lost, "row") +
                                       " that the load or a committed transaction wrote",
                       strange == 0 ? ""
                                    : "has " + count_text(strange, "row") +
                                          " that neither the load nor a committed transaction "
                                          "wrote"}));
  }

  void row_counts() {
    same_keys(kItems, found_.items, wanted_.items);
    same_keys(kCustomers, found_.customers, wanted_.customers);
    same_keys(kAddresses, found_.addresses, wanted_.addresses);
    same_keys(kOrders, found_.orders, wanted_.orders);
    same_keys(kOrderLines, found_.lines, wanted_.lines);
  }

  void orders() {
    std::map<int64_t, int64_t> sums, counts;  // by the order's key
    for (const auto& [key, line] : found_.lines) {
      sums[key >> kLineBits] += line.amount;
      ++counts[key >> kLineBits];
    }
    for (const auto& [key, order] : found_.orders) {
      const std::string which = " of order " + std::to_string(kNewest - key);
      expect("order_lines", counts[key], order.lines,
             "the number of rows in the table order_lines" + which,
             "the number of lines in the order's row of the table orders");
      const auto customer = found_.customers.find(order.customer);
      const int64_t percent =
          customer == found_.customers.end() ? 100 : 100 - customer->second.discount;
      expect("order_total", order.total, sums[key] * percent / 100, "the total (in cents)" + which,
             "the sum of its lines, minus the customer's discount");
      const auto wanted = wanted_.orders.find(key);
      if (wanted == wanted_.orders.end()) continue;
      expect("order_lines", order.number, wanted->second.number,
             "the order number stored in the row" + which);
      expect("order_lines", order.customer, wanted->second.customer, "the customer" + which);
      expect("order_lines", order.lines, wanted->second.lines,
             "the number of lines stored in the row" + which);
    }
  }

  bool had_price(int64_t item, int64_t price) const {
    const auto loaded = wanted_.items.find(item);
    if (loaded == wanted_.items.end()) return false;
    const auto given = books_.new_prices.find(item);
    return loaded->second.price == price ||
           (given != books_.new_prices.end() && given->second.contains(price));
  }

  void lines() {
    for (const auto& [key, line] : found_.lines) {
      const auto wanted = wanted_.lines.find(key);
      if (wanted == wanted_.lines.end()) continue;
      const std::string which =
          " of a line of order " + std::to_string(kNewest - (key >> kLineBits));
      expect("order_lines", line.item, wanted->second.item, "the item" + which);
      expect("order_lines", line.quantity, wanted->second.quantity, "the quantity" + which);
      const bool fits = line.quantity > 0 && line.amount % line.quantity == 0 &&
                        had_price(line.item, line.amount / line.quantity);
      if (!fits) {
        report("line_amount", "the amount (in cents)" + which + " is " +
                                  std::to_string(line.amount) + ", but must be the quantity " +
                                  std::to_string(line.quantity) + " times a price that item " +
                                  std::to_string(line.item) + " has had");
      }
    }
  }

  void items() {
    for (const auto& [number, item] : found_.items) {
      const auto wanted = wanted_.items.find(number);
      if (wanted == wanted_.items.end()) continue;
      const std::string which = " of item " + std::to_string(number);
      const auto sold = books_.sold.find(number);
      const int64_t left = wanted->second.stock - (sold == books_.sold.end() ? 0 : sold->second);
      const int64_t over = (left - kStockMin) % kRestock;
      expect("stock", item.stock, kStockMin + (over < 0 ? over + kRestock : over),
             "the stock" + which, kWhyStock);
      const auto given = books_.new_prices.find(number);
      const bool right = given == books_.new_prices.end() ? item.price == wanted->second.price
                                                          : given->second.contains(item.price);
      if (!right) {
        report("item_price",
               "the price (in cents)" + which + " is " + std::to_string(item.price) +
                   ", but must be " +
                   (given == books_.new_prices.end()
                        ? "the loaded price, " + std::to_string(wanted->second.price) +
                              ", because no committed transaction changed it"
                        : "a price that a committed transaction set: " + list_of(given->second)));
      }
      expect("index_agreement", item.date, wanted->second.date,
             "the publication date (a number of days)" + which);
    }
  }

  void customers() {
    for (const auto& [number, customer] : found_.customers) {
      const auto wanted = wanted_.customers.find(number);
      if (wanted == wanted_.customers.end()) continue;
      expect("logins", customer.logins, wanted->second.logins,
             "the number of logins of customer " + std::to_string(number),
             "the loaded number, plus one for each committed login");
    }
  }

  void differing_cart() {
    const std::size_t lost = count_missing(wanted_.carts, found_.carts);
    const std::size_t strange = count_missing(found_.carts, wanted_.carts);
    std::size_t changed = 0;
    for (const auto& [key, quantity] : found_.carts) {
      const auto wanted = wanted_.carts.find(key);
      if (wanted != wanted_.carts.end() && wanted->second != quantity) ++changed;
    }
    report("cart",
           "the carts must contain exactly the " + count_text(wanted_.carts.size(), "line") +
               " that clients added and have not bought, but " +
               joined({lost == 0 ? "" : "lack " + count_text(lost, "line"),
                       strange == 0 ? "" : "have " + count_text(strange, "additional line"),
                       changed == 0
                           ? ""
                           : "have " + count_text(changed, "line") + " with a wrong quantity"}));
  }

  void agree(Table table, bool agrees) {
    if (agrees) return;
    report("index_agreement", "the index " + std::string(kTableSpecs[table].name) +
                                  " lacks entries or has wrong ones: it must have exactly one "
                                  "correct entry for each row of its table");
  }

  void secondary_indices() {
    std::map<int64_t, int64_t> by_subject, by_customer;
    for (const auto& [number, item] : found_.items) {
      by_subject[subject_key(item.subject, item.date, number)] = number;
    }
    for (const auto& [key, order] : found_.orders) {
      by_customer[customer_order_key(order.customer, kNewest - key)] = order.number;
    }
    agree(kSubjects, by_subject == found_.by_subject);
    agree(kCustomerOrders, by_customer == found_.by_customer);
    agree(kCustomerNames, found_.names == wanted_.names);
  }

  const Books& books_;
  const Shop& wanted_;
  const Shop& found_;
  const std::string& when_;
  judge::Findings& findings_;
};

}  // namespace

void check_shop(const Books& books, const Shop& found, const std::string& when,
                judge::Findings& findings) {
  Checker(books, found, when, findings).run();
}

}  // namespace keydrome::tpcw

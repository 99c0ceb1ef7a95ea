// Implements Population, which fills the web shop before the run. Chooses the rows of each table
// at random and adds their keys and texts to the script's numbered lists (pools).
#include "benchmarks/tpcw/population.h"

#include <algorithm>
#include <utility>

#include "benchmarks/kit/workload/random_text.h"
#include "benchmarks/tpcw/texts.h"

namespace keydrome::tpcw {
namespace {

constexpr uint32_t kTexts = 256;  // different texts of addresses, and as many of authors
constexpr uint32_t kAddressBytes = 80, kAuthorBytes = 80;
constexpr uint64_t kTitlesPerWord = 50;  // titles that begin with the same word, on average
constexpr int64_t kItemsPerAuthor = 4;
constexpr int64_t kAddressesPerCustomer = 2;
constexpr int64_t kDiscountMax = 50;

}  // namespace

Population::Population(script::ScriptBuilder& builder, uint32_t items, uint32_t customers,
                       uint64_t seed)
    : builder_(builder),
      items_(items),
      customers_(customers),
      rng_(seed, 0, workload::Purpose::kPopulate),
      address_texts_(workload::random_texts(builder, seed, kTexts, kAddressBytes)),
      author_texts_(workload::random_texts(builder, seed + 1, kTexts, kAuthorBytes)) {}

void Population::write(uint32_t clients) {
  write_authors();
  write_items();
  write_customers();
  write_orders();
  std::sort(rows_.begin(), rows_.end(), [](const workload::Row& a, const workload::Row& b) {
    return std::pair(a.index, a.payload.tag) < std::pair(b.index, b.payload.tag);
  });
  for (uint32_t client = 0; client < clients; ++client) {
    keys_[kCarts].push_back(builder_.add_int64_key(cart_key(client, any_item(rng_))));
  }
}

uint64_t Population::title_words() const { return std::max<uint64_t>(1, items_ / kTitlesPerWord); }

void Population::insert(Table table, uint32_t key, uint32_t text) {
  keys_[table].push_back(key);
  rows_.push_back({table, key, builder_.new_payload(text)});
}

void Population::insert(Table table, int64_t key, uint32_t text) {
  const uint32_t number = kTableSpecs[table].type == SHORT
                              ? builder_.add_int32_key(static_cast<int32_t>(key))
                              : builder_.add_int64_key(key);
  insert(table, number, text);
}

void Population::insert(Table table, int64_t key, const std::string& text) {
  insert(table, key, builder_.add_text(text));
}

void Population::write_authors() {
  const int64_t authors = std::max<int64_t>(1, items_ / kItemsPerAuthor);
  for (int64_t author = 1; author <= authors; ++author) {
    insert(kAuthors, author, author_texts_[rng_.below(author_texts_.size())]);
  }
}

void Population::write_items() {
  for (int64_t item = 1; item <= items_; ++item) write_item(item);
}

void Population::write_item(int64_t item) {
  const int64_t authors = std::max<int64_t>(1, items_ / kItemsPerAuthor);
  std::string title = word(rng_.below(title_words()), kTitleWordDigits);
  workload::letters().append(rng_, kTitleBytes - title.size(), title);
  const int64_t subject = rng_.between(0, kSubjectCount - 1), date = rng_.between(1, kToday);
  prices_.push_back(rng_.between(kPriceMin, kPriceMax));
  insert(kItems, item,
         row_text(kTitleAt,
                  {{kPrice, prices_.back()},
                   {kStock, rng_.between(kStockMin, kStockMin + kRestock - 1)},
                   {kAuthor, rng_.between(1, authors)},
                   {kSubject, subject},
                   {kDate, date},
                   {related_item(0), any_item(rng_)},
                   {related_item(1), any_item(rng_)},
                   {related_item(2), any_item(rng_)},
                   {related_item(3), any_item(rng_)},
                   {related_item(4), any_item(rng_)}},
                  title));
  const uint32_t number = builder_.add_text(row_text(kItemNumber.width, {{kItemNumber, item}}));
  insert(kSubjects, subject_key(subject, date, item), number);
  insert(kTitles, builder_.add_varchar_key(title + std::to_string(item)), number);
}

void Population::write_customers() {
  const int64_t addresses = kAddressesPerCustomer * customers_;
  for (int64_t address = 1; address <= addresses; ++address) {
    insert(kAddresses, address, any_address_text(rng_));
  }
  for (uint32_t customer = 1; customer <= customers_; ++customer) {
    discounts_.push_back(rng_.between(0, kDiscountMax));
    addresses_.push_back(rng_.between(1, addresses));
    insert(kCustomers, int64_t{customer},
           customer_text(rng_, discounts_.back(), addresses_.back()));
    const uint32_t name = builder_.add_varchar_key(customer_name(customer));
    insert(kCustomerNames, name,
           builder_.add_text(row_text(kCustomerNumber.width, {{kCustomerNumber, customer}})));
  }
}

// Writes nine orders for every ten customers, with one to five lines each.
void Population::write_orders() {
  orders_ = int64_t{customers_} * 9 / 10;
  for (int64_t order = 1; order <= orders_; ++order) {
    const int64_t customer = rng_.between(1, customers_), lines = rng_.between(1, kLinesMax);
    const int64_t sum = write_lines(order, lines);
    const auto c = static_cast<std::size_t>(customer - 1);
    insert(kOrders, order_key(order),
           row_text(kOrderBytes, {{kOrderNumber, order},
                                  {kLines, lines},
                                  {kOrderCustomer, customer},
                                  {kOrderAddress, addresses_[c]},
                                  {kTotal, sum * (100 - discounts_[c]) / 100},
                                  {kOrderDate, kToday}}));
    insert(kCustomerOrders, customer_order_key(customer, order),
           row_text(kOrderNumber.width, {{kOrderNumber, order}}));
  }
}

// Writes the lines of an order and returns the sum of their amounts.
int64_t Population::write_lines(int64_t order, int64_t lines) {
  int64_t sum = 0;
  for (int64_t line = 1; line <= lines; ++line) {
    const int64_t item = any_item(rng_), quantity = rng_.between(1, kQuantityMax);
    const int64_t amount = quantity * prices_[static_cast<std::size_t>(item - 1)];
    sum += amount;
    insert(kOrderLines, line_key(order, line),
           row_text(kLineBytes, {{kLineItem, item}, {kLineQuantity, quantity}, {kAmount, amount}}));
  }
  return sum;
}

}  // namespace keydrome::tpcw

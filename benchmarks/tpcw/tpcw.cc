// TPC-W-derived: the pages of a web shop as transactions on indices (README.md says what is left
// out).
#include <algorithm>
#include <array>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "benchmarks/kit/clients.h"
#include "benchmarks/kit/judge.h"
#include "benchmarks/kit/letters.h"
#include "benchmarks/kit/rng.h"
#include "benchmarks/kit/script_builder.h"
#include "benchmarks/kit/workload.h"
#include "benchmarks/tpcw/conditions.h"
#include "benchmarks/tpcw/mixes.h"
#include "benchmarks/tpcw/procedures.h"
#include "benchmarks/tpcw/shop.h"
#include "benchmarks/tpcw/tables.h"

namespace keydrome {
namespace tpcw {
namespace {

constexpr uint32_t kVerifyThreads = 4;
constexpr uint32_t kTexts = 256;  // of addresses and of authors
constexpr uint32_t kAddressBytes = 80, kAuthorBytes = 80;
constexpr uint32_t kWordDigits = 5;
constexpr uint64_t kTitlesOfWord = 50;  // that begin alike, on average
constexpr uint64_t kNewCustomerPercent = 20;
constexpr int64_t kPriceMin = 100, kPriceMax = 99'999;
constexpr int64_t kDiscountMax = 50;
enum Phase : uint32_t { kCreatePhase, kLoadPhase, kLoadedPhase, kRunPhase, kVerifyPhase };

// A number as TPC-W writes words: a syllable for each digit.
std::string word(uint64_t number, uint32_t digits) {
  static constexpr std::array kSyllables = {"BA", "OG", "AL", "RI", "RE",
                                            "SE", "AT", "UL", "IN", "NG"};
  std::string text;
  for (; digits > 0; --digits, number /= 10) text.insert(0, kSyllables[number % 10]);
  return text;
}

std::string name_of(uint32_t customer) { return word(customer, 8); }

struct Value {
  Field field;
  int64_t number;
};

// A row with these numbers, blank otherwise, then `rest`.
std::string row_text(uint32_t bytes, std::initializer_list<Value> values, std::string_view rest) {
  std::string text(bytes, kDigitZero);
  for (const auto& [field, number] : values) {
    KEYDROME_CHECK(field.holds(number) && field.at + uint32_t{field.width} <= bytes);
    write_number(text.data(), field, number);
  }
  return text.append(rest);
}

// What a client, which is one emulated browser, knows of its session.
struct Browser {
  uint32_t customer = 0;
  uint32_t name = 0;  // its number in the pool of strings
  std::vector<int64_t> cart;
  uint32_t registered = 0;
  int64_t ordered = 0;
};

// Writes the whole script; one use.
class Generator {
 public:
  Generator(const Shares& shares, const Parameters& parameters, uint64_t seed,
            const CheckPolicy& policy)
      : shares_(shares),
        rng_(seed, 0, Purpose::kPopulate),
        threads_(static_cast<uint32_t>(parameters["threads"])),
        items_(static_cast<uint32_t>(parameters["items"])),
        customers_(static_cast<uint32_t>(parameters["customers"])),
        newest_orders_(parameters["newest_orders"]),
        transactions_(static_cast<uint64_t>(parameters["transactions_per_thread"])) {
    for (const TableSpec& table : kTableSpecs) {
      script_.add_index(std::string(table.name), table.type);
    }
    for (const char* name : kClasses) script_.add_class(name);
    add_procedures(script_, static_cast<uint32_t>(newest_orders_));
    addresses_ = random_texts(script_, seed, kTexts, kAddressBytes);
    authors_ = random_texts(script_, seed + 1, kTexts, kAuthorBytes);
    cart_text_ = script_.add_text(std::string(kCartBytes, kDigitZero));
    number_text_ = script_.add_text(std::string(kOrderNumber.width, kDigitZero));
    line_text_ = script_.add_text(std::string(kLineBytes, kDigitZero));
    order_text_ = script_.add_text(row_text(kOrderBytes, {{kOrderDate, kToday}}, ""));
    clients_.emplace(script_, Clients::Options{.seed = seed,
                                               .threads = threads_,
                                               .policy = policy,
                                               .probe = [this](Rng& rng, uint32_t table) {
                                                 const std::vector<uint32_t>& keys = keys_[table];
                                                 return keys[rng.below(keys.size())];
                                               }});
  }

  Script run() {
    const uint32_t create = script_.add_phase("create", 1, {});
    for (uint32_t table = 0; table < kTables; ++table) script_.thread(create, 0).create(table);
    items();
    customers();
    orders();
    // So that a thread opens each table once for many rows.
    std::sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) {
      return std::pair(a.index, a.payload.tag) < std::pair(b.index, b.payload.tag);
    });
    // Carts are empty, so canaries look for items in them that may be there.
    for (uint32_t t = 0; t < threads_; ++t) {
      keys_[kCarts].push_back(script_.add_int64_key(cart_key(t, any_item(rng_))));
    }
    clients_->load(rows_.size(), [this](uint64_t i) { return rows_[i]; });
    add_verify_phase(script_, kVerifyThreads, clients_->check_class(), "loaded");
    add_words();
    browsers_.resize(threads_);
    clients_->start("run", transactions_ * 4);
    for (Client& client : *clients_) new_session(client);
    for (uint64_t i = 0; i < transactions_; ++i) {
      for (Client& client : *clients_) interaction(client);
    }
    clients_->finish();
    script_.expect_inserts(kCarts, threads_ * static_cast<uint32_t>(kLinesMax));
    clients_->verify();
    return script_.build();
  }

 private:
  void insert(Table table, uint32_t key, uint32_t text) {
    keys_[table].push_back(key);
    rows_.push_back({table, key, script_.new_payload(text)});
  }
  void insert(Table table, int64_t key, uint32_t text) {
    insert(table,
           kTableSpecs[table].type == SHORT ? script_.add_int32_key(static_cast<int32_t>(key))
                                            : script_.add_int64_key(key),
           text);
  }
  void insert(Table table, int64_t key, const std::string& text) {
    insert(table, key, script_.add_text(text));
  }

  static uint32_t one_of(Rng& rng, const std::vector<uint32_t>& texts) {
    return texts[rng.below(texts.size())];
  }
  int64_t any_item(Rng& rng) const { return rng.between(1, items_); }
  uint64_t words() const { return std::max<uint64_t>(1, items_ / kTitlesOfWord); }
  int64_t author_count() const { return std::max<int64_t>(1, items_ / 4); }

  void items() {
    for (int64_t a = 1; a <= author_count(); ++a) insert(kAuthors, a, one_of(rng_, authors_));
    for (int64_t i = 1; i <= items_; ++i) {
      std::string title = word(rng_.below(words()), kWordDigits);
      letters().append(rng_, kTitleBytes - title.size(), title);
      const int64_t subject = rng_.between(0, kSubjectCount - 1), date = rng_.between(1, kToday);
      prices_.push_back(rng_.between(kPriceMin, kPriceMax));
      insert(kItems, i,
             row_text(kTitleAt,
                      {{kPrice, prices_.back()},
                       {kStock, rng_.between(kStockMin, kStockMin + kRestock - 1)},
                       {kAuthor, rng_.between(1, author_count())},
                       {kSubject, subject},
                       {kDate, date},
                       {related_item(0), any_item(rng_)},
                       {related_item(1), any_item(rng_)},
                       {related_item(2), any_item(rng_)},
                       {related_item(3), any_item(rng_)},
                       {related_item(4), any_item(rng_)}},
                      title));
      const uint32_t number = script_.add_text(row_text(kItemNumber.width, {{kItemNumber, i}}, ""));
      insert(kSubjects, subject_key(subject, date, i), number);
      insert(kTitles, script_.add_varchar_key(title + std::to_string(i)), number);
    }
  }

  std::string customer_text(Rng& rng, int64_t discount, int64_t address) {
    return row_text(kNamesAt, {{kDiscount, discount}, {kAddress, address}, {kLogins, 0}},
                    letters().text(rng, kNamesBytes));
  }

  void customers() {
    for (int64_t a = 1; a <= 2 * int64_t{customers_}; ++a) {
      insert(kAddresses, a, one_of(rng_, addresses_));
    }
    for (uint32_t c = 1; c <= customers_; ++c) {
      discounts_.push_back(rng_.between(0, kDiscountMax));
      homes_.push_back(rng_.between(1, 2 * int64_t{customers_}));
      insert(kCustomers, int64_t{c}, customer_text(rng_, discounts_.back(), homes_.back()));
      const uint32_t name = script_.add_varchar_key(name_of(c));
      insert(kCustomerNames, name,
             script_.add_text(row_text(kCustomerNumber.width, {{kCustomerNumber, c}}, "")));
    }
  }

  // Nine orders for ten customers, of one to five lines.
  void orders() {
    loaded_orders_ = int64_t{customers_} * 9 / 10;
    for (int64_t o = 1; o <= loaded_orders_; ++o) {
      const int64_t customer = rng_.between(1, customers_), lines = rng_.between(1, kLinesMax);
      int64_t sum = 0;
      for (int64_t line = 1; line <= lines; ++line) {
        const int64_t item = any_item(rng_), quantity = rng_.between(1, kQuantityMax);
        const int64_t amount = quantity * prices_[static_cast<std::size_t>(item - 1)];
        sum += amount;
        insert(kOrderLines, line_key(o, line),
               row_text(kLineBytes,
                        {{kLineItem, item}, {kLineQuantity, quantity}, {kAmount, amount}}, ""));
      }
      const auto c = static_cast<std::size_t>(customer - 1);
      insert(kOrders, order_key(o),
             row_text(kOrderBytes,
                      {{kOrderNumber, o},
                       {kLines, lines},
                       {kOrderCustomer, customer},
                       {kOrderAddress, homes_[c]},
                       {kTotal, sum * (100 - discounts_[c]) / 100},
                       {kOrderDate, kToday}},
                      ""));
      insert(kCustomerOrders, customer_order_key(customer, o),
             row_text(kOrderNumber.width, {{kOrderNumber, o}}, ""));
    }
  }

  // What is searched for: the beginning of a title, and what is behind all that begin so.
  void add_words() {
    for (uint64_t w = 0; w < words(); ++w) {
      const uint32_t from = script_.add_varchar_key(word(w, kWordDigits));
      script_.add_varchar_key(word(w, kWordDigits) + "~");
      words_.push_back(from);
    }
  }

  void new_session(Client& client) {
    Browser& browser = browsers_[client.number()];
    const auto c = static_cast<uint32_t>(client.rng().below(customers_));
    browser.customer = c + 1;
    browser.name = keys_[kCustomerNames][c];
  }

  Interaction draw_interaction(Rng& rng) const {
    auto draw = static_cast<uint32_t>(rng.below(kWhole));
    uint32_t interaction = 0;
    while (draw >= shares_[interaction]) draw -= shares_[interaction++];
    return static_cast<Interaction>(interaction);
  }

  static void play(Client& client, Interaction page, Procedure procedure,
                   const std::vector<int64_t>& parameters) {
    client.begin_on_all(kClassOf[page]);
    client.out().run(procedure, parameters);
    client.commit();
  }

  void interaction(Client& client) {
    Rng& rng = client.rng();
    const Browser& browser = browsers_[client.number()];
    const Interaction page = draw_interaction(rng);
    switch (page) {
      case kHomePage:
        return play(client, page, kHome, {browser.customer, any_item(rng)});
      case kNewProductsPage: {
        const int64_t subject = rng.between(0, kSubjectCount - 1);
        return play(client, page, kNewProducts,
                    {subject_key(subject, kLastDate, 0), subject_key(subject + 1, kLastDate, 0)});
      }
      case kBestSellersPage:
        return play(client, page, kBestSellers, {newest_orders_});
      case kProductDetailPage:
      case kAdminRequestPage:
        return play(client, page, kProductDetail, {any_item(rng)});
      case kSearchRequestPage:
        return play(client, page, kPromotion, {any_item(rng)});
      case kSearchResultsPage: {
        const int64_t from = one_of(rng, words_);
        return play(client, page, kSearchTitle, {from, from + 1});
      }
      case kOrderInquiryPage:
        return play(client, page, kLookUp, {browser.name});
      case kOrderDisplayPage:
        return play(client, page, kOrderDisplay, {browser.name});
      case kAdminConfirmPage:
        return play(client, page, kAdminConfirm,
                    {any_item(rng), rng.between(kPriceMin, kPriceMax), kToday + 1});
      default:
        return order_page(client, page);
    }
  }

  void order_page(Client& client, Interaction page) {
    switch (page) {
      case kShoppingCartPage:
        return play(client, page, kCart, cart(client, false));
      case kCustomerRegistrationPage:
        return registration(client);
      case kBuyRequestPage: {
        std::vector<int64_t> parameters = cart(client, true);
        parameters.push_back(browsers_[client.number()].name);
        return play(client, page, kBuyRequest, parameters);
      }
      default:
        return buy_confirm(client);
    }
  }

  // The parameters of the cart. One that is full has a quantity changed; a buyer's gets an item
  // only if it is empty.
  std::vector<int64_t> cart(Client& client, bool buys) {
    Rng& rng = client.rng();
    std::vector<int64_t>& inside = browsers_[client.number()].cart;
    const bool is_full = static_cast<int64_t>(inside.size()) == kLinesMax;
    const int64_t item = is_full ? inside[rng.below(inside.size())] : any_item(rng);
    const bool is_new = std::find(inside.begin(), inside.end(), item) == inside.end();
    if (buys ? inside.empty() : is_new) inside.push_back(item);
    return {cart_key(client.number(), 0), cart_key(client.number() + 1, 0), cart_text_, item,
            rng.between(1, kQuantityMax)};
  }

  // Most customers are known; the others' numbers are those of their threads.
  void registration(Client& client) {
    Rng& rng = client.rng();
    Browser& browser = browsers_[client.number()];
    if (rng.below(100) >= kNewCustomerPercent) {
      return play(client, kCustomerRegistrationPage, kLookUp, {browser.name});
    }
    const uint32_t number = 1 + browser.registered++ * threads_ + client.number();
    browser.customer = customers_ + number;
    browser.name = script_.add_varchar_key(name_of(browser.customer));
    const int64_t address = 2 * int64_t{customers_} + number;
    const uint32_t name_text = script_.add_text(
        row_text(kCustomerNumber.width, {{kCustomerNumber, browser.customer}}, ""));
    const uint32_t text =
        script_.add_text(customer_text(rng, rng.between(0, kDiscountMax), address));
    play(client, kCustomerRegistrationPage, kRegister,
         {browser.name, name_text, browser.customer, text, address, one_of(rng, addresses_)});
    for (const Table table : {kCustomerNames, kCustomers, kAddresses}) {
      script_.expect_inserts(table, 1);
    }
  }

  // Numbers of orders are given to threads in turn, so that none waits for another.
  void buy_confirm(Client& client) {
    Browser& browser = browsers_[client.number()];
    std::vector<int64_t> parameters = cart(client, true);
    const int64_t order =
        loaded_orders_ + 1 + browser.ordered++ * int64_t{threads_} + client.number();
    parameters.insert(parameters.end(), {browser.customer, order, order_key(order),
                                         customer_order_key(browser.customer, order), order_text_,
                                         number_text_, line_text_});
    play(client, kBuyConfirmPage, kBuyConfirm, parameters);
    script_.expect_inserts(kOrders, 1);
    script_.expect_inserts(kCustomerOrders, 1);
    script_.expect_inserts(kOrderLines, static_cast<uint32_t>(browser.cart.size()));
    browser.cart.clear();
    new_session(client);
  }

  const Shares& shares_;
  Rng rng_;
  uint32_t threads_, items_, customers_;
  int64_t newest_orders_;
  uint64_t transactions_;
  ScriptBuilder script_;
  std::optional<Clients> clients_;
  std::vector<uint32_t> addresses_, authors_, words_;  // numbers of texts and strings
  uint32_t cart_text_, number_text_, line_text_, order_text_;
  std::array<std::vector<uint32_t>, kTables> keys_;  // that were loaded
  std::vector<Row> rows_;
  std::vector<int64_t> prices_, discounts_, homes_;  // by item, customer, customer
  int64_t loaded_orders_ = 0;
  std::vector<Browser> browsers_;  // by thread
};

class Tpcw : public Workload {
 public:
  explicit Tpcw(const Shares& shares) : shares_(shares) {}

  Result<Script> generate(const Parameters& parameters, uint64_t seed,
                          const CheckPolicy& policy) override {
    return Generator(shares_, parameters, seed, policy).run();
  }

  void judge(const Script& script, const Outcome& outcome, Findings& findings) const override {
    judge_script(script, outcome, findings);
    if (outcome.phases.size() <= kLoadedPhase) return;
    Books books = open_books(script, kLoadPhase);
    check_shop(books, read_scan(script, outcome, kLoadedPhase), "after the load", findings);
    if (outcome.phases.size() <= kVerifyPhase) return;
    keep_books(script, outcome, kRunPhase, books);
    check_shop(books, read_scan(script, outcome, kVerifyPhase), "after the run", findings);
  }

  void measure(const Script& /*script*/, const Outcome& outcome,
               std::span<const PhaseMeasures> phases, Metrics& metrics) const override {
    if (phases.size() <= kRunPhase || phases[kRunPhase].wall_ns == 0) return;
    double interactions = 0;
    for (uint32_t number = 0; number < kClasses.size(); ++number) {
      interactions += committed_per_second(outcome.phases[kRunPhase], phases[kRunPhase], number);
    }
    metrics["interactions_per_s"] = interactions;
    metrics["orders_per_s"] =
        committed_per_second(outcome.phases[kRunPhase], phases[kRunPhase], kBuyConfirmClass);
  }

 private:
  const Shares& shares_;
};

}  // namespace
}  // namespace tpcw

std::unique_ptr<Workload> make_tpcw(std::string_view instance) {
  const auto* const mix =
      std::find_if(tpcw::kMixes.begin(), tpcw::kMixes.end(),
                   [&](const tpcw::Mix& candidate) { return candidate.instance == instance; });
  KEYDROME_CHECK(mix != tpcw::kMixes.end());
  return std::make_unique<tpcw::Tpcw>(mix->shares);
}

}  // namespace keydrome

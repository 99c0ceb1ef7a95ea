// Generates and judges the operations of the benchmark "tpcw": the pages of TPC-W's web shop as
// transactions on indices (README.md).
#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "benchmarks/kit/judge/judge.h"
#include "benchmarks/kit/workload/client_script.h"
#include "benchmarks/kit/workload/demand.h"
#include "benchmarks/kit/workload/workload.h"
#include "benchmarks/tpcw/conditions.h"
#include "benchmarks/tpcw/mixes.h"
#include "benchmarks/tpcw/population.h"
#include "benchmarks/tpcw/procedures.h"
#include "benchmarks/tpcw/shop.h"
#include "benchmarks/tpcw/tables.h"
#include "benchmarks/tpcw/texts.h"

namespace keydrome {
namespace tpcw {
namespace {

enum Phase : uint32_t { kCreatePhase, kLoadPhase, kLoadedPhase, kRunPhase, kVerifyPhase };
constexpr uint64_t kNewCustomerPercent = 20;
constexpr int64_t kNewDiscountMax = 50;

// The state of one client, an emulated browser, at the current point of the script.
struct Browser {
  uint32_t customer = 0;
  uint32_t name = 0;          // number of the customer's name in the script
  std::vector<int64_t> cart;  // items
  uint32_t registered = 0;    // customers that this client registered
  int64_t ordered = 0;        // orders that this client made
};

// Writes the script: loads the shop, checks it, then lets the clients visit pages.
class Generator : public workload::ClientScript {
 public:
  Generator(const Shares& shares, const Parameters& parameters, uint64_t seed,
            const CheckPolicy& policy)
      : ClientScript(seed, policy),
        shares_(shares),
        newest_orders_(parameters["newest_orders"]),
        transactions_(parameters.u64("transactions_per_thread")),
        browsers_(parameters.u32("threads")) {
    for (const TableSpec& table : kTableSpecs) {
      builder().add_index(std::string(table.name), table.type);
    }
    for (const char* name : kClasses) builder().add_class(name);
    add_procedures(builder(), static_cast<uint32_t>(newest_orders_));
    population_.emplace(builder(), parameters.u32("items"), parameters.u32("customers"), seed);
    cart_text_ = builder().add_text(row_text(kCartBytes, {}));
    number_text_ = builder().add_text(row_text(kOrderNumber.width, {}));
    line_text_ = builder().add_text(row_text(kLineBytes, {}));
    order_text_ = builder().add_text(row_text(kOrderBytes, {{kOrderDate, kToday}}));
    add_clients(parameters.u32("threads"), [this](Rng& rng, uint32_t table) {
      const std::vector<uint32_t>& keys = population_->keys(table);
      return keys[rng.below(keys.size())];
    });
  }

 private:
  void load() override {
    population_->write(clients().size());
    const std::vector<Row>& rows = population_->rows();
    clients().load(rows.size(), [&](uint64_t i) { return rows[i]; });
    clients().verify("loaded");
  }

  void run() override {
    add_title_words();
    start_phase("run", transactions_, 1);
    for (Client& client : clients()) begin_session(client);
    take_turns(transactions_, [this](Client& client) { interact(client); });
    clients().finish();
    builder().expect_inserts(kCarts, clients().size() * static_cast<uint32_t>(kLinesMax));
  }

  // Adds the ranges of title searches: two keys for each word. The first key precedes all titles
  // that begin with the word. The second key, the next in the script's list of keys (pool), follows
  // these titles.
  void add_title_words() {
    for (uint64_t number = 0; number < population_->title_words(); ++number) {
      title_words_.push_back(builder().add_varchar_key(word(number, kTitleWordDigits)));
      builder().add_varchar_key(word(number, kTitleWordDigits) + "~");
    }
  }

  void begin_session(Client& client) {
    Browser& browser = browsers_[client.number()];
    const auto c = static_cast<uint32_t>(client.rng().below(population_->customers()));
    browser.customer = c + 1;
    browser.name = population_->keys(kCustomerNames)[c];
  }

  Interaction random_interaction(Rng& rng) const {
    auto left = static_cast<uint32_t>(rng.below(kWhole));
    uint32_t interaction = 0;
    while (left >= shares_[interaction]) left -= shares_[interaction++];
    return static_cast<Interaction>(interaction);
  }

  static void play(Client& client, Interaction page, Procedure procedure,
                   const std::vector<int64_t>& parameters) {
    client.begin_on_all(kClassOf[page]);
    client.out().run(procedure, parameters);
    client.commit();
  }

  void interact(Client& client) {
    Rng& rng = client.rng();
    const Browser& browser = browsers_[client.number()];
    const Interaction page = random_interaction(rng);
    switch (page) {
      case kHomePage:
        return play(client, page, kHome, {browser.customer, population_->any_item(rng)});
      case kNewProductsPage: {
        const int64_t subject = rng.between(0, kSubjectCount - 1);
        return play(client, page, kNewProducts,
                    {subject_key(subject, kLastDate, 0), subject_key(subject + 1, kLastDate, 0)});
      }
      case kBestSellersPage:
        return play(client, page, kBestSellers, {newest_orders_});
      case kProductDetailPage:
      case kAdminRequestPage:
        return play(client, page, kProductDetail, {population_->any_item(rng)});
      case kSearchRequestPage:
        return play(client, page, kPromotion, {population_->any_item(rng)});
      case kSearchResultsPage: {
        const int64_t from = title_words_[rng.below(title_words_.size())];
        return play(client, page, kSearchTitle, {from, from + 1});
      }
      case kOrderInquiryPage:
        return play(client, page, kLookUp, {browser.name});
      case kOrderDisplayPage:
        return play(client, page, kOrderDisplay, {browser.name});
      case kAdminConfirmPage:
        return play(client, page, kAdminConfirm,
                    {population_->any_item(rng), rng.between(kPriceMin, kPriceMax), kToday + 1});
      default:
        return order_page(client, page);
    }
  }

  // Plays a page that writes a cart, a customer or an order.
  void order_page(Client& client, Interaction page) {
    switch (page) {
      case kShoppingCartPage:
        return play(client, page, kCart, cart(client, /*buys=*/false));
      case kCustomerRegistrationPage:
        return register_customer(client);
      case kBuyRequestPage: {
        std::vector<int64_t> parameters = cart(client, /*buys=*/true);
        parameters.push_back(browsers_[client.number()].name);
        return play(client, page, kBuyRequest, parameters);
      }
      default:
        return buy_confirm(client);
    }
  }

  // Returns the CartParameters. They add an item, or change the quantity of an item in a full cart.
  // If `buys` is true, they add an item only to an empty cart.
  std::vector<int64_t> cart(Client& client, bool buys) {
    Rng& rng = client.rng();
    std::vector<int64_t>& items = browsers_[client.number()].cart;
    const bool is_full = static_cast<int64_t>(items.size()) == kLinesMax;
    const int64_t item = is_full ? items[rng.below(items.size())] : population_->any_item(rng);
    const bool is_new = std::find(items.begin(), items.end(), item) == items.end();
    if (buys ? items.empty() : is_new) items.push_back(item);
    return {cart_key(client.number(), 0), cart_key(client.number() + 1, 0), cart_text_, item,
            rng.between(1, kQuantityMax)};
  }

  // Registers a new customer or looks up a known one. New numbers are assigned to the threads in
  // turn.
  void register_customer(Client& client) {
    Rng& rng = client.rng();
    Browser& browser = browsers_[client.number()];
    if (rng.below(100) >= kNewCustomerPercent) {
      return play(client, kCustomerRegistrationPage, kLookUp, {browser.name});
    }
    const uint32_t number = 1 + browser.registered++ * clients().size() + client.number();
    browser.customer = population_->customers() + number;
    browser.name = builder().add_varchar_key(customer_name(browser.customer));
    const int64_t address = 2 * int64_t{population_->customers()} + number;
    const uint32_t name_text =
        builder().add_text(row_text(kCustomerNumber.width, {{kCustomerNumber, browser.customer}}));
    const uint32_t text =
        builder().add_text(customer_text(rng, rng.between(0, kNewDiscountMax), address));
    play(client, kCustomerRegistrationPage, kRegister,
         {browser.name, name_text, browser.customer, text, address,
          population_->any_address_text(rng)});
    for (const Table table : {kCustomerNames, kCustomers, kAddresses}) {
      builder().expect_inserts(table, 1);
    }
  }

  // Buys the cart. Order numbers are assigned to the threads in turn, so that no thread waits for a
  // shared counter.
  void buy_confirm(Client& client) {
    Browser& browser = browsers_[client.number()];
    std::vector<int64_t> parameters = cart(client, /*buys=*/true);
    const int64_t order =
        population_->orders() + 1 + browser.ordered++ * int64_t{clients().size()} + client.number();
    parameters.insert(parameters.end(), {browser.customer, order, order_key(order),
                                         customer_order_key(browser.customer, order), order_text_,
                                         number_text_, line_text_});
    play(client, kBuyConfirmPage, kBuyConfirm, parameters);
    builder().expect_inserts(kOrders, 1);
    builder().expect_inserts(kCustomerOrders, 1);
    builder().expect_inserts(kOrderLines, static_cast<uint32_t>(browser.cart.size()));
    browser.cart.clear();
    begin_session(client);
  }

  const Shares& shares_;
  int64_t newest_orders_;
  uint64_t transactions_;
  std::optional<Population> population_;
  // Texts of blank rows, as their numbers in the script's list of texts (pool).
  uint32_t cart_text_ = 0, number_text_ = 0, line_text_ = 0, order_text_ = 0;
  std::vector<uint32_t> title_words_;  // pool numbers
  std::vector<Browser> browsers_;      // by thread
};

// Numbers of rows and bytes, rounded up. They serve only to estimate how much memory the benchmark
// needs.
constexpr double kRowsPerItem = 8, kRowsPerCustomer = 9, kMeanRowBytes = 70;

class Tpcw : public workload::Workload {
 public:
  explicit Tpcw(const Shares& shares) : shares_(shares) {}

  workload::Demand demand(const workload::Parameters& parameters) const override {
    const double transactions =
        parameters.number("threads") * parameters.number("transactions_per_thread");
    workload::Demand demand(parameters.number("threads"));
    demand.add_load(kRowsPerItem * parameters.number("items") +
                        kRowsPerCustomer * parameters.number("customers"),
                    kMeanRowBytes);
    // At most 11 % of the pages are Best Sellers, which reads the lines of the newest orders.
    demand.set_longest(sizeof(int64_t) + MAX_PAYLOAD_LEN);
    demand.add_scan();
    const double best_sellers = static_cast<double>(shares_[kBestSellersPage]) / kWhole *
                                parameters.number("newest_orders");
    demand.add_procedures(transactions, 40 + kLinesMax * best_sellers, 30 + 3 * best_sellers, 10);
    demand.add_inserts(transactions * 3, kMeanRowBytes);
    demand.add_strings(demand.record_bytes);
    return demand;
  }

  Result<script::Script> generate(const workload::Parameters& parameters, uint64_t seed,
                                  const workload::CheckPolicy& policy) override {
    return Generator(shares_, parameters, seed, policy).write();
  }

  void judge(const script::Script& script, const script::Outcome& outcome,
             judge::Findings& findings) const override {
    judge::judge_script(script, outcome, findings);
    if (outcome.phases.size() <= kLoadedPhase) return;
    Books books = open_books(script, kLoadPhase);
    check_shop(books, read_scan(script, outcome, kLoadedPhase), "after the load", findings);
    if (outcome.phases.size() <= kVerifyPhase) return;
    keep_books(script, outcome, kRunPhase, books);
    check_shop(books, read_scan(script, outcome, kVerifyPhase), "after the run", findings);
  }

  void measure(const script::Script& /*script*/, const script::Outcome& outcome,
               std::span<const workload::PhaseMeasures> phases,
               workload::Metrics& metrics) const override {
    if (phases.size() <= kRunPhase || phases[kRunPhase].wall_ns == 0) return;
    double interactions = 0;
    for (uint32_t number = 0; number < kClasses.size(); ++number) {
      interactions +=
          workload::committed_per_second(outcome.phases[kRunPhase], phases[kRunPhase], number);
    }
    metrics["interactions_per_s"] = interactions;
    metrics["orders_per_s"] = workload::committed_per_second(outcome.phases[kRunPhase],
                                                             phases[kRunPhase], kBuyConfirmClass);
  }

 private:
  const Shares& shares_;
};

}  // namespace
}  // namespace tpcw

std::unique_ptr<workload::Workload> make_tpcw(std::string_view instance) {
  const auto* const mix =
      std::find_if(tpcw::kMixes.begin(), tpcw::kMixes.end(),
                   [&](const tpcw::Mix& candidate) { return candidate.instance == instance; });
  KEYDROME_CHECK(mix != tpcw::kMixes.end());
  return std::make_unique<tpcw::Tpcw>(mix->shares);
}

}  // namespace keydrome

// SmallBank: six transactions that move money between two balances of each customer (README.md).
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/kit/clients.h"
#include "benchmarks/kit/judge.h"
#include "benchmarks/kit/rng.h"
#include "benchmarks/kit/script_builder.h"
#include "benchmarks/kit/workload.h"
#include "benchmarks/smallbank/money.h"
#include "benchmarks/smallbank/procedures.h"

namespace keydrome {
namespace smallbank {
namespace {

constexpr std::array kClasses = {"amalgamate",   "balance",          "deposit_checking",
                                 "send_payment", "transact_savings", "write_check"};
constexpr std::array<uint64_t, kTransactions> kPercent = {15, 15, 15, 25, 15, 15};
constexpr std::array<int64_t, kTransactions> kCents = {0, 0, 130, 500, 2020, 500};
constexpr int64_t kBalanceMin = 10'000, kBalanceMax = 50'000;  // loaded, without cents
constexpr std::size_t kNameBytes = 64;
constexpr double kNsPerSecond = 1e9;
enum Phase : uint32_t { kCreatePhase, kLoadPhase, kRunPhase, kVerifyPhase };

Transaction draw_transaction(Rng& rng) {
  uint64_t draw = rng.below(100);
  uint32_t transaction = 0;
  while (draw >= kPercent[transaction]) draw -= kPercent[transaction++];
  return static_cast<Transaction>(transaction);
}

// Writes the whole script; one use. A customer's number is also that of its keys in their pools.
class Generator {
 public:
  Generator(const Parameters& parameters, uint64_t seed, const CheckPolicy& policy)
      : seed_(seed),
        customers_(static_cast<uint32_t>(parameters["accounts"])),
        hot_(static_cast<uint32_t>(parameters["hot_accounts"])),
        hot_percent_(static_cast<uint64_t>(parameters["hot_percent"])),
        transactions_(static_cast<uint64_t>(parameters["transactions_per_thread"])),
        evidence_(policy.evidence ? kEvidence : uint8_t{0}) {
    script_.add_index("accounts", VARCHAR);
    script_.add_index("savings", INT);
    script_.add_index("checking", INT);
    for (uint32_t c = 0; c < customers_; ++c) {
      std::string name = std::to_string(c);
      name.insert(0, kNameBytes - name.size(), '0');
      script_.add_varchar_key(name);
      script_.add_int64_key(c);
    }
    for (const char* name : kClasses) script_.add_class(name);
    add_procedures(script_);
    const auto any = [this](Rng& rng, uint32_t /*index*/) {
      return static_cast<uint32_t>(rng.below(customers_));
    };
    clients_.emplace(script_,
                     Clients::Options{.seed = seed,
                                      .threads = static_cast<uint32_t>(parameters["threads"]),
                                      .policy = policy,
                                      .probe = any});
  }

  Script run() {
    const uint32_t create = script_.add_phase("create", 1, {});
    for (uint32_t table = 0; table < kTables; ++table) script_.thread(create, 0).create(table);
    load();
    clients_->start("run", transactions_ * 4);
    for (uint64_t i = 0; i < transactions_; ++i) {
      for (Client& client : *clients_) transaction(client);
    }
    clients_->finish();
    clients_->verify();
    return script_.build();
  }

 private:
  // Table by table, so that a thread opens each once for many rows.
  void load() {
    Rng rng(seed_, 0, Purpose::kPopulate);
    const std::vector<uint32_t> order = shuffled(customers_, rng);
    clients_->load(uint64_t{customers_} * kTables, [&](uint64_t i) {
      const auto table = static_cast<uint32_t>(i / customers_);
      const uint32_t c = order[i % customers_];
      const std::string text =
          table == kAccounts
              ? number_text(kCustomerField, c)
              : number_text(kBalanceField, 100 * rng.between(kBalanceMin, kBalanceMax));
      return Row{table, c, script_.new_payload(script_.add_text(text))};
    });
  }

  static std::string number_text(Field field, int64_t number) {
    std::string text(field.width, kDigitZero);
    write_number(text.data(), field, number);
    return text;
  }

  void transaction(Client& client) {
    Rng& rng = client.rng();
    const Transaction transaction = draw_transaction(rng);
    const bool hot = rng.below(100) < hot_percent_;
    const uint32_t first = hot ? 0 : hot_, count = hot ? hot_ : customers_ - hot_;
    const auto customer = static_cast<uint32_t>(rng.below(count));
    const auto next = static_cast<uint32_t>(rng.below(count - 1));
    const uint32_t other = next < customer ? next : next + 1;
    const bool takes = transaction == kTransactSavings && rng.below(2) == 0;
    const int64_t cents = kCents[transaction];
    client.begin_on_all(transaction);
    client.out().run(
        transaction,
        std::array<int64_t, kParameters>{first + customer, first + other, takes ? -cents : cents},
        has_result(transaction) ? evidence_ : uint8_t{0});
    client.commit();
  }

  uint64_t seed_;
  uint32_t customers_, hot_;
  uint64_t hot_percent_, transactions_;
  uint8_t evidence_;
  ScriptBuilder script_;
  std::optional<Clients> clients_;
};

class SmallBank : public Workload {
 public:
  Result<Script> generate(const Parameters& parameters, uint64_t seed,
                          const CheckPolicy& policy) override {
    if (parameters["accounts"] < parameters["hot_accounts"] + 2) {
      return Error{
          "two customers at least must be outside the hot set: raise accounts to at least "
          "hot_accounts + 2, or lower hot_accounts"};
    }
    return Generator(parameters, seed, policy).run();
  }

  void judge(const Script& script, const Outcome& outcome, Findings& findings) const override {
    judge_script(script, outcome, findings);
    if (outcome.phases.size() <= kVerifyPhase) return;
    const Books books = keep_books(script, outcome, kLoadPhase, kRunPhase);
    check_money(books, read_balances(script, outcome, kVerifyPhase, books.accounts.size()),
                findings);
  }

  void measure(const Script& script, const Outcome& outcome, std::span<const PhaseMeasures> phases,
               Metrics& metrics) const override {
    if (phases.size() <= kRunPhase || phases[kRunPhase].wall_ns == 0) return;
    const Books books = keep_books(script, outcome, kLoadPhase, kRunPhase);
    metrics["committed_per_s"] = static_cast<double>(books.committed) * kNsPerSecond /
                                 static_cast<double>(phases[kRunPhase].wall_ns);
    metrics["transactions_aborted"] = static_cast<double>(books.refusals.size());
  }
};

}  // namespace
}  // namespace smallbank

std::unique_ptr<Workload> make_smallbank(std::string_view /*instance*/) {
  return std::make_unique<smallbank::SmallBank>();
}

}  // namespace keydrome

// Generates and judges the operations of the benchmark "smallbank": six transactions that move
// money between the balances of customers (README.md).
#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/kit/judge/judge.h"
#include "benchmarks/kit/workload/client_script.h"
#include "benchmarks/kit/workload/demand.h"
#include "benchmarks/kit/workload/workload.h"
#include "benchmarks/smallbank/money.h"
#include "benchmarks/smallbank/procedures.h"

namespace keydrome {
namespace smallbank {
namespace {

constexpr std::array kClasses = {"amalgamate",   "balance",          "deposit_checking",
                                 "send_payment", "transact_savings", "write_check"};
constexpr std::array<uint64_t, kTransactions> kPercent = {15, 15, 15, 25, 15, 15};
constexpr std::array<int64_t, kTransactions> kCents = {0, 0, 130, 500, 2020, 500};
// Initial balances, in units of 100 cents.
constexpr int64_t kBalanceMin = 10'000, kBalanceMax = 50'000;
constexpr std::size_t kNameBytes = 64;
constexpr double kNsPerSecond = 1e9;
enum Phase : uint32_t { kCreatePhase, kLoadPhase, kRunPhase, kVerifyPhase };

Transaction random_transaction(workload::Rng& rng) {
  uint64_t percentile = rng.below(100);
  uint32_t transaction = 0;
  while (percentile >= kPercent[transaction]) percentile -= kPercent[transaction++];
  return static_cast<Transaction>(transaction);
}

// Writes the script: the operations of all threads. A customer's number is also the position of the
// customer's keys in the script's lists of keys (pools).
class Generator : public workload::ClientScript {
 public:
  Generator(const Parameters& parameters, uint64_t seed, const CheckPolicy& policy)
      : ClientScript(seed, policy),
        customers_(parameters.u32("accounts")),
        hot_(parameters.u32("hot_accounts")),
        hot_percent_(parameters.u64("hot_percent")),
        transactions_(parameters.u64("transactions_per_thread")),
        evidence_(policy.evidence ? format::kEvidence : uint8_t{0}) {
    builder().add_index("accounts", VARCHAR);
    builder().add_index("savings", INT);
    builder().add_index("checking", INT);
    for (uint32_t c = 0; c < customers_; ++c) {
      std::string name = std::to_string(c);
      name.insert(0, kNameBytes - name.size(), '0');
      builder().add_varchar_key(name);
      builder().add_int64_key(c);
    }
    for (const char* name : kClasses) builder().add_class(name);
    add_procedures(builder());
    add_clients(parameters.u32("threads"), [this](Rng& rng, uint32_t /*index*/) {
      return static_cast<uint32_t>(rng.below(customers_));
    });
  }

 private:
  // Loads table by table, so that a thread opens an index once for many rows.
  void load() override {
    Rng rng(seed(), 0, Purpose::kPopulate);
    const std::vector<uint32_t> order = workload::shuffled(customers_, rng);
    clients().load(uint64_t{customers_} * kTables, [&](uint64_t i) {
      const auto table = static_cast<uint32_t>(i / customers_);
      const uint32_t c = order[i % customers_];
      const std::string text =
          table == kAccounts
              ? number_text(kCustomerField, c)
              : number_text(kBalanceField, 100 * rng.between(kBalanceMin, kBalanceMax));
      return Row{table, c, builder().new_payload(builder().add_text(text))};
    });
  }

  static std::string number_text(format::Field field, int64_t number) {
    std::string text(field.width, format::kDigitZero);
    format::write_number(text.data(), field, number);
    return text;
  }

  void run() override {
    run_phase("run", transactions_, 1, [this](Client& client) { transaction(client); });
  }

  void transaction(Client& client) {
    Rng& rng = client.rng();
    const Transaction transaction = random_transaction(rng);
    const bool hot = rng.below(100) < hot_percent_;
    const uint32_t first = hot ? 0 : hot_, count = hot ? hot_ : customers_ - hot_;
    const auto customer = static_cast<uint32_t>(rng.below(count));
    const auto next = static_cast<uint32_t>(rng.below(count - 1));
    const uint32_t other = next < customer ? next : next + 1;
    const bool withdraws = transaction == kTransactSavings && rng.below(2) == 0;
    const int64_t cents = kCents[transaction];
    client.begin_on_all(transaction);
    client.out().run(transaction,
                     std::array<int64_t, kParameters>{first + customer, first + other,
                                                      withdraws ? -cents : cents},
                     has_result(transaction) ? evidence_ : uint8_t{0});
    client.commit();
  }

  uint32_t customers_, hot_;  // the hot set: customers 0 .. hot_ - 1
  uint64_t hot_percent_, transactions_;
  uint8_t evidence_;
};

constexpr double kMeanRecordBytes = 40;

class SmallBank : public workload::Workload {
 public:
  workload::Demand demand(const workload::Parameters& parameters) const override {
    const double threads = parameters.number("threads");
    workload::Demand demand(threads);
    demand.add_load(double{kTables} * parameters.number("accounts"), kMeanRecordBytes);
    demand.add_strings(demand.record_bytes);
    demand.set_longest(kNameBytes / 2.0 + MAX_PAYLOAD_LEN);
    demand.add_procedures(threads * parameters.number("transactions_per_thread"), 6.5, 6,
                          kParameters);
    return demand;
  }

  Result<script::Script> generate(const workload::Parameters& parameters, uint64_t seed,
                                  const workload::CheckPolicy& policy) override {
    if (parameters["accounts"] < parameters["hot_accounts"] + 2) {
      return Error{"accounts is " + std::to_string(parameters["accounts"]) +
                   " and hot_accounts is " + std::to_string(parameters["hot_accounts"]) +
                   ", but at least two customers must be outside the hot set: raise accounts to "
                   "at least hot_accounts + 2, or lower hot_accounts"};
    }
    return Generator(parameters, seed, policy).write();
  }

  void judge(const script::Script& script, const script::Outcome& outcome,
             judge::Findings& findings) const override {
    judge::judge_script(script, outcome, findings);
    if (outcome.phases.size() <= kVerifyPhase) return;
    const Books books = keep_books(script, outcome, kLoadPhase, kRunPhase);
    check_money(books, read_balances(script, outcome, kVerifyPhase, books.accounts.size()),
                findings);
  }

  void measure(const script::Script& script, const script::Outcome& outcome,
               std::span<const workload::PhaseMeasures> phases,
               workload::Metrics& metrics) const override {
    if (phases.size() <= kRunPhase || phases[kRunPhase].wall_ns == 0) return;
    const Books books = keep_books(script, outcome, kLoadPhase, kRunPhase);
    metrics["committed_per_s"] = static_cast<double>(books.committed) * kNsPerSecond /
                                 static_cast<double>(phases[kRunPhase].wall_ns);
    metrics["transactions_aborted"] = static_cast<double>(books.refusals.size());
  }
};

}  // namespace
}  // namespace smallbank

std::unique_ptr<workload::Workload> make_smallbank(std::string_view /*instance*/) {
  return std::make_unique<smallbank::SmallBank>();
}

}  // namespace keydrome

// Generates and judges the operations of the benchmark "tatp": the location register of a mobile
// operator, in five tables and seven transactions (README.md).
#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/kit/judge/judge.h"
#include "benchmarks/kit/workload/client_script.h"
#include "benchmarks/kit/workload/demand.h"
#include "benchmarks/kit/workload/random_text.h"
#include "benchmarks/kit/workload/workload.h"
#include "benchmarks/tatp/books.h"
#include "benchmarks/tatp/procedures.h"
#include "benchmarks/tatp/rows.h"
#include "benchmarks/tatp/tables.h"

namespace keydrome {
namespace tatp {
namespace {

constexpr std::array kClasses = {
    "get_new_destination",    "update_subscriber_data", "update_location", "insert_call_forwarding",
    "delete_call_forwarding", "get_subscriber_data",    "get_access_data"};
constexpr std::array<uint64_t, kTransactions> kPercent = {10, 2, 14, 2, 2, 35, 35};

constexpr uint32_t kTexts = 256;  // different texts of each kind of row
constexpr uint64_t kActivePercent = 85;
constexpr int64_t kDurationMax = 8;  // hours of a forwarding
constexpr std::size_t kNumberBytes = 15;
constexpr double kNsPerSecond = 1e9;
enum Phase : uint32_t { kCreatePhase, kLoadPhase, kRunPhase, kVerifyPhase };

// Returns the constant A of the specification's non-uniform distribution.
uint64_t nonuniform_a(uint64_t subscribers) {
  if (subscribers <= 1'000'000) return 65'535;
  return subscribers <= 10'000'000 ? 1'048'575 : 2'097'151;
}

Transaction random_transaction(workload::Rng& rng) {
  uint64_t percentile = rng.below(100);
  uint32_t transaction = 0;
  while (percentile >= kPercent[transaction]) percentile -= kPercent[transaction++];
  return static_cast<Transaction>(transaction);
}

// Returns one to four different types as a bit set: bit t is set for type t. Each number of types
// is equally likely.
uint32_t random_types(workload::Rng& rng) {
  uint32_t types = 0;
  for (uint64_t left = 1 + rng.below(kTypes); left > 0;) {
    const uint32_t bit = 1u << rng.below(kTypes);
    if ((types & bit) != 0) continue;
    types |= bit;
    --left;
  }
  return types;
}

// Adds the keys of subscriber s to the script's lists of keys (pools). The position of each key in
// its pool is computed, not stored:
//
// - 32-bit keys and strings: position s.
// - 64-bit keys: 16 consecutive positions. The first 4 are for access_info and facility,
//   which have the same keys. The other 12 are for call_forwarding.
void add_keys(script::ScriptBuilder& builder, uint32_t s) {
  std::string number = std::to_string(subscriber_id(s));
  number.insert(0, kNumberBytes - number.size(), '0');
  builder.add_int32_key(static_cast<int32_t>(subscriber_id(s)));
  builder.add_varchar_key(number);
  for (uint32_t type = 0; type < kTypes; ++type) builder.add_int64_key(facility_key(s, type));
  for (uint32_t row = 0; row < kForwardings; ++row) {
    builder.add_int64_key(forwarding_key(s, row / kStarts, row % kStarts));
  }
}

// Returns the position of a key in its pool. `row` is the number of the row among those of
// subscriber s.
uint32_t key(Table table, uint32_t s, uint32_t row) {
  if (table == kSubscriber || table == kSubscriberNumber) return s;
  return s * (kTypes + kForwardings) + row + (table == kForwarding ? kTypes : 0);
}

// Writes the script: loads the five tables, then runs the mix of transactions.
class Generator : public workload::ClientScript {
 public:
  Generator(bool nonuniform, const Parameters& parameters, uint64_t seed, const CheckPolicy& policy)
      : ClientScript(seed, policy),
        nonuniform_(nonuniform),
        subscribers_(parameters.u32("subscribers")),
        transactions_(parameters.u64("transactions_per_thread")),
        evidence_(policy.evidence ? format::kEvidence : uint8_t{0}) {
    builder().add_index("subscriber", SHORT);
    builder().add_index("phone_number", VARCHAR);
    builder().add_index("access_info", INT);
    builder().add_index("facility", INT);
    builder().add_index("call_forwarding", INT);
    for (uint32_t s = 0; s < subscribers_; ++s) add_keys(builder(), s);
    for (const char* name : kClasses) builder().add_class(name);
    add_procedures(builder());
    add_texts();
    add_clients(parameters.u32("threads"), [this](Rng& rng, uint32_t index) {
      const auto s = static_cast<uint32_t>(rng.below(subscribers_));
      return key(static_cast<Table>(index), s, 0);
    });
  }

 private:
  using Rows = std::array<std::vector<Row>, kTables>;
  using Texts = std::vector<uint32_t>;  // numbers of texts

  // Adds `kTexts` texts for rows of a table. set_columns(text, i) writes the columns that
  // transactions use into text i.
  template <typename SetColumns>
  Texts texts_of(Table table, Rng& rng, SetColumns&& set_columns) {
    Texts texts;
    for (uint32_t i = 0; i < kTexts; ++i) {
      std::string text = workload::letters().text(rng, kRowBytes[table]);
      set_columns(text.data(), i);
      texts.push_back(builder().add_text(text));
    }
    return texts;
  }

  void add_texts() {
    Rng rng(seed(), 0, Purpose::kPools);
    const auto random = [&](int64_t values) { return rng.between(0, values - 1); };
    subscriber_texts_ = texts_of(kSubscriber, rng, [&](char* text, uint32_t) {
      format::write_number(text, kBit1, random(2));
      format::write_number(text, kVlrLocation, random(kLocations));
    });
    access_texts_ = texts_of(kAccess, rng, [](char*, uint32_t) {});
    for (uint32_t active = 0; active < 2; ++active) {
      facility_texts_[active] = texts_of(kFacility, rng, [&](char* text, uint32_t) {
        format::write_number(text, kIsActive, active);
        format::write_number(text, kDataA, random(kByteValues));
      });
    }
    for (uint32_t start = 0; start < kStarts; ++start) {
      forwarding_texts_[start] = texts_of(kForwarding, rng, [&](char* text, uint32_t i) {
        format::write_number(text, kEndTime, start_hour(start) + 1 + i % kDurationMax);
      });
    }
  }

  script::Payload any_row(const Texts& texts, Rng& rng) {
    return builder().new_payload(texts[rng.below(texts.size())]);
  }

  void load() override {
    Rng rng(seed(), 0, Purpose::kPopulate);
    Rows rows;
    for (const uint32_t s : workload::shuffled(subscribers_, rng)) load_subscriber(s, rng, rows);
    // Loads table by table, so that a thread opens an index once for many rows.
    std::vector<Row> all;
    for (const std::vector<Row>& of_table : rows) {
      all.insert(all.end(), of_table.begin(), of_table.end());
    }
    clients().load(all.size(), [&](uint64_t i) { return all[i]; });
  }

  void load_subscriber(uint32_t s, Rng& rng, Rows& rows) {
    rows[kSubscriber].push_back({kSubscriber, s, any_row(subscriber_texts_, rng)});
    std::string id(kSubscriberId.width, format::kDigitZero);
    format::write_number(id.data(), kSubscriberId, subscriber_id(s));
    rows[kSubscriberNumber].push_back(
        {kSubscriberNumber, s, builder().new_payload(builder().add_text(id))});
    const uint32_t access = random_types(rng), facilities = random_types(rng);
    for (uint32_t type = 0; type < kTypes; ++type) {
      if ((access >> type & 1) != 0) {
        rows[kAccess].push_back({kAccess, key(kAccess, s, type), any_row(access_texts_, rng)});
      }
      if ((facilities >> type & 1) == 0) continue;
      const uint32_t active = rng.below(100) < kActivePercent ? 1 : 0;
      rows[kFacility].push_back(
          {kFacility, key(kFacility, s, type), any_row(facility_texts_[active], rng)});
      load_forwarding(s, type, rng, rows);
    }
  }

  // Loads zero to three forwardings of a facility, with different start times.
  void load_forwarding(uint32_t s, uint32_t type, Rng& rng, Rows& rows) {
    const std::vector<uint32_t> starts = workload::shuffled(kStarts, rng);
    const uint64_t count = rng.below(kStarts + 1);
    for (uint64_t i = 0; i < count; ++i) {
      const uint32_t row = forwarding_row(type, starts[i]);
      rows[kForwarding].push_back(
          {kForwarding, key(kForwarding, s, row), any_row(forwarding_texts_[starts[i]], rng)});
    }
  }

  void run() override {
    run_phase("run", transactions_, 1, [this](Client& client) { transaction(client); });
  }

  void transaction(Client& client) {
    Rng& rng = client.rng();
    const Transaction transaction = random_transaction(rng);
    const uint32_t s = random_subscriber(rng);
    const auto type = static_cast<uint32_t>(rng.below(kTypes));
    const auto start = static_cast<uint32_t>(rng.below(kStarts));
    client.begin_on_all(transaction);
    operate(client, transaction, s, type, start);
    client.commit();
  }

  void operate(Client& client, Transaction transaction, uint32_t s, uint32_t type, uint32_t start) {
    using Numbers = std::initializer_list<int64_t>;
    Rng& rng = client.rng();
    const auto run = [&](Numbers parameters) {
      client.out().run(transaction, std::span(parameters.begin(), parameters.size()),
                       has_result(transaction) ? evidence_ : uint8_t{0});
    };
    switch (transaction) {
      case kGetSubscriberData:
        return client.out().get(kSubscriber, key(kSubscriber, s, 0));
      case kGetAccessData:
        return client.out().get(kAccess, key(kAccess, s, type));
      case kGetNewDestination:
        return run({facility_key(s, type), start_hour(start), rng.between(1, kHoursMax)});
      case kUpdateSubscriberData: {
        const int64_t bit = rng.between(0, 1);
        return run({subscriber_id(s), facility_key(s, type), bit, rng.between(0, kByteValues - 1)});
      }
      case kUpdateLocation:
        return run({s, rng.between(0, kLocations - 1)});
      case kInsertCallForwarding:
        builder().expect_inserts(kForwarding, 1);
        return run({s, type + 1, start_hour(start), forwarding_texts_[start][rng.below(kTexts)]});
      default:
        return run({s, type + 1, start_hour(start)});
    }
  }

  uint32_t random_subscriber(Rng& rng) const {
    const uint64_t uniform = rng.below(subscribers_);
    if (!nonuniform_) return static_cast<uint32_t>(uniform);
    const uint64_t mixed = rng.below(nonuniform_a(subscribers_) + 1) | (uniform + 1);
    return static_cast<uint32_t>(mixed % subscribers_);
  }

  bool nonuniform_;
  uint32_t subscribers_;
  uint64_t transactions_;
  uint8_t evidence_;
  Texts subscriber_texts_, access_texts_;
  std::array<Texts, 2> facility_texts_;          // inactive and active
  std::array<Texts, kStarts> forwarding_texts_;  // by start time
};

constexpr double kRecordsPerSubscriber = 11, kMeanRecordBytes = 32;
constexpr double kProcedureShare = 0.3;  // of all transactions

class Tatp : public workload::Workload {
 public:
  explicit Tatp(bool nonuniform) : nonuniform_(nonuniform) {}

  workload::Demand demand(const workload::Parameters& parameters) const override {
    const double threads = parameters.number("threads"),
                 subscribers = parameters.number("subscribers");
    workload::Demand demand(threads);
    demand.add_load(kRecordsPerSubscriber * subscribers, kMeanRecordBytes);
    demand.set_longest(sizeof(int64_t) + MAX_PAYLOAD_LEN);
    demand.add_strings(subscribers * (kNumberBytes + kSubscriberId.width));
    demand.add_keys(kForwardings * subscribers, sizeof(int64_t));
    const double transactions = threads * parameters.number("transactions_per_thread");
    demand.add_transactions((1 - kProcedureShare) * transactions, 1);
    demand.add_procedures(kProcedureShare * transactions, 5.2, 3.7, 2.6);
    return demand;
  }

  Result<script::Script> generate(const workload::Parameters& parameters, uint64_t seed,
                                  const workload::CheckPolicy& policy) override {
    return Generator(nonuniform_, parameters, seed, policy).write();
  }

  void judge(const script::Script& script, const script::Outcome& outcome,
             judge::Findings& findings) const override {
    judge::judge_script(script, outcome, findings);
    if (outcome.phases.size() <= kVerifyPhase) return;
    const Books books = keep_books(script, outcome, kLoadPhase, kRunPhase);
    check_rows(script.pools, books, read_rows(script, outcome, kVerifyPhase, books.subscribers()),
               findings);
  }

  void measure(const script::Script& script, const script::Outcome& outcome,
               std::span<const workload::PhaseMeasures> phases,
               workload::Metrics& metrics) const override {
    if (phases.size() <= kRunPhase || phases[kRunPhase].wall_ns == 0) return;
    const Books books = keep_books(script, outcome, kLoadPhase, kRunPhase);
    const auto succeeded = static_cast<double>(books.succeeded),
               all = succeeded + static_cast<double>(books.failed);
    if (!books.exact || all == 0) return;
    metrics["succeeded_per_s"] =
        succeeded * kNsPerSecond / static_cast<double>(phases[kRunPhase].wall_ns);
    metrics["failed_percent"] = 100 * (1 - succeeded / all);
  }

 private:
  bool nonuniform_;
};

}  // namespace
}  // namespace tatp

std::unique_ptr<workload::Workload> make_tatp(std::string_view instance) {
  return std::make_unique<tatp::Tatp>(instance == "nonuniform");
}

}  // namespace keydrome

// Generates the operations of the benchmark "tatp": the location register of a mobile operator, in
// five tables and seven transactions (README.md).
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/kit/workload/client_script.h"
#include "benchmarks/kit/workload/demand.h"
#include "benchmarks/kit/workload/workload.h"

namespace keydrome {
namespace tatp {
namespace {

enum Table : uint32_t { kSubscriber, kSubscriberNumber, kAccess, kFacility, kForwarding, kTables };

enum Operation : uint32_t {
  kGetSubscriberData,
  kGetNewDestination,
  kGetAccessData,
  kUpdateSubscriberData,
  kUpdateLocation,
  kInsertCallForwarding,
  kDeleteCallForwarding,
  kOperations
};
constexpr std::array<uint64_t, kOperations> kPercent = {35, 10, 35, 2, 14, 2, 2};
constexpr std::array kClasses = {"get_subscriber_data",   "get_new_destination",
                                 "get_access_data",       "update_subscriber_data",
                                 "update_location",       "insert_call_forwarding",
                                 "delete_call_forwarding"};
constexpr uint64_t kCallsOnAverage = 4;  // calls of a transaction, rounded up

// Access rows and facilities have a type, numbered 0 to 3 here. Forwardings have a start time,
// numbered 0 to 2 for 0:00, 8:00 and 16:00. The forwarding of a facility of type `type` has the
// number type * kStarts + start.
constexpr uint32_t kTypes = 4;
constexpr uint32_t kStarts = 3;
constexpr uint32_t kForwardings = kTypes * kStarts;
constexpr uint32_t kHoursPerStart = 8;

constexpr uint32_t forwarding_number(uint32_t type, uint32_t start) {
  return type * kStarts + start;
}

// Characters of each row after its tag (the first eight characters of a payload). Columns have
// fixed widths.
// A subscriber has 10 bits, 10 numbers of one digit, 10 of three digits and 2 of ten digits.
constexpr uint32_t kSubscriberBytes = 70;
constexpr uint32_t kAccessBytes = 14;      // 2 x 3 digits, 3 letters, 5 letters
constexpr uint32_t kFacilityBytes = 12;    // 1 flag, 2 x 3 digits, 5 letters
constexpr uint32_t kForwardingBytes = 17;  // an hour of 2 digits, a number of 15
constexpr uint32_t kTexts = 256;           // different texts of each table

constexpr uint64_t kActivePercent = 85;

// Returns the constant A of the specification's non-uniform distribution.
uint64_t nonuniform_a(uint64_t subscribers) {
  if (subscribers <= 1'000'000) return 65'535;
  return subscribers <= 10'000'000 ? 1'048'575 : 2'097'151;
}

Operation random_operation(workload::Rng& rng) {
  uint64_t percentile = rng.below(100);
  uint32_t operation = 0;
  while (percentile >= kPercent[operation]) percentile -= kPercent[operation++];
  return static_cast<Operation>(operation);
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

// Adds the keys of subscriber s to the pools. The position of each key in its pool is computed, not
// stored:
//
// - 32-bit keys and strings: position s.
// - 64-bit keys: 16 consecutive positions. The first 4 are for access_info and facility,
//   which have the same keys. The other 12 are for call_forwarding.
void add_keys(script::ScriptBuilder& builder, uint32_t s) {
  std::string number = std::to_string(s + 1);
  number.insert(0, 15 - number.size(), '0');
  builder.add_int32_key(static_cast<int32_t>(s + 1));
  builder.add_varchar_key(number);
  for (uint32_t type = 0; type < kTypes; ++type) {
    builder.add_int64_key(int64_t{s + 1} << 3 | (type + 1));
  }
  for (uint32_t row = 0; row < kForwardings; ++row) {
    const uint32_t type = row / kStarts + 1, hour = row % kStarts * kHoursPerStart;
    builder.add_int64_key(int64_t{s + 1} << 8 | type << 5 | hour);
  }
}

// Returns the position of a key in its pool. `row` is the type of an access row or a facility, or
// the number of a forwarding.
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
        forwarding_tags_(uint64_t{subscribers_} * kForwardings),
        facilities_(subscribers_),
        active_(subscribers_) {
    builder().add_index("subscriber", SHORT);
    builder().add_index("phone_number", VARCHAR);
    builder().add_index("access_info", INT);
    builder().add_index("facility", INT);
    builder().add_index("call_forwarding", INT);
    for (uint32_t s = 0; s < subscribers_; ++s) add_keys(builder(), s);
    for (const char* name : kClasses) builder().add_class(name);
    const std::array bytes = {kSubscriberBytes, 0u, kAccessBytes, kFacilityBytes, kForwardingBytes};
    for (uint32_t t = 0; t < kTables; ++t) {
      texts_[t] = workload::random_texts(builder(), seed + t, kTexts, bytes[t]);
    }
    add_clients(parameters.u32("threads"), [this](Rng& rng, uint32_t index) {
      const auto s = static_cast<uint32_t>(rng.below(subscribers_));
      return key(static_cast<Table>(index), s, 0);
    });
  }

 private:
  using Rows = std::array<std::vector<Row>, kTables>;

  script::Payload random_row(Table table, Rng& rng) {
    return builder().new_payload(texts_[table][rng.below(texts_[table].size())]);
  }

  // Returns a reference to the payload tag of the forwarding. The tag is kNoTag if the row does not
  // exist at this point of the script.
  uint32_t& forwarding_tag(uint32_t s, uint32_t row) {
    return forwarding_tags_[s * kForwardings + row];
  }

  // Returns the payload of an existing forwarding, or a new payload for a missing one. A second
  // insert of a row therefore repeats its payload and returns ENTRY_EXISTS, like an insert with an
  // existing primary key. A deleted payload is never used again.
  script::Payload forwarding(uint32_t s, uint32_t row) {
    uint32_t& tag = forwarding_tag(s, row);
    if (tag == format::kNoTag) tag = builder().new_payload().tag;
    return {.tag = tag, .text = texts_[kForwarding][tag % kTexts]};
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
    rows[kSubscriber].push_back({kSubscriber, s, random_row(kSubscriber, rng)});
    rows[kSubscriberNumber].push_back({kSubscriberNumber, s, builder().new_payload()});
    const uint32_t access = random_types(rng), facilities = random_types(rng);
    for (uint32_t type = 0; type < kTypes; ++type) {
      if ((access >> type & 1) != 0) {
        rows[kAccess].push_back({kAccess, key(kAccess, s, type), random_row(kAccess, rng)});
      }
      if ((facilities >> type & 1) == 0) continue;
      facilities_[s] |= static_cast<uint8_t>(1u << type);
      if (rng.below(100) < kActivePercent) active_[s] |= static_cast<uint8_t>(1u << type);
      rows[kFacility].push_back({kFacility, key(kFacility, s, type), random_row(kFacility, rng)});
      load_forwarding(s, type, rng, rows);
    }
  }

  // Loads zero to three forwardings of a facility, with different start times.
  void load_forwarding(uint32_t s, uint32_t type, Rng& rng, Rows& rows) {
    const std::vector<uint32_t> starts = workload::shuffled(kStarts, rng);
    const uint64_t count = rng.below(kStarts + 1);
    for (uint64_t i = 0; i < count; ++i) {
      const uint32_t row = forwarding_number(type, starts[i]);
      rows[kForwarding].push_back({kForwarding, key(kForwarding, s, row), forwarding(s, row)});
    }
  }

  void run() override {
    run_phase("run", transactions_, kCallsOnAverage,
              [this](Client& client) { transaction(client); });
  }

  void transaction(Client& client) {
    const Operation operation = random_operation(client.rng());
    const bool writes_forwarding =
        operation == kInsertCallForwarding || operation == kDeleteCallForwarding;
    const uint32_t any = random_subscriber(client.rng());
    const uint32_t s = writes_forwarding ? own_subscriber(client, any) : any;
    const auto type = static_cast<uint32_t>(client.rng().below(kTypes));
    const auto start = static_cast<uint32_t>(client.rng().below(kStarts));
    client.begin_on_all(operation);
    operate(client, operation, s, type, start);
    client.commit();
  }

  void operate(Client& client, Operation operation, uint32_t s, uint32_t type, uint32_t start) {
    switch (operation) {
      case kGetSubscriberData:
        return get(client, kSubscriber, s);
      case kGetNewDestination:
        get(client, kFacility, key(kFacility, s, type));
        for (uint32_t at = 0; (active_[s] >> type & 1) != 0 && at <= start; ++at) {
          get(client, kForwarding, key(kForwarding, s, forwarding_number(type, at)));
        }
        return;
      case kGetAccessData:
        return get(client, kAccess, key(kAccess, s, type));
      case kUpdateSubscriberData:
        get(client, kFacility, key(kFacility, s, type));
        if (!has_facility(s, type)) return;
        update(client, kSubscriber, s);
        return update(client, kFacility, key(kFacility, s, type));
      case kUpdateLocation:
        get(client, kSubscriberNumber, s);
        return update(client, kSubscriber, s);
      case kInsertCallForwarding:
        return insert_forwarding(client, s, type, start);
      default:
        return delete_forwarding(client, s, forwarding_number(type, start));
    }
  }

  void insert_forwarding(Client& client, uint32_t s, uint32_t type, uint32_t start) {
    const uint32_t row = forwarding_number(type, start);
    get(client, kSubscriberNumber, s);
    for (uint32_t t = 0; t < kTypes; ++t) get(client, kFacility, key(kFacility, s, t));
    const bool exists = forwarding_tag(s, row) != format::kNoTag;
    const uint8_t flags = exists ? format::kMayExist : uint8_t{0};
    if (!has_facility(s, type)) return;
    client.out().insert(kForwarding, key(kForwarding, s, row), forwarding(s, row), flags);
  }

  void delete_forwarding(Client& client, uint32_t s, uint32_t row) {
    get(client, kSubscriberNumber, s);
    client.out().delete_key(kForwarding, key(kForwarding, s, row));
    forwarding_tag(s, row) = format::kNoTag;
  }

  static void get(Client& client, Table table, uint32_t number) {
    client.out().get(static_cast<uint8_t>(table), number);
  }

  void update(Client& client, Table table, uint32_t number) {
    client.out().delete_key(static_cast<uint8_t>(table), number);
    client.out().insert(static_cast<uint8_t>(table), number, random_row(table, client.rng()));
  }

  bool has_facility(uint32_t s, uint32_t type) const { return (facilities_[s] >> type & 1) != 0; }

  // Returns a subscriber near `s` whose forwardings this thread writes. Only one thread writes the
  // forwardings of a subscriber, so the generator knows which of them exist.
  uint32_t own_subscriber(const Client& client, uint32_t s) const {
    const uint32_t own = s - s % clients().size() + client.number();
    return own < subscribers_ ? own : own - clients().size();
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
  std::array<std::vector<uint32_t>, kTables> texts_;
  // Payload tags by subscriber and forwarding number; kNoTag: the row does not exist.
  std::vector<uint32_t> forwarding_tags_;
  // Bit sets of the types of each subscriber: the facilities that exist, and the active ones. The
  // run does not change them.
  std::vector<uint8_t> facilities_, active_;
};

constexpr double kRecordsPerSubscriber = 11, kMeanRecordBytes = 40, kNumberBytes = 15;

class Tatp : public workload::Workload {
 public:
  explicit Tatp(bool nonuniform) : nonuniform_(nonuniform) {}

  workload::Demand demand(const workload::Parameters& parameters) const override {
    const double threads = parameters.number("threads"),
                 subscribers = parameters.number("subscribers");
    workload::Demand demand(threads);
    demand.add_load(kRecordsPerSubscriber * subscribers, kMeanRecordBytes);
    demand.set_longest(sizeof(int64_t) + kSubscriberBytes + format::kTagBytes);
    demand.add_strings(subscribers * kNumberBytes);
    demand.add_keys(kForwardings * subscribers, sizeof(int64_t));
    demand.add_transactions(threads * parameters.number("transactions_per_thread"),
                            kCallsOnAverage + 1);
    return demand;
  }

  Result<script::Script> generate(const workload::Parameters& parameters, uint64_t seed,
                                  const workload::CheckPolicy& policy) override {
    if (parameters["subscribers"] < parameters["threads"]) {
      return Error{"subscribers is " + std::to_string(parameters["subscribers"]) +
                   " and threads is " + std::to_string(parameters["threads"]) +
                   ", but each thread needs a subscriber of its own: raise subscribers to at least "
                   "threads, or lower threads"};
    }
    return Generator(nonuniform_, parameters, seed, policy).write();
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

// The TATP benchmark of a mobile operator's home location register (README.md).
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/kit/clients.h"
#include "benchmarks/kit/rng.h"
#include "benchmarks/kit/script_builder.h"
#include "benchmarks/kit/workload.h"

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

// Types of access and of facilities go from 0 to 3 here, starts of forwarding from 0 to 2 (0:00,
// 8:00 and 16:00).
constexpr uint32_t kTypes = 4;
constexpr uint32_t kStarts = 3;

// Bytes of the rows behind their tags: columns in fixed width.
constexpr uint32_t kSubscriberBytes = 70;  // 10 bits, 10 digits, 10 numbers of 3, two of 10
constexpr uint32_t kAccessBytes = 14;      // two numbers of 3, 3 and 5 letters
constexpr uint32_t kFacilityBytes = 12;    // active, two numbers of 3, 5 letters
constexpr uint32_t kForwardingBytes = 17;  // an hour, a number of 15 digits
constexpr uint32_t kTexts = 256;           // of each table

constexpr uint64_t kActivePercent = 85;

// The constant A of the specification's non-uniform law.
uint64_t nurand_a(uint64_t subscribers) {
  if (subscribers <= 1'000'000) return 65'535;
  return subscribers <= 10'000'000 ? 1'048'575 : 2'097'151;
}

Operation draw_operation(Rng& rng) {
  uint64_t draw = rng.below(100);
  uint32_t operation = 0;
  while (draw >= kPercent[operation]) draw -= kPercent[operation++];
  return static_cast<Operation>(operation);
}

// One to four types, each number of them equally likely; bit t is set when type t is among them.
uint32_t draw_types(Rng& rng) {
  uint32_t types = 0;
  for (uint64_t left = 1 + rng.below(kTypes); left > 0;) {
    const uint32_t bit = 1u << rng.below(kTypes);
    if ((types & bit) != 0) continue;
    types |= bit;
    --left;
  }
  return types;
}

// Writes the whole script; one use. A key's number in its pool follows from its subscriber s: s in
// the pool of 32-bit keys and of strings, and in that of 64-bit keys 16 numbers for each s: 4 of
// access, or of facilities (both tables have the same keys), and 12 of forwarding.
class Generator {
 public:
  Generator(bool nonuniform, const Parameters& parameters, uint64_t seed, const CheckPolicy& policy)
      : nonuniform_(nonuniform),
        seed_(seed),
        subscribers_(static_cast<uint32_t>(parameters["subscribers"])),
        transactions_(static_cast<uint64_t>(parameters["transactions_per_thread"])) {
    script_.add_index("subscriber", SHORT);
    script_.add_index("subscriber_number", VARCHAR);
    script_.add_index("access_info", INT);
    script_.add_index("special_facility", INT);
    script_.add_index("call_forwarding", INT);
    for (uint32_t s = 0; s < subscribers_; ++s) add_keys(s);
    for (const char* name : kClasses) script_.add_class(name);
    const std::array bytes = {kSubscriberBytes, 0u, kAccessBytes, kFacilityBytes, kForwardingBytes};
    for (uint32_t t = 0; t < kTables; ++t) {
      texts_[t] = random_texts(script_, seed + t, kTexts, bytes[t]);
    }
    clients_.emplace(
        script_, Clients::Options{.seed = seed,
                                  .threads = static_cast<uint32_t>(parameters["threads"]),
                                  .policy = policy,
                                  .probe = [this](Rng& rng, uint32_t index) {
                                    const auto s = static_cast<uint32_t>(rng.below(subscribers_));
                                    return key(static_cast<Table>(index), s, 0);
                                  }});
  }

  Script run() {
    const uint32_t create = script_.add_phase("create", 1, {});
    for (uint32_t table = 0; table < kTables; ++table) script_.thread(create, 0).create(table);
    load();
    clients_->start("run", transactions_ * 6);
    for (uint64_t i = 0; i < transactions_; ++i) {
      for (Client& client : *clients_) transaction(client);
    }
    clients_->finish();
    clients_->verify();
    return script_.build();
  }

 private:
  using Rows = std::array<std::vector<Row>, kTables>;
  static constexpr uint32_t kKeysEach = kTypes + kTypes * kStarts;

  void add_keys(uint32_t s) {
    std::string number = std::to_string(s + 1);
    number.insert(0, 15 - number.size(), '0');
    script_.add_int32_key(static_cast<int32_t>(s + 1));
    script_.add_varchar_key(number);
    for (uint32_t type = 0; type < kTypes; ++type) {
      script_.add_int64_key(int64_t{s + 1} << 3 | (type + 1));
    }
    for (uint32_t place = 0; place < kTypes * kStarts; ++place) {
      const uint32_t type = place / kStarts + 1, hour = place % kStarts * 8;
      script_.add_int64_key(int64_t{s + 1} << 8 | type << 5 | hour);
    }
  }

  // `place`: type of access or facility, or type * kStarts + start of forwarding.
  static uint32_t key(Table table, uint32_t s, uint32_t place) {
    if (table == kSubscriber || table == kSubscriberNumber) return s;
    return s * kKeysEach + place + (table == kForwarding ? kTypes : 0);
  }

  Payload row(Table table, Rng& rng) {
    return script_.new_payload(texts_[table][rng.below(texts_[table].size())]);
  }

  // Whether that row of call forwarding is there after all that was written so far, and its
  // payload.
  uint32_t& forwarding_tag(uint32_t s, uint32_t place) {
    return forwarding_tags_[s * kTypes * kStarts + place];
  }

  // The payload that is there, or a new one: so a second insert is refused, as by a primary key,
  // and what was deleted never comes back.
  Payload forwarding(uint32_t s, uint32_t place) {
    uint32_t& tag = forwarding_tag(s, place);
    if (tag == kNoTag) tag = script_.new_payload(0).tag;
    return {.tag = tag, .text = texts_[kForwarding][tag % kTexts]};
  }

  void load() {
    Rng rng(seed_, 0, Purpose::kPopulate);
    Rows rows;
    facilities_.resize(subscribers_);
    active_.resize(subscribers_);
    forwarding_tags_.resize(uint64_t{subscribers_} * kTypes * kStarts);
    for (const uint32_t s : shuffled(subscribers_, rng)) load_subscriber(s, rng, rows);
    // Table by table, so that a thread opens each once for many rows.
    std::vector<Row> all;
    for (const std::vector<Row>& of_table : rows) {
      all.insert(all.end(), of_table.begin(), of_table.end());
    }
    clients_->load(all.size(), [&](uint64_t i) { return all[i]; });
  }

  void load_subscriber(uint32_t s, Rng& rng, Rows& rows) {
    rows[kSubscriber].push_back({kSubscriber, s, row(kSubscriber, rng)});
    rows[kSubscriberNumber].push_back({kSubscriberNumber, s, script_.new_payload(0)});
    const uint32_t access = draw_types(rng), facilities = draw_types(rng);
    for (uint32_t type = 0; type < kTypes; ++type) {
      if ((access >> type & 1) != 0) {
        rows[kAccess].push_back({kAccess, key(kAccess, s, type), row(kAccess, rng)});
      }
      if ((facilities >> type & 1) == 0) continue;
      facilities_[s] |= static_cast<uint8_t>(1u << type);
      if (rng.below(100) < kActivePercent) active_[s] |= static_cast<uint8_t>(1u << type);
      rows[kFacility].push_back({kFacility, key(kFacility, s, type), row(kFacility, rng)});
      load_forwarding(s, type, rng, rows);
    }
  }

  // None to three rows, with different starts.
  void load_forwarding(uint32_t s, uint32_t type, Rng& rng, Rows& rows) {
    const std::vector<uint32_t> starts = shuffled(kStarts, rng);
    const uint64_t count = rng.below(kStarts + 1);
    for (uint64_t i = 0; i < count; ++i) {
      const uint32_t place = type * kStarts + starts[i];
      rows[kForwarding].push_back({kForwarding, key(kForwarding, s, place), forwarding(s, place)});
    }
  }

  void transaction(Client& client) {
    const Operation operation = draw_operation(client.rng());
    const bool forwards = operation == kInsertCallForwarding || operation == kDeleteCallForwarding;
    const uint32_t drawn = draw_subscriber(client.rng());
    const uint32_t s = forwards ? own_neighbour(client, drawn) : drawn;
    const auto type = static_cast<uint32_t>(client.rng().below(kTypes));
    const auto start = static_cast<uint32_t>(client.rng().below(kStarts));
    client.begin_on_all(operation);
    operate(client, operation, s, type, start);
    client.commit();
  }

  void operate(Client& client, Operation operation, uint32_t s, uint32_t type, uint32_t start) {
    const bool facility = (facilities_[s] >> type & 1) != 0;
    const uint32_t place = type * kStarts + start;
    switch (operation) {
      case kGetSubscriberData:
        return get(client, kSubscriber, s);
      case kGetNewDestination:
        get(client, kFacility, key(kFacility, s, type));
        for (uint32_t at = 0; (active_[s] >> type & 1) != 0 && at <= start; ++at) {
          get(client, kForwarding, key(kForwarding, s, type * kStarts + at));
        }
        return;
      case kGetAccessData:
        return get(client, kAccess, key(kAccess, s, type));
      case kUpdateSubscriberData:
        get(client, kFacility, key(kFacility, s, type));
        if (!facility) return;
        update(client, kSubscriber, s);
        return update(client, kFacility, key(kFacility, s, type));
      case kUpdateLocation:
        get(client, kSubscriberNumber, s);
        return update(client, kSubscriber, s);
      case kInsertCallForwarding: {
        get(client, kSubscriberNumber, s);
        for (uint32_t t = 0; t < kTypes; ++t) get(client, kFacility, key(kFacility, s, t));
        const bool there = forwarding_tag(s, place) != kNoTag;
        const uint8_t flags = (there ? kMayExist : uint8_t{0}) | client.sample();
        if (!facility) return;
        return client.out().insert(kForwarding, key(kForwarding, s, place), forwarding(s, place),
                                   flags);
      }
      default:
        get(client, kSubscriberNumber, s);
        client.out().delete_key(kForwarding, key(kForwarding, s, place), client.sample());
        forwarding_tag(s, place) = kNoTag;
    }
  }

  static void get(Client& client, Table table, uint32_t number) {
    client.out().get(static_cast<uint8_t>(table), number, client.sample());
  }

  void update(Client& client, Table table, uint32_t number) {
    client.out().delete_key(static_cast<uint8_t>(table), number, client.sample());
    client.out().insert(static_cast<uint8_t>(table), number, row(table, client.rng()));
  }

  // The forwardings of a subscriber are written by one thread, which so knows which are there.
  uint32_t own_neighbour(const Client& client, uint32_t s) const {
    const uint32_t own = s - s % clients_->size() + client.number();
    return own < subscribers_ ? own : own - clients_->size();
  }

  uint32_t draw_subscriber(Rng& rng) const {
    const uint64_t draw = rng.below(subscribers_);
    if (!nonuniform_) return static_cast<uint32_t>(draw);
    const uint64_t mixed = rng.below(nurand_a(subscribers_) + 1) | (draw + 1);
    return static_cast<uint32_t>(mixed % subscribers_);
  }

  bool nonuniform_;
  uint64_t seed_;
  uint32_t subscribers_;
  uint64_t transactions_;
  ScriptBuilder script_;
  std::array<std::vector<uint32_t>, kTables> texts_;
  // By subscriber and place of forwarding; kNoTag: that row is not there.
  std::vector<uint32_t> forwarding_tags_;
  // By subscriber, a bit for each type: whether it has such a facility, and whether that is active.
  // Neither changes.
  std::vector<uint8_t> facilities_, active_;
  std::optional<Clients> clients_;
};

class Tatp : public Workload {
 public:
  explicit Tatp(bool nonuniform) : nonuniform_(nonuniform) {}

  Result<Script> generate(const Parameters& parameters, uint64_t seed,
                          const CheckPolicy& policy) override {
    if (parameters["subscribers"] < parameters["threads"]) {
      return Error{
          "every thread writes forwardings of subscribers of its own: raise subscribers to "
          "at least the threads"};
    }
    return Generator(nonuniform_, parameters, seed, policy).run();
  }

 private:
  bool nonuniform_;
};

}  // namespace
}  // namespace tatp

std::unique_ptr<Workload> make_tatp(std::string_view instance) {
  return std::make_unique<tatp::Tatp>(instance == "nonuniform");
}

}  // namespace keydrome

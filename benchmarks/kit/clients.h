// Clients: what the threads of benchmarks on loaded tables have in common.
//
// A client keeps its index open for a hundred transactions. Behind each hundred of them (or every
// `check_every`) stand a stripe and a canary, so 2 % of all, and one call in 64 leaves evidence.
// What is drawn for checks never changes what is drawn for the stream (rng.h).
//
//   Clients clients(script, {.seed = seed, .threads = 4, .policy = policy, .probe = probe});
//   clients.load(records, [&](uint64_t i) { return Row{index, keys[i], payload}; });
//   clients.start("run");
//   for (uint64_t i = 0; i < transactions; ++i) {
//     for (Client& client : clients) {
//       client.begin(index, class_number);
//       client.out().get(Client::kSlot, key(client.rng()), client.sample());
//       client.commit();
//     }
//   }
//   clients.finish();
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/kit/canaries.h"
#include "benchmarks/kit/outcome_reader.h"
#include "benchmarks/kit/rng.h"
#include "benchmarks/kit/script_builder.h"
#include "benchmarks/kit/stripes.h"
#include "benchmarks/kit/workload.h"

namespace keydrome {

// A record that is written: which index, which key of its pool, which payload.
struct Row {
  uint32_t index = 0, key = 0;
  Payload payload;
};

class Clients;

// A thread and what it has open.
class Client {
 public:
  static constexpr uint8_t kSlot = 0;

  uint32_t number() const { return number_; }
  Rng& rng() { return rng_; }  // of the stream
  ThreadBuilder& out() { return *out_; }

  // `flag` for one call in 64, otherwise no flag.
  uint8_t sample(uint8_t flag = kEvidence);

  // Opens the index in kSlot unless it is open; closes what else is open.
  void use(uint32_t index);
  // A transaction of the stream on that index.
  void begin(uint32_t index, uint32_t class_number);
  // A transaction on all indexes, each in the slot of its number.
  void begin_on_all(uint32_t class_number);
  void commit();
  // What commit() does behind the transaction; for auto-commit calls.
  void done();
  void close();

 private:
  friend class Clients;
  Client(Clients& clients, uint32_t number, uint64_t seed)
      : clients_(&clients),
        number_(number),
        rng_(seed, number, Purpose::kStream),
        samples_(seed, number, Purpose::kSamples),
        checks_(seed, number, Purpose::kCanaries),
        turns_(number) {}

  Clients* clients_;
  std::optional<ThreadBuilder> out_;  // of the phase that was started last
  uint32_t number_;
  Rng rng_, samples_, checks_;
  uint32_t turns_;        // of the canaries
  uint64_t done_ = 0;     // transactions
  uint32_t in_open_ = 0;  // of them since the index was opened
  uint32_t opened_ = 0;   // index + 1; 0: none is open, kAll: all are
  static constexpr uint32_t kAll = UINT32_MAX;
};

class Clients {
 public:
  struct Options {
    uint64_t seed = 0;
    uint32_t threads = 1;
    CheckPolicy policy = {};
    // A key of that index for a canary: any that the stream may use, and none below its smallest.
    std::function<uint32_t(Rng& rng, uint32_t index)> probe;
    uint64_t check_every = 100;  // transactions of a client
  };

  // Every index has been added. Adds the class "check".
  Clients(ScriptBuilder& script, Options options);
  Clients(const Clients&) = delete;
  Clients& operator=(const Clients&) = delete;

  // The untimed phase "load": each thread inserts a contiguous part of `count` records by
  // auto-commit calls, with the insert of a stripe behind each hundred.
  void load(uint64_t count, const std::function<Row(uint64_t number)>& row);

  // Begins a timed phase of all clients, and ends it. Each thread is expected to have about
  // `ops_per_thread` ops. Returns its number.
  uint32_t start(const std::string& phase, uint64_t ops_per_thread = 0);
  void finish();

  // Makes all threads wait for the last of them; at most kEvents times in a phase. What comes next
  // begins at one moment for all.
  void meet();

  // The phase in which everything is read and compared.
  void verify();

  std::vector<Client>::iterator begin() { return clients_.begin(); }
  std::vector<Client>::iterator end() { return clients_.end(); }
  Client& operator[](uint32_t number) { return clients_[number]; }
  uint32_t size() const { return static_cast<uint32_t>(clients_.size()); }
  uint32_t check_class() const { return check_; }

 private:
  friend class Client;
  void load_part(ThreadBuilder out, uint32_t thread, uint64_t first, uint64_t last,
                 const std::function<Row(uint64_t)>& row);
  void append_checks(Client& client);

  ScriptBuilder* script_;
  Options options_;
  uint32_t check_;
  std::optional<Stripes> stripes_;
  std::optional<Canaries> canaries_;
  std::vector<Client> clients_;
  uint32_t meetings_ = 0;  // in this phase
};

// `count` texts of `bytes` printable characters each, all different in all likelihood; their
// numbers. No bytes: the empty text alone, so that a payload is its tag.
std::vector<uint32_t> random_texts(ScriptBuilder& script, uint64_t seed, uint32_t count,
                                   uint32_t bytes);

// The numbers 0 .. count-1 in an order drawn by `rng` (R. Durstenfeld, 1964).
std::vector<uint32_t> shuffled(uint32_t count, Rng& rng);

// Transactions of a class that the threads of a phase committed, per second of the referee's clock;
// auto-commit calls included.
double committed_per_second(const PhaseOutcome& outcome, const PhaseMeasures& phase,
                            uint32_t class_number);

}  // namespace keydrome

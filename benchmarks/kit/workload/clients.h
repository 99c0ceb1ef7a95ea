// Clients: writes the programs of client threads that work on loaded indexes. Most benchmarks use
// this class.
//
// A client keeps its index open for a hundred transactions. After each `check_every` transactions
// (100 by default) it makes two extra transactions. One is a stripe (stripes.h), on keys that only
// this thread uses. The other is a canary (canaries.h), on keys of the workload. By default, checks
// are thus 2 % of all transactions. The random numbers for checks are independent of those for the
// workload (rng.h).
//
//   Clients clients(script, {.seed = seed, .threads = 4, .policy = policy, .probe = probe});
//   clients.load(records, [&](uint64_t i) { return Row{index, keys[i], payload}; });
//   clients.start("run");
//   for (uint64_t i = 0; i < transactions; ++i) {
//     for (Client& client : clients) {
//       client.begin(index, class_number);
//       client.out().get(Client::kSlot, key(client.rng()));
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

#include "benchmarks/kit/script/outcome_reader.h"
#include "benchmarks/kit/script/script_builder.h"
#include "benchmarks/kit/workload/canaries.h"
#include "benchmarks/kit/workload/rng.h"
#include "benchmarks/kit/workload/stripes.h"
#include "benchmarks/kit/workload/workload.h"

namespace keydrome::workload {

// A record to insert: number of the index, number of the key in its pool, and payload.
struct Row {
  uint32_t index = 0, key = 0;
  script::Payload payload;
};

class Clients;

// Writes the program of one client thread and tracks the handles that it has open.
class Client {
 public:
  // The slot (a numbered variable of the thread) for the handle of the index in use.
  static constexpr uint8_t kSlot = 0;

  uint32_t number() const { return number_; }
  Rng& rng() { return rng_; }  // for the workload's own choices
  script::ThreadBuilder& out() { return *out_; }

  // Makes sure that the index is open in kSlot and that no other handle is open.
  void use(uint32_t index);
  // Makes sure that all indexes are open, index i in slot i.
  void use_all();
  // Begins a transaction of the workload on one index.
  void begin(uint32_t index, uint32_t class_number);
  // Begins a transaction of the workload on all indexes. Index i is open in slot i.
  void begin_on_all(uint32_t class_number);
  void commit();
  // Counts a transaction and appends the checks that are due. commit() calls done(). After
  // auto-commit calls, the workload must call done() itself.
  void done();
  // Closes all open handles.
  void close();

 private:
  friend class Clients;
  Client(Clients& clients, uint32_t number, uint64_t seed)
      : clients_(&clients),
        number_(number),
        rng_(seed, number, Purpose::kStream),
        checks_(seed, number, Purpose::kCanaries),
        turns_(number) {}

  Clients* clients_;
  std::optional<script::ThreadBuilder> out_;  // of the current phase
  uint32_t number_;
  Rng rng_, checks_;
  uint32_t turns_;        // selects the kind of the next canary
  uint64_t done_ = 0;     // transactions so far
  uint32_t in_open_ = 0;  // transactions since the index was opened
  uint32_t opened_ = 0;   // number of the open index + 1; 0: none is open; kAll: all are open
  static constexpr uint32_t kAll = UINT32_MAX;
};

// Writes the phases of all client threads.
class Clients {
 public:
  struct Options {
    uint64_t seed = 0;
    uint32_t threads = 1;
    CheckPolicy policy = {};
    // Returns the number of a key for a canary. The key may be any key that the workload may use.
    std::function<uint32_t(Rng& rng, uint32_t index)> probe;
    uint64_t check_every = 100;  // number of transactions between the checks of a client
  };

  // Adds the transaction class "check". REQUIRES: every index has been added to the script.
  Clients(script::ScriptBuilder& script, Options options);
  Clients(const Clients&) = delete;
  Clients& operator=(const Clients&) = delete;

  // Adds the untimed phase "load". Each thread inserts a contiguous part of the `count` records by
  // auto-commit calls. After each hundred records, it inserts one record for the stripes.
  void load(uint64_t count, const std::function<Row(uint64_t number)>& row);

  // Pins the timed phases that start() begins from now on: each client's thread stays on one CPU.
  void pin_threads() { pinned_ = true; }
  // start() begins a timed phase of all clients and returns its number. `ops_per_thread` is the
  // expected number of ops, for which memory is reserved. finish() ends the phase.
  uint32_t start(const std::string& phase, uint64_t ops_per_thread = 0);
  void finish();

  // Appends a barrier: every thread waits until all threads have reached it. REQUIRES (checked): at
  // most kEvents barriers in a phase.
  void barrier();

  // Adds the final scan, which reads all records, as a phase of its own.
  void verify(const std::string& phase = "verify");

  std::vector<Client>::iterator begin() { return clients_.begin(); }
  std::vector<Client>::iterator end() { return clients_.end(); }
  Client& operator[](uint32_t number) { return clients_[number]; }
  uint32_t size() const { return static_cast<uint32_t>(clients_.size()); }
  uint32_t check_class() const { return check_; }

 private:
  friend class Client;
  void load_part(script::ThreadBuilder out, uint32_t thread, uint64_t first, uint64_t last,
                 const std::function<Row(uint64_t)>& row);
  void append_checks(Client& client);

  script::ScriptBuilder* script_;
  Options options_;
  uint32_t check_;
  std::optional<Stripes> stripes_;
  std::optional<Canaries> canaries_;
  std::vector<Client> clients_;
  uint32_t barriers_ = 0;  // barriers of the current phase so far
  bool pinned_ = false;
};

// Adds `count` random texts of `bytes` printable characters to the script and returns their
// numbers. If `bytes` is 0, returns only the number of the empty text, so that a payload consists
// only of its tag, a unique number.
std::vector<uint32_t> random_texts(script::ScriptBuilder& script, uint64_t seed, uint32_t count,
                                   uint32_t bytes);

// Returns a random permutation of 0 .. count-1 (R. Durstenfeld, 1964).
std::vector<uint32_t> shuffled(uint32_t count, Rng& rng);

// Returns how many transactions of a class the phase committed per second. Auto-commit calls count.
// The time of the phase is the one that the referee, the process that runs the session, measured.
double committed_per_second(const script::PhaseOutcome& outcome, const PhaseMeasures& phase,
                            uint32_t class_number);

}  // namespace keydrome::workload

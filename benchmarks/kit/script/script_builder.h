// ScriptBuilder: writes the script of a benchmark, i.e. the operations (ops) of all its threads.
// Workloads use it in the referee, the process that runs and judges a session.
//
// The builder numbers keys, texts and tags (unique numbers of payloads), and marks where
// transactions begin and end. It also computes how much evidence (whole results of single calls)
// the player, the process that calls the library, can return. If the script could not be executed,
// the builder stops the process (KEYDROME_CHECK), because a broken generator is a bug of Keydrome.
//
//   ScriptBuilder script;
//   const uint32_t index = script.add_index("primary", VARCHAR);
//   const uint32_t key = script.add_varchar_key("a");
//   const uint32_t phase = script.add_phase("test", 1, {.timed = true});
//   ThreadBuilder thread = script.thread(phase, 0);
//   thread.open(0, index);
//   thread.begin(Kind::kStream, 0);
//   thread.insert(0, key, script.new_payload(0));
//   thread.commit();
//   thread.close(0);
//
// Not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/kit/format/program.h"
#include "benchmarks/kit/script/procedure_builder.h"
#include "benchmarks/kit/script/script.h"

namespace keydrome::script {

// The number of the empty text. A payload with this text consists of its tag alone.
inline constexpr uint32_t kNoText = 0;

// A payload: its tag in letters, followed by text number `text` of the pool.
struct Payload {
  uint32_t tag = 0;
  uint32_t text = kNoText;
};

class ScriptBuilder;

// Appends ops to one thread's program. The functions have the names of the ops in format/program.h.
// A slot is a thread's variable for an open handle. A get, getNext, insert or delete outside a
// transaction is an auto-commit call.
class ThreadBuilder {
 public:
  // Sets the kind (workload or check) and the transaction class of the auto-commit calls that
  // follow.
  void auto_commit_as(format::Kind kind, uint32_t class_number);
  // Allows the referee to begin a new piece (format/piece.h) at the next op. REQUIRES: no handle
  // and no transaction is open.
  void unit_start();

  void create(uint32_t index, uint8_t flags = 0);
  void open(uint8_t slot, uint32_t index, uint8_t flags = 0);
  // Opens an index that does not exist. Any result is legal and becomes evidence. The slot remains
  // free.
  void open_missing(uint8_t slot, uint32_t index);
  void close(uint8_t slot, uint8_t flags = 0);
  // Begins a transaction. `flags` is 0, kOneAttempt, or kOneAttempt with kAnyCode.
  void begin(format::Kind kind, uint32_t class_number, uint8_t flags = 0);
  void commit();
  void abort();
  void get(uint8_t slot, uint32_t key, uint8_t flags = 0);
  // Appends a get whose key is hidden by the thread's previous hidden get (hidden_key.h).
  // REQUIRES (checked): the open transaction is retried after DEADLOCK, and the script fulfils the
  // conditions of keys/hidden_keys.h.
  void get_hidden(uint8_t slot, uint32_t key);
  void next(uint8_t slot, uint32_t calls, uint8_t flags = 0);
  void next_to_end(uint8_t slot, uint32_t records_max, uint8_t flags = 0);
  void insert(uint8_t slot, uint32_t key, Payload payload, uint8_t flags = 0);
  void delete_key(uint8_t slot, uint32_t key, uint8_t flags = 0);
  void delete_pair(uint8_t slot, uint32_t key, Payload payload, uint8_t flags = 0);
  // Deletes the record that the last successful read of the slot returned in the open transaction.
  // The script does not determine which record this is. Therefore the default judge does not
  // require that any record of the index exists.
  void delete_read(uint8_t slot, uint8_t flags = 0);
  // Repeats the ops from number `first` up to the last one, `times` more times. `first` is the
  // result of size() before the first of these ops was appended. REQUIRES: these ops write nothing,
  // begin every transaction that they end, and close every handle that they open.
  void repeat(uint64_t first, uint32_t times);
  void signal(uint32_t event);
  void wait(uint32_t event, uint32_t count);
  // Yields the processor until the event has been signalled `count` times, for at most `us_max`
  // microseconds. The limit is needed because the open transaction may block the thread that
  // signals.
  void yield(uint32_t event, uint32_t count, uint32_t us_max);

  // Sets the arrival time of the next transaction in ns after GO, the start of the phase. The
  // latency of the transaction counts from its arrival time, even if the thread is still busy then.
  void arrive(uint64_t ns_after_go);

  // Ends the program here if so many ns have passed since GO. REQUIRES (checked): no handle and no
  // transaction is open, and the program begins with an op of this kind.
  void until(uint64_t ns_after_go);

  // Waits for the turn of step `number`. The steps of all threads take turns in the order of their
  // numbers (player/turns.h). If an earlier step takes longer than `us_max` microseconds, skips
  // this earlier step.
  void step(uint32_t number, uint32_t us_max);
  void step_done(uint32_t number);

  // Executes a procedure of the script, a list of instructions, in the open transaction. With
  // kEvidence in `flags`, the result of the procedure becomes evidence. If a procedure deletes from
  // an index, the default judge requires no records of this index, except under keys that no
  // procedure uses (keep_from_procedures()).
  //
  // REQUIRES: the handles of the procedure's slots are open. After this op, the transaction makes
  // no data calls except by other procedures.
  void run(uint32_t procedure, std::span<const int64_t> parameters, uint8_t flags = 0);

  // Makes one call with exactly these arguments, legal or not. The builder does not track the
  // effects of the call.
  void bare_call(uint8_t slot, const format::BareCall& call, uint32_t key = 0, uint32_t text = 0);

  // Returns the number that the next op will have.
  uint64_t size() const;

 private:
  friend class ScriptBuilder;
  struct State {
    std::array<uint32_t, format::kSlots> slots{};  // index + 1 of the open handle, 0: none
    uint64_t begin_at = UINT64_MAX;                // op of the open transaction's kBegin
    uint8_t kind = 0, class_number = 0;            // for auto-commit calls
    bool unit_start = false;
  };
  ThreadBuilder(ScriptBuilder& script, std::vector<format::Op>& ops, State& state)
      : script_(&script), ops_(&ops), state_(&state) {}
  bool in_transaction() const { return state_->begin_at != UINT64_MAX; }
  void append(format::Op op);
  void append_data(format::Op op);
  void end(format::OpCode code);
  void check_body(uint64_t first) const;

  ScriptBuilder* script_;
  std::vector<format::Op>* ops_;
  State* state_;
};

// The upper bounds for one execution of a procedure.
struct ProcedureLimits {
  uint32_t parameters = 0;
  uint32_t tags = 0;   // records that it inserts
  uint32_t calls = 0;  // calls to the library; if all calls are logged, sets the log's size
};

class ScriptBuilder {
 public:
  struct PhaseOptions {
    bool timed = false;
    bool verifies = false;
    bool recorded = false;
    bool pinned = false;
  };

  // These functions add an index or a key and return its number.
  uint32_t add_index(std::string name, KeyType type);
  uint32_t add_int32_key(int32_t key);
  uint32_t add_int64_key(int64_t key);
  // REQUIRES (checked): the key has at most MAX_VARCHAR_LEN bytes and contains no zero byte.
  uint32_t add_varchar_key(std::string_view key);
  // Sets the first varchar keys of the script. Key number i of `keys` gets pool number i. Each key
  // must satisfy the limits of add_varchar_key().
  void set_varchar_keys(Strings keys);
  // Announces that a procedure may compute the number of this varchar key from a record. Without
  // this, procedures can use only keys whose numbers are among their parameters. REQUIRES
  // (checked): the numbers ascend from call to call.
  void expect_computed_key(uint32_t number);
  // Announces that no procedure ever uses these keys. REQUIRES: no scan of a procedure can return a
  // record with one of these keys.
  void keep_from_procedures(KeyType type, KeyRange keys) { script_.pools.kept_keys[type] = keys; }
  // Sets which bits of a key get_hidden() hides. REQUIRES: all combinations of these bits are about
  // equally likely in the keys of get_hidden() (format/hidden_key.h).
  void hide_bits(uint32_t bits) { script_.hidden_bits = bits; }
  // Adds a text and returns its number. The empty text has number 0. REQUIRES (checked): the text
  // has at most MAX_PAYLOAD_LEN - kTagBytes bytes and contains no zero byte.
  uint32_t add_text(std::string_view text);
  // Reserve memory for `count` more strings with `bytes` bytes in total, so that the pools need not
  // be copied when they grow.
  void reserve_varchar_keys(std::size_t count, std::size_t bytes);
  void reserve_texts(std::size_t count, std::size_t bytes);
  // Returns a payload with a new, unique tag.
  Payload new_payload(uint32_t text = kNoText) { return {.tag = next_tag_++, .text = text}; }
  // Adds a transaction class and returns its number. Latencies and counts are reported for each
  // class.
  uint32_t add_class(std::string name);

  // Adds a procedure and returns its number.
  uint32_t add_procedure(const ProcedureBuilder& code, const ProcedureLimits& limits);

  // Adds a phase and returns its number.
  uint32_t add_phase(std::string name, uint32_t threads, PhaseOptions options);
  // Returns the builder for the program of one thread in one phase.
  ThreadBuilder thread(uint32_t phase, uint32_t thread);
  // Reserves memory for the ops of a phase.
  void reserve(uint32_t phase, uint64_t ops_per_thread);

  // Returns the number of keys of this type.
  uint32_t key_count(KeyType type) const;
  KeyType type(uint32_t index) const { return script_.indexes[index].type; }
  uint32_t index_count() const { return static_cast<uint32_t>(script_.indexes.size()); }
  const Pools& pools() const { return script_.pools; }
  // Returns the number of inserts into the index so far. No scan can return more records.
  uint32_t inserts(uint32_t index) const { return inserts_[index]; }
  // Announces that procedures may insert up to `records` records into the index.
  void expect_inserts(uint32_t index, uint32_t records) { inserts_[index] += records; }

  const std::vector<PhaseScript>& phases() const { return script_.phases; }
  // Where to insert a transaction: before op number `before`. Its ops begin at number `first` of
  // all inserted ops and end where those of the next insertion begin.
  struct Insertion {
    uint64_t before = 0, first = 0;
  };
  // Inserts whole transactions into a finished program of a thread, between its own transactions.
  // The inserted ops use handles that are open at their places. Reserves memory for `more` ops
  // after the program. REQUIRES: `places` ascend, and the program repeats no ops.
  void insert_transactions(uint32_t phase, uint32_t thread, std::span<const Insertion> places,
                           std::span<const format::Op> transactions, uint64_t more);

  // Returns the script, with the capacities of its traces (evidence) and logs. The builder cannot
  // be used afterwards.
  Script build();

 private:
  friend class ThreadBuilder;

  void set_windows();
  void check_numbers(const std::vector<format::Op>& ops) const;

  Script script_;
  std::vector<uint32_t> inserts_;
  std::deque<std::vector<ThreadBuilder::State>> states_;
  uint32_t next_tag_ = 1;  // 0 is kNoTag
};

// Turns every phase of the script into a recorded phase, in which the player logs every call.
void record_all(Script& script);

// Adds an untimed phase that scans every index to its end, on `threads` threads. The judge compares
// the returned records with the expected state (judge/expected_state.h). REQUIRES: all inserts of
// the script have been appended.
void add_verify_phase(ScriptBuilder& script, uint32_t threads, uint32_t class_number,
                      std::string name = "verify");

}  // namespace keydrome::script

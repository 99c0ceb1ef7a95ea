// ScriptBuilder: how a benchmark writes its script. It numbers keys, texts and tags, marks
// transactions, works out how much evidence can come back, and refuses a script that the player
// could not play (KEYDROME_CHECK: a broken generator is a bug of ours).
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

#include "benchmarks/kit/procedure_builder.h"
#include "benchmarks/kit/program.h"
#include "benchmarks/kit/workload.h"

namespace keydrome {

// A payload: its tag in letters, then text number `text` of the pool.
struct Payload {
  uint32_t tag = 0;
  uint32_t text = 0;
};

class ScriptBuilder;

// Appends ops to one thread's program. Calls on data outside begin() .. commit() or abort() are
// auto-commit calls.
class ThreadBuilder {
 public:
  // Kind and class of the auto-commit calls that follow.
  void auto_commit_as(Kind kind, uint32_t class_number);
  // The next op is one where a round may begin; no handle or transaction is open.
  void unit_start();

  void create(uint32_t index, uint8_t flags = 0);
  void open(uint8_t slot, uint32_t index, uint8_t flags = 0);
  // openIndex of an index that is not there: any answer is legal and becomes evidence; the slot
  // stays free.
  void open_missing(uint8_t slot, uint32_t index);
  void close(uint8_t slot, uint8_t flags = 0);
  // `flags`: kOneAttempt, with or without kAnyCode, or nothing.
  void begin(Kind kind, uint32_t class_number, uint8_t flags = 0);
  void commit();
  void abort();
  void get(uint8_t slot, uint32_t key, uint8_t flags = 0);
  void next(uint8_t slot, uint32_t calls, uint8_t flags = 0);
  void next_to_end(uint8_t slot, uint32_t records_max, uint8_t flags = 0);
  void insert(uint8_t slot, uint32_t key, Payload payload, uint8_t flags = 0);
  void delete_key(uint8_t slot, uint32_t key, uint8_t flags = 0);
  void delete_pair(uint8_t slot, uint32_t key, Payload payload, uint8_t flags = 0);
  // Deletes what the open transaction's last successful read of the slot returned, whatever that
  // is. The default judge then knows of no record of that index that it must be there.
  void delete_read(uint8_t slot, uint8_t flags = 0);
  void mark();
  // Runs the ops since `first` (an earlier size()) `times` more times.
  void repeat(uint64_t first, uint32_t times);
  void signal(uint32_t event);
  void wait(uint32_t event, uint32_t count);
  // Lets others run until the event was signalled `count` times, but not longer than `us_max`:
  // never waits for a thread that may be blocked by the open transaction.
  void yield(uint32_t event, uint32_t count, uint32_t us_max);

  // The transaction that begins next is asked for that long after the phase's GO, be the thread
  // ready or not: its latency counts from then.
  void arrive(uint64_t ns_after_go);

  // Waits for its turn in the phase's baton; a step before it that takes longer than `us_max` is
  // passed over.
  void step(uint32_t number, uint32_t us_max);
  void step_done(uint32_t number);

  // Plays a procedure of the script in the open transaction; the handles of its slots are open. No
  // call on records follows it in that transaction, but another procedure may.
  // `flags`: kEvidence for its result, or nothing. The default judge then knows of no record of the
  // indexes that it writes that it must be there.
  void run(uint32_t procedure, std::span<const int64_t> parameters, uint8_t flags = 0);

  // One call as it stands, fair or not. The script knows nothing of what it does.
  void bare_call(uint8_t slot, const BareCall& call, uint32_t key = 0, uint32_t text = 0);

  // Ordinal of the next op.
  uint64_t size() const;

 private:
  friend class ScriptBuilder;
  struct State {
    std::array<uint32_t, kSlots> slots{};  // index + 1 of the open handle, 0: none
    uint64_t begin_at = UINT64_MAX;        // of the open transaction
    uint8_t kind = 0, class_number = 0;    // of auto-commit calls
    bool unit_start = false;
  };
  ThreadBuilder(ScriptBuilder& script, std::vector<Op>& ops, State& state)
      : script_(&script), ops_(&ops), state_(&state) {}
  bool in_transaction() const { return state_->begin_at != UINT64_MAX; }
  void append(Op op);
  void append_data(Op op);
  void end(OpCode code);

  ScriptBuilder* script_;
  std::vector<Op>* ops_;
  State* state_;
};

// What one run of a procedure takes at most.
struct ProcedureLimits {
  uint32_t parameters = 0;
  uint32_t tags = 0;   // records that it inserts
  uint32_t calls = 0;  // of the library; room in the log of a recorded run
};

class ScriptBuilder {
 public:
  struct PhaseOptions {
    bool timed = false;
    bool verifies = false;
    bool recorded = false;
  };

  uint32_t add_index(std::string name, KeyType type);
  uint32_t add_int32_key(int32_t key);
  uint32_t add_int64_key(int64_t key);
  // At most MAX_VARCHAR_LEN bytes, none of them zero.
  uint32_t add_varchar_key(std::string_view key);
  // The first varchar keys of the script: they keep their numbers. The same holds for each.
  void set_varchar_keys(Strings keys);
  // The number of the text; 0 is the empty one. At most MAX_PAYLOAD_LEN - kTagBytes bytes,
  // none of them zero.
  uint32_t add_text(std::string_view text);
  // Room for so many more strings of so many bytes together: without it the pools grow by being
  // copied.
  void reserve_varchar_keys(std::size_t count, std::size_t bytes);
  void reserve_texts(std::size_t count, std::size_t bytes);
  // A payload that no other call returned.
  Payload new_payload(uint32_t text) { return {.tag = next_tag_++, .text = text}; }
  // The number of the transaction class, for latencies and counts.
  uint32_t add_class(std::string name);

  // The number of the procedure.
  uint32_t add_procedure(const ProcedureBuilder& code, const ProcedureLimits& limits);

  uint32_t add_phase(std::string name, uint32_t threads, PhaseOptions options);
  ThreadBuilder thread(uint32_t phase, uint32_t thread);
  void reserve(uint32_t phase, uint64_t ops_per_thread);

  KeyType type(uint32_t index) const { return script_.indexes[index].type; }
  uint32_t index_count() const { return static_cast<uint32_t>(script_.indexes.size()); }
  const Pools& pools() const { return script_.pools; }
  // How many insert ops there are for that index so far: no scan of it can give more records.
  uint32_t inserts(uint32_t index) const { return inserts_[index]; }
  // Procedures may make the index so many records larger.
  void expect_inserts(uint32_t index, uint32_t records) { inserts_[index] += records; }

  // The script, with the room that its evidence needs. Ends the builder.
  Script build();

 private:
  friend class ThreadBuilder;

  // Of evidence, at most.
  struct RecordBytes {
    uint64_t with_string, with_integer;  // as key
  };
  RecordBytes longest_records() const;
  uint64_t trace_bytes(const std::vector<Op>& ops, const RecordBytes& longest) const;
  uint64_t evidence_records(const Op& op) const;
  std::size_t key_count(KeyType type) const;

  Script script_;
  std::vector<uint32_t> inserts_;
  std::deque<std::vector<ThreadBuilder::State>> states_;
  uint32_t next_tag_ = 1;
};

// Has the whole script recorded, whatever its benchmark says.
void record_all(Script& script);

// Adds the untimed phase that reads every index to its end, spread over `threads` threads: the
// judge compares what is there with what must and may be there (ledger.h). Every insert of the
// script must have been written before.
void add_verify_phase(ScriptBuilder& script, uint32_t threads, uint32_t class_number,
                      std::string name = "verify");

}  // namespace keydrome

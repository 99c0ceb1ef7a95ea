// UnitScript: the calls of the three threads of the benchmark "unit" (the unit tests of the SIGMOD
// contest of 2009), and the result that each call must give.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "benchmarks/kit/judge/expectations.h"
#include "benchmarks/kit/script/script_builder.h"

namespace keydrome::unit {

// Writes one script. An object is used once. No transaction waits for another thread without a time
// limit, so a library may lock whole indices, or pages as Berkeley DB does, until the end of a
// transaction.
class UnitScript {
 public:
  explicit UnitScript(uint32_t rounds);

  script::Script build();
  judge::Expectations take_expectations() { return std::move(expectations_); }

  // The phase and the number of the observer, the thread that reads while another thread writes.
  // The observer reads two indices in one transaction, and the judge compares the two results.
  static constexpr uint32_t kTestPhase = 1;
  static constexpr uint32_t kObserver = 2;

 private:
  enum Key : uint32_t { kEmpty, kA, kAa, kB, kC, kD, kE, kKeys };

  void handles(script::ThreadBuilder& out);
  void primary_thread(script::ThreadBuilder out);
  void payloads_and_duplicates(script::ThreadBuilder& out);
  void deletes(script::ThreadBuilder& out);
  void cursors(script::ThreadBuilder& out);
  void cursor_and_writes(script::ThreadBuilder& out);
  void aborts(script::ThreadBuilder& out);
  void large_abort(script::ThreadBuilder& out);
  void auto_commits(script::ThreadBuilder& out);
  void handles_in_transactions(script::ThreadBuilder& out);
  void order_of_keys(script::ThreadBuilder& out);
  void two_indices(script::ThreadBuilder& out);
  void written_and_aborted(script::ThreadBuilder& out);
  void secondary_thread(script::ThreadBuilder out);
  void observer_thread(script::ThreadBuilder out);

  // Each function adds an expectation for the operation that was appended last: its results must be
  // in `answers`. A wrong result fails the library if the expectation was added by require(), and
  // is only a warning if it was added by advise(). `rule` states the expectation in words.
  void require(script::ThreadBuilder& out, const char* name, const char* rule,
               judge::Answers answers);
  void advise(script::ThreadBuilder& out, const char* name, const char* rule,
              judge::Answers answers);
  // Returns the answer "a record with this key and one of these payloads".
  static std::vector<judge::Answer> one_of(uint32_t key, std::vector<script::Payload> payloads) {
    return {judge::Answer::record(key, std::move(payloads))};
  }
  script::Payload payload(const char* text) { return script_.new_payload(script_.add_text(text)); }

  script::ScriptBuilder script_;
  judge::Expectations expectations_;
  uint32_t rounds_;
  uint32_t check_ = 0;
  uint32_t thread_ = 0;  // the thread whose calls are being written
  uint32_t phase_ = 0;
  uint32_t primary_ = 0, secondary_ = 0, terciary_ = 0, missing_ = 0;
  std::vector<uint32_t> keys_;     // by Key
  std::vector<uint32_t> numbers_;  // ascending keys of the index terciary_
  std::vector<uint32_t> many_;     // keys that large_abort() inserts into the index terciary_
  script::Payload a1_, a2_, c1_;
};

}  // namespace keydrome::unit

// The unit tests' script: what the three threads do and what each call must answer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "benchmarks/kit/expectations.h"
#include "benchmarks/kit/script_builder.h"

namespace keydrome::unit {

// Writes one script; one use. No transaction waits for another thread, so a library may lock whole
// indices until the end of a transaction, or pages as Berkeley DB does.
class UnitScript {
 public:
  explicit UnitScript(uint32_t rounds);

  Script build();
  Expectations take_expectations() { return std::move(expectations_); }

  // Where the looker-on reads two indices in one transaction: the judge compares the two answers.
  static constexpr uint32_t kTestPhase = 1;
  static constexpr uint32_t kLookerOn = 2;

 private:
  enum Key : uint32_t { kEmpty, kA, kAa, kB, kC, kD, kUmlaut, kKeys };

  void handles(ThreadBuilder& out);
  void primary_thread(ThreadBuilder out);
  void payloads_and_duplicates(ThreadBuilder& out);
  void deletes(ThreadBuilder& out);
  void cursors(ThreadBuilder& out);
  void cursor_and_writes(ThreadBuilder& out);
  void aborts(ThreadBuilder& out);
  void auto_commits(ThreadBuilder& out);
  void handles_in_transactions(ThreadBuilder& out);
  void order_of_keys(ThreadBuilder& out);
  void two_indices(ThreadBuilder& out);
  void shown_and_aborted(ThreadBuilder& out);
  void secondary_thread(ThreadBuilder out);
  void looker_on(ThreadBuilder out);

  // The op appended last must give these answers.
  void require(ThreadBuilder& out, const char* name, const char* rule, Answers answers);
  void advise(ThreadBuilder& out, const char* name, const char* rule, Answers answers);
  // One record with that key and one of these payloads.
  static std::vector<Answer> one_of(uint32_t key, std::vector<Payload> payloads) {
    return {Answer::record(key, std::move(payloads))};
  }
  Payload payload(const char* text) { return script_.new_payload(script_.add_text(text)); }

  ScriptBuilder script_;
  Expectations expectations_;
  uint32_t rounds_;
  uint32_t check_ = 0;
  uint32_t thread_ = 0;  // being written
  uint32_t phase_ = 0;
  uint32_t primary_ = 0, secondary_ = 0, terciary_ = 0, missing_ = 0;
  std::vector<uint32_t> keys_;     // by Key
  std::vector<uint32_t> numbers_;  // ascending keys of the terciary index
  Payload a1_, a2_, c1_;
};

}  // namespace keydrome::unit

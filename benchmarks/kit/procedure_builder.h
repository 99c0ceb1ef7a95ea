// ProcedureBuilder: how a benchmark writes a procedure (procedure.h). Registers and rows are
// numbers below kRegisters and kRows; slots are the open handles of the thread that runs it.
//
//   ProcedureBuilder p;
//   p.parameter(kKey);
//   p.get(kSlot, kKey, kRow);
//   p.load(kBalance, kRow, {.at = 0, .width = 6, .is_signed = true});
//   ...
//   const uint32_t number = script.add_procedure(p, {.parameters = 1, .tags = 1, .calls = 3});
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "benchmarks/kit/procedure.h"

namespace keydrome {

class ProcedureBuilder {
 public:
  // A place that jumps go to; placed once.
  using Label = uint32_t;
  static constexpr Label kNowhere = UINT32_MAX;
  Label label();
  void place(Label label);

  // Without `missing` a record that is not found makes the transaction unfit.
  void get(uint8_t slot, uint8_t key, uint8_t row, Label missing = kNowhere);
  void get_by_text(uint8_t slot, uint8_t key_row, uint8_t row, Label missing = kNowhere);
  void scan(uint8_t slot, uint8_t from, uint8_t end, Field field, uint8_t limit = 0);
  void insert(uint8_t slot, uint8_t key, uint8_t row);
  void remove(uint8_t slot, uint8_t key);
  // What an update is: there is no such call.
  void replace(uint8_t slot, uint8_t key, uint8_t row);

  void parameter(uint8_t to);
  void set(uint8_t to, int32_t number);
  void add(uint8_t to, uint8_t a, uint8_t b);
  void subtract(uint8_t to, uint8_t a, uint8_t b);
  void multiply(uint8_t to, uint8_t a, uint8_t b);
  void divide(uint8_t to, uint8_t a, int32_t by);
  void shift(uint8_t to, uint8_t a, int32_t bits);
  void text(uint8_t row, uint8_t number);
  void copy(uint8_t row, uint8_t at, uint8_t width, uint8_t from_row, uint8_t from_at);
  void load(uint8_t to, uint8_t row, Field field);
  void store(uint8_t row, Field field, uint8_t from);
  void count(uint8_t to);
  void element(uint8_t to, uint8_t number);
  void sort();

  void jump(Label to);
  void jump_if_less(uint8_t a, uint8_t b, Label to);
  void jump_if_equal(uint8_t a, uint8_t b, Label to);
  void result(uint8_t from);
  void unfit();
  void roll_back();
  void end();

  // With labels as places. Every label that is used must have been placed; ends with end().
  std::vector<Instruction> build() const;

 private:
  void append(const Instruction& instruction);

  std::vector<Instruction> code_;  // jumps: n is a label + 1
  std::vector<uint32_t> places_;   // by label
};

}  // namespace keydrome

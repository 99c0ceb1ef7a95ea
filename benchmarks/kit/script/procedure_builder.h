// ProcedureBuilder: writes a procedure, a short program whose later calls depend on earlier
// results. format/procedure.h explains each instruction. The authors of benchmarks use the builder.
//
// Arguments of type uint8_t are numbers of registers (below kRegisters), rows (below kRows) or
// slots, as their names say. A slot is an open handle of the thread that executes the procedure.
//
//   ProcedureBuilder p;
//   p.parameter(kKey);
//   p.get(kSlot, kKey, kRow);
//   p.load(kBalance, kRow, {.at = 0, .width = 6, .is_signed = true});
//   ...
//   const uint32_t number =
//       script.add_procedure(p, {.parameters = 1, .tags = 1, .calls = 3});
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "benchmarks/kit/format/procedure.h"

namespace keydrome::script {

class ProcedureBuilder {
 public:
  // A label is the target of jumps. label() creates a label, and place() puts it before the next
  // instruction. A label must be placed exactly once.
  using Label = uint32_t;
  static constexpr Label kNowhere = UINT32_MAX;
  Label label();
  void place(Label label);

  // If the record is not found, get() and get_by_text() jump to `missing`. Without `missing`, the
  // transaction becomes unfit, which means that it must not commit.
  void get(uint8_t slot, uint8_t key, uint8_t row, Label missing = kNowhere);
  void get_by_text(uint8_t slot, uint8_t key_row, uint8_t row, Label missing = kNowhere);
  void scan(uint8_t slot, uint8_t from, uint8_t end, format::Field field, uint8_t limit = 0);
  void insert(uint8_t slot, uint8_t key, uint8_t row);
  void remove(uint8_t slot, uint8_t key);
  // Updates a record: deletes the key and inserts the row, because the index API has no update.
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
  void load(uint8_t to, uint8_t row, format::Field field);
  void store(uint8_t row, format::Field field, uint8_t from);
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

  // Returns the instructions with their labels resolved. REQUIRES (checked): the last instruction
  // is end(), and every label that is used has been placed.
  std::vector<format::Instruction> build() const;

 private:
  void append(const format::Instruction& instruction);

  std::vector<format::Instruction> code_;  // in jumps, n is a label + 1
  std::vector<uint32_t> places_;           // position of each label
};

}  // namespace keydrome::script

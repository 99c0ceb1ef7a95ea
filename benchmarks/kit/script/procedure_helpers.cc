// Implements procedure_helpers.h: appends instruction sequences that several procedures have in
// common. A procedure is a short program that the player executes as one operation.
#include "benchmarks/kit/script/procedure_helpers.h"

#include "base/check.h"

namespace keydrome::script {

void take_parameters(ProcedureBuilder& p, std::initializer_list<uint8_t> registers) {
  for (const uint8_t to : registers) p.parameter(to);
}

void set_zero_and_one(ProcedureBuilder& p, uint8_t zero, uint8_t one) {
  p.set(zero, 0);
  p.set(one, 1);
}

void add_to_field(ProcedureBuilder& p, uint8_t row, format::Field field, uint8_t amount,
                  uint8_t scratch) {
  p.load(scratch, row, field);
  p.add(scratch, scratch, amount);
  p.store(row, field, scratch);
}

void subtract_from_field(ProcedureBuilder& p, uint8_t row, format::Field field, uint8_t amount,
                         uint8_t scratch) {
  p.load(scratch, row, field);
  p.subtract(scratch, scratch, amount);
  p.store(row, field, scratch);
}

void add_numbered_procedure(ScriptBuilder& builder, uint32_t number, const ProcedureBuilder& code,
                            const ProcedureLimits& limits) {
  KEYDROME_CHECK(builder.add_procedure(code, limits) == number);
}

}  // namespace keydrome::script

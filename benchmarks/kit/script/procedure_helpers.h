// Appends sequences of instructions that the procedures of several benchmarks have in common. A
// procedure is a short program whose later calls depend on earlier results (format/procedure.h).
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "benchmarks/kit/script/procedure_builder.h"
#include "benchmarks/kit/script/script_builder.h"

namespace keydrome::script {

// Stores the procedure's next parameters in these registers, in this order.
void take_parameters(ProcedureBuilder& p, std::initializer_list<uint8_t> registers);

// Sets two registers to the constants 0 and 1.
void set_zero_and_one(ProcedureBuilder& p, uint8_t zero, uint8_t one);

// Adds the number in register `amount` to a field of `row`, or subtracts it from the field.
// Afterwards register `scratch` contains the new value of the field.
void add_to_field(ProcedureBuilder& p, uint8_t row, format::Field field, uint8_t amount,
                  uint8_t scratch);
void subtract_from_field(ProcedureBuilder& p, uint8_t row, format::Field field, uint8_t amount,
                         uint8_t scratch);

// Adds a procedure to the script. REQUIRES (checked): `number` procedures have been added before,
// so the new procedure gets the number `number`.
void add_numbered_procedure(ScriptBuilder& builder, uint32_t number, const ProcedureBuilder& code,
                            const ProcedureLimits& limits);

}  // namespace keydrome::script

/* Says which fault of runtime/control/mutant.h a mutant has. */
extern const int keydrome_mutant_number;
const int keydrome_mutant_number = KEYDROME_MUTANT;

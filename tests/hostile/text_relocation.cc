// D41: an address in the code, which the loader would have to write there.
__asm__(
    ".text\n"
    ".globl keydrome_text_relocation\n"
    ".type keydrome_text_relocation, @object\n"
    "keydrome_text_relocation: .quad keydrome_text_relocation\n"
    ".size keydrome_text_relocation, 8\n");

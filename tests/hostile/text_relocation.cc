// Case D41c: a library with an address in its code segment (a text relocation), so that the loader
// would have to write to the code. The inspection of uploads must refuse this library.
__asm__(
    ".text\n"
    ".globl keydrome_text_relocation\n"
    ".type keydrome_text_relocation, @object\n"
    "keydrome_text_relocation: .quad keydrome_text_relocation\n"
    ".size keydrome_text_relocation, 8\n");

/* Passes the contents of files to a fuzz target, in builds without libFuzzer.
   Usage: TARGET FILE... */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

/* Reads a file into a block of exactly its size, so that a sanitizer reports any access beyond the
   end. Returns 0 if the target accepts the file, 1 if it does not, and -1 if the file cannot be
   read. */
static int play(const char* path) {
  FILE* file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END) != 0) {
    return -1;
  }
  size_t size = (size_t)ftell(file);
  uint8_t* data = malloc(size ? size : 1);
  int result = -1;
  if (data && fseek(file, 0, SEEK_SET) == 0 && fread(data, 1, size, file) == size) {
    result = LLVMFuzzerTestOneInput(data, size) != 0;
  }
  free(data);
  fclose(file);
  return result;
}

int main(int argc, char** argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: %s FILE...\n", argv[0]);
    return 2;
  }
  for (int i = 1; i < argc; i++) {
    const int result = play(argv[i]);
    if (result != 0) {
      if (result < 0) {
        perror(argv[i]);
      } else {
        fprintf(stderr,
                "%s: the fuzz target did not return 0 for this file, as it must for every file of "
                "its corpus: correct the target, or remove the file\n",
                argv[i]);
      }
      return 1;
    }
  }
  printf("the fuzz target accepted all files; number of files: %d\n", argc - 1);
  return 0;
}

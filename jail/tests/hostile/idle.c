/* Ends at once: the cheapest program. */
int main(int argc, char** argv) {
  (void)argv;
  return argc - 1;
}

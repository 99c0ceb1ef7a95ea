/* Test program for the jail (a sandbox for one program), not hostile: exits at once, so that
 * measurements see only the cost of the jail. The exit code is the number of arguments. */
int main(int argc, char** argv) {
  (void)argv;
  return argc - 1;
}

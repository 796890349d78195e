/* The command line: sets the locale, dispatches, gives the exit code. */
#include <stdio.h>

int main(void) {
  puts("mmtutor " MMTUTOR_VERSION);
  return 0;
}

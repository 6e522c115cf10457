/// A C program that sends marks.

#include "hw_mark.h"

#include <locale.h>
#include <stdio.h>

int main(void) {
  // The decimal comma of this locale, if the machine has it, must not appear in a line.
  setlocale(LC_ALL, "de_DE.UTF-8");
  hw_mark_phase("load");
  for (int turn = 0; turn < 3; turn++) hw_mark_iteration();
  hw_mark_value("cache entries", 0.1, "items");
  hw_mark_named("done");
  printf("%d %lu\n", hw_mark_is_connected(), hw_mark_dropped());
  return 0;
}

/// A C program that marks its work.

#include "hw_mark.h"

#include <locale.h>
#include <stdio.h>

int main(void) {
  // A decimal comma, where the machine has such a locale, must not get into a line.
  setlocale(LC_ALL, "de_DE.UTF-8");
  hw_mark_phase("load");
  for (int turn = 0; turn < 3; turn++) hw_mark_iteration();
  hw_mark_value("cache entries", 0.1, "items");
  hw_mark_named("done");
  printf("%d %lu\n", hw_mark_is_connected(), hw_mark_dropped());
  return 0;
}

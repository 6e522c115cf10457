#ifndef HW_INTERNAL_H
#define HW_INTERNAL_H

/// Appends a text without its end; returns where the next one goes.
static inline char *hw_put_text(char *to, const char *text) {
  while (*text != '\0') *to++ = *text++;
  return to;
}

/// Appends a number that is not negative; returns where the next text goes.
static inline char *hw_put_number(char *to, long number) {
  char digits[24];
  int count = 0;
  do {
    digits[count++] = (char)('0' + number % 10);
    number /= 10;
  } while (number > 0);
  while (count > 0) *to++ = digits[--count];
  return to;
}

#endif

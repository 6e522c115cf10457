// A server that handles 60,000 requests, each with some temporaries, and holds what the macros say.
//
// Temporaries extend the heap, and what is kept fills their holes: who touched a page first is not who holds it.
#include <stdlib.h>
#include <string.h>

#define OWN __attribute__((noinline)) static
#ifndef LEAK
#define LEAK 0  // bytes kept of each request
#endif
#ifndef KEYS
#define KEYS 1000  // entries of 3,000 bytes in the cache
#endif
#ifndef BLOCK
#define BLOCK 0  // bytes of one block that is loaded at the start
#endif
#ifndef SPIKE
#define SPIKE 0  // small objects that are released after request 30,000
#endif

void *cache[4096], *kept[60000], *spike[1000000];
char *table;

OWN char *parse_field(size_t size) { return memset(malloc(size), 1, size); }
OWN void remember(int number) {
  if (LEAK > 0) kept[number] = memset(malloc(LEAK), 2, LEAK);
}
OWN void cache_put(int key) {
  if (cache[key] == NULL) cache[key] = memset(malloc(3000), 3, 3000);
}
OWN void load_table(void) {
  if (BLOCK > 0) table = memset(malloc(BLOCK), 4, BLOCK);
}
OWN void small_spike(void) {
  for (int at = 0; at < SPIKE; at++) spike[at] = memset(malloc(100), 5, 100);
  for (int at = 0; at < SPIKE; at++) free(spike[at]);
}
OWN void handle_request(int number) {
  char *fields[34];
  for (int at = 0; at < 34; at++) fields[at] = parse_field(16 + (number * 7 + at * 13) % 200);
  remember(number);
  cache_put(number % KEYS);
  if (number == 30000) small_spike();
  for (int at = 0; at < 34; at++) free(fields[at]);
}

int main(void) {
  load_table();
  for (int number = 0; number < 60000; number++) handle_request(number);
  return table != NULL && table[0] == 0;
}

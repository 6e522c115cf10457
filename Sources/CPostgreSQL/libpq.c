#include "CPostgreSQL.h"

#include <dlfcn.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/socket.h>

static struct hw_pq functions;
static const struct hw_pq *loaded;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const struct {
  const char *name;
  size_t place;
} names[] = {
#define FUNCTION(name) {"PQ" #name, offsetof(struct hw_pq, name)}
  FUNCTION(conninfoParse),  FUNCTION(conndefaults),      FUNCTION(conninfoFree),  FUNCTION(connectStartParams),
  FUNCTION(connectPoll),    FUNCTION(status),            FUNCTION(socket),        FUNCTION(errorMessage),
  FUNCTION(setnonblocking), FUNCTION(setNoticeReceiver), FUNCTION(finish),        FUNCTION(sendQuery),
  FUNCTION(sendQueryParams), FUNCTION(flush),            FUNCTION(consumeInput),  FUNCTION(isBusy),
  FUNCTION(getResult),      FUNCTION(resultStatus),      FUNCTION(resultErrorField), FUNCTION(ntuples),
  FUNCTION(getvalue),       FUNCTION(getisnull),         FUNCTION(clear),
};

_Static_assert(
  sizeof names / sizeof names[0] * sizeof(void (*)(void)) == sizeof(struct hw_pq), "each function has a name");

static void load(void) {
  void *library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    void *function = dlsym(library, names[i].name);
    if (function == NULL) return;
    *(void **)((char *)&functions + names[i].place) = function;
  }
  loaded = &functions;
}

const struct hw_pq *hw_pq_load(void) {
  pthread_once(&once, load);
  return loaded;
}

uint64_t hw_pq_received(int socket) {
  // An older kernel fills less of it.
  struct tcp_info info = {.tcpi_bytes_received = 0};
  socklen_t length = sizeof info;
  return getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &length) == 0 ? info.tcpi_bytes_received : 0;
}

/// libpq, the client library of PostgreSQL, loaded when it is first needed.
///
/// Why C: the library is not linked, so that the program starts where it is missing, and a function that is looked up at
/// run time needs a type. The declarations are those of libpq-fe.h for `libpq.so.5`, whose functions keep their
/// meaning; so no header of PostgreSQL is needed to build.

#ifndef HW_CPOSTGRESQL_H
#define HW_CPOSTGRESQL_H

#include <stdint.h>

typedef struct pg_conn PGconn;
typedef struct pg_result PGresult;

/// A connection option (`PQconninfoOption`).
struct hw_pq_option {
  char *_Nullable keyword;
  char *_Nullable envvar;
  char *_Nullable compiled;
  char *_Nullable val;
  char *_Nullable label;
  char *_Nullable dispchar;
  int dispsize;
};

enum { HW_PQ_CONNECTION_OK = 0, HW_PQ_CONNECTION_BAD = 1 };
enum { HW_PQ_POLLING_FAILED = 0, HW_PQ_POLLING_READING = 1, HW_PQ_POLLING_WRITING = 2, HW_PQ_POLLING_OK = 3 };
enum { HW_PQ_COMMAND_OK = 1, HW_PQ_TUPLES_OK = 2, HW_PQ_FATAL_ERROR = 7 };
/// The field of an error with its code (`PG_DIAG_SQLSTATE`), and the message without its severity.
enum { HW_PQ_SQLSTATE = 'C', HW_PQ_PRIMARY_MESSAGE = 'M' };

typedef void (*hw_pq_receiver)(void *_Nullable context, const PGresult *_Nullable notice);

/// The functions of libpq, under their names without `PQ`.
struct hw_pq {
  struct hw_pq_option *_Nullable (*_Nonnull conninfoParse)(const char *_Nonnull url, char *_Nullable *_Nullable error);
  struct hw_pq_option *_Nullable (*_Nonnull conndefaults)(void);
  void (*_Nonnull conninfoFree)(struct hw_pq_option *_Nullable options);
  PGconn *_Nullable (*_Nonnull connectStartParams)(
    const char *_Nullable const *_Nonnull keywords, const char *_Nullable const *_Nonnull values, int expandName);
  int (*_Nonnull connectPoll)(PGconn *_Nonnull);
  int (*_Nonnull status)(const PGconn *_Nonnull);
  int (*_Nonnull socket)(const PGconn *_Nonnull);
  char *_Nullable (*_Nonnull errorMessage)(const PGconn *_Nonnull);
  int (*_Nonnull setnonblocking)(PGconn *_Nonnull, int isNonblocking);
  hw_pq_receiver _Nullable (*_Nonnull setNoticeReceiver)(
    PGconn *_Nonnull, hw_pq_receiver _Nonnull, void *_Nullable context);
  void (*_Nonnull finish)(PGconn *_Nullable);
  int (*_Nonnull sendQuery)(PGconn *_Nonnull, const char *_Nonnull statements);
  int (*_Nonnull sendQueryParams)(
    PGconn *_Nonnull, const char *_Nonnull statement, int count, const unsigned *_Nullable types,
    const char *_Nullable const *_Nullable values, const int *_Nullable lengths, const int *_Nullable formats,
    int resultFormat);
  int (*_Nonnull flush)(PGconn *_Nonnull);
  int (*_Nonnull consumeInput)(PGconn *_Nonnull);
  int (*_Nonnull isBusy)(PGconn *_Nonnull);
  PGresult *_Nullable (*_Nonnull getResult)(PGconn *_Nonnull);
  int (*_Nonnull resultStatus)(const PGresult *_Nonnull);
  char *_Nullable (*_Nonnull resultErrorField)(const PGresult *_Nonnull, int field);
  int (*_Nonnull ntuples)(const PGresult *_Nonnull);
  char *_Nullable (*_Nonnull getvalue)(const PGresult *_Nonnull, int row, int column);
  int (*_Nonnull getisnull)(const PGresult *_Nonnull, int row, int column);
  void (*_Nonnull clear)(PGresult *_Nullable);
};

/// The bytes that a TCP connection has received so far (`TCP_INFO`, tcp(7)); 0 for another one.
///
/// Why C: the structure of the kernel has grown, and that of the C library lacks the count.
uint64_t hw_pq_received(int socket);

/// Loads `libpq.so.5`; NULL if it cannot be loaded.
const struct hw_pq *_Nullable hw_pq_load(void);

#endif

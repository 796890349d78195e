/* A command's talk with the worker: waits for one request's end, and cancels it at Ctrl-C. */
#ifndef MM_APP_SESSION_H
#define MM_APP_SESSION_H

#include "bench/client.h"

/* From now on SIGINT, SIGTERM and SIGHUP only ask for the end; session_wait obeys. */
void session_signals(void);

/* True once one of them came. */
bool session_stopped(void);

/* Hands every event of the request (and texts of no request) to `on`, the last one included, and
 * returns its kind: RESULT, ROOFS, HELLO, ERROR, CANCELLED or GONE. */
enum client_kind session_wait(client *c, int id,
                              void (*on)(void *ctx, const struct client_event *ev), void *ctx);

#endif

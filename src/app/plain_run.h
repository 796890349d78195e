/* An experiment of the plain tutor: run, wait, and say what came out. */
#ifndef MM_APP_PLAIN_RUN_H
#define MM_APP_PLAIN_RUN_H

#include "app/step_text.h"
#include "bench/client.h"

struct plain_run {
  const struct step_text *text;
  client *client;
  const struct experiment *experiment;
  double prediction; /* NAN: none */
};

/* Runs every run of the experiment at the place of the text, keeps the values for later prose, and
 * puts sentences on the paper; progress is printed to stdout as it goes. True if all of it was
 * measured, or counted. */
bool plain_run(const struct plain_run *r);

/* Asks the worker whether there is a GPU. */
bool plain_run_gpu(client *c);

#endif

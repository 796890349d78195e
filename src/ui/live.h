/* The live pane: device, kernel and sizes; the prediction; the run through the worker; what came
 * out. */
#ifndef MM_UI_LIVE_H
#define MM_UI_LIVE_H

#include "bench/client.h"
#include "bench/recorded.h"
#include "lesson/progress.h"
#include "ui/canvas.h"
#include "ui/keys.h"

typedef struct live live;

/* What it works with; all are borrowed and may not be NULL but for the client (frames without a
 * worker), the record and the progress. */
struct live_world {
  const catalog *catalog;
  client *client;
  const recorded *recorded;
  progress *progress;
};

live *live_new(const struct live_world *world);
void live_free(live *l);

/* The name under which the prediction of a step is kept, in key: the step, or another where this
 * machine is asked another question of the experiment (the x-ray counts, it does not time). */
void live_prediction_key(const live *l, const struct experiment *e, const char *step,
                         char key[LESSON_KEY]);

/* The experiment of a step (NULL: free runs of the kernel last used). `locked`: a prediction must
 * come first. lesson and step name where the prediction is kept. */
void live_set_experiment(live *l, const struct lesson *lesson, const struct experiment *e,
                         const char *step, bool locked);

/* Commands (run, cancel, settings, up, down, left, right, enter); true if it was one of its own. */
bool live_command(live *l, enum command cmd);

/* Keys while a field (prediction, size) has the focus; true if taken. */
bool live_field(const live *l);
bool live_key(live *l, int key);
void live_focus_prediction(live *l); /* puts the focus into the prediction field */

/* Takes one event of the client. True if the picture changed. */
bool live_event(live *l, const struct client_event *ev);
bool live_running(const live *l);

/* Puts a finished result in as if it had just come (frames, tests). */
void live_show(live *l, const struct result *r);

/* The same of the x-ray: a run of the experiment, where it is one. */
void live_show_xray(live *l, const struct xray_result *x);

/* The section of the lesson's prose that explains why the effect of the experiment is not visible
 * in these results; NULL if it is visible, or nothing has run. */
const char *live_note(const live *l);

/* Variables for prose: device.* roof.* run.ID.*; true and *value if known from this machine. */
bool live_lookup(void *live_ptr, const char *name, double *value);
/* The same from the recorded card. */
bool live_lookup_recorded(void *live_ptr, const char *name, double *value);

/* Says what the machine is: devices from hello, roofs as measured. */
const struct roofs *live_roofs(const live *l);        /* of the best device; NULL until measured */
const struct device_info *live_device(const live *l); /* the device in use; NULL before hello */

void live_draw(live *l, canvas *cv, struct rect r, enum lang lang);
void live_title(const live *l, enum lang lang, char *out, int size);
/* One figure for the header while a measurement runs: "8.95 TFLOP/s n 12"; "" if none. */
void live_headline(const live *l, char *out, int size);

#endif

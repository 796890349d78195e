/* What the parts of the live pane share: the machine, the plan of runs, the form. */
#ifndef MM_UI_LIVE_INTERNAL_H
#define MM_UI_LIVE_INTERNAL_H

#include "bench/fields.h"
#include "lesson/lesson.h"
#include "ui/field.h"
#include "ui/live.h"

enum { LIVE_DEVICES = 9, LIVE_RUNS = 48, LIVE_KEPT = 64, LIVE_SAMPLES = 4096 };

/* One run of the plan: what it is and, when it has ended, what came out. */
struct live_run {
  char as[16]; /* its name in the experiment's expressions; "" for a free run */
  const struct kernel *kernel;
  struct kernel_size size;
  double sweep; /* value of the sweep variable; NAN if none */
  bool done;
  struct result result;     /* valid if done */
  struct xray_result *xray; /* what the x-ray counted; NULL: it was measured */
};

struct live_kept {                                   /* results for prose: run.ID.AS.FIELD */
  char experiment[FIELDS_EXPERIMENT], as[FIELDS_AS]; /* or a kernel's id and "" */
  struct fields_rates rates;
  struct fields_counts counts;
  bool counted; /* counts, else rates */
};

/* Where kernels run: nothing was chosen (a GPU, else the x-ray for CUDA kernels), a device was, or
 * the x-ray for CUDA kernels. */
enum live_choice { LIVE_AUTO, LIVE_DEVICE, LIVE_XRAY };

enum live_phase { LIVE_IDLE, LIVE_ASKING, LIVE_RUNNING, LIVE_CANCELLING, LIVE_DONE, LIVE_FAILED };

struct live {
  struct live_world w;
  struct device_info device[LIVE_DEVICES];
  struct roofs roofs[LIVE_DEVICES];
  bool has_roofs[LIVE_DEVICES];
  int ndevices, at; /* device in use; the x-ray is none of them */
  enum live_choice choice;
  bool greeted;
  char no_cuda[512]; /* one sentence; "" if there is a GPU or nobody knows yet */

  const struct lesson *lesson;
  const struct experiment *experiment;
  char step[64];
  bool asks; /* a prediction is part of this step */
  bool locked, predicted;
  double prediction; /* NAN: no idea */
  struct field guess;
  bool guessing; /* its field has the focus */
  bool custom;   /* the form replaced the experiment's runs */

  enum live_phase phase;
  struct live_run run[LIVE_RUNS];
  int nruns, now;    /* plan, and the run in work */
  int picked;        /* the finished run whose details are shown; -1: the last one */
  int request;       /* 0 none */
  bool dropped;      /* the request in work belongs to a plan that is gone */
  double expected_s; /* ASKING: how long it may take */
  struct {           /* of the run in work */
    bool compiled, verified;
    struct device_built built; /* log is not kept */
    struct result_verify verify;
    double samples[LIVE_SAMPLES];
    int nsamples;
    char print[256];
  } cur;
  struct device_fault fault; /* FAILED, or a sentence to show */
  const char *say;   /* the id of a sentence of the program's own to show instead, or NULL */
  char say_what[64]; /* what stands in it for {0} */
  double quantity;   /* of the experiment; NAN until all runs are there */
  const char *note;  /* section that explains an invisible effect, or NULL */

  struct live_kept kept[LIVE_KEPT];
  int nkept;

  struct {
    bool on, touched; /* touched: more than the device was changed */
    bool chose;       /* the device was changed by hand */
    int at;
    int device, kernel; /* indices; the device behind the last is the x-ray */
    struct field size[3];
    int param[MM_PARAMS]; /* index into the allowed values */
    struct err error;
  } form;
};

#endif

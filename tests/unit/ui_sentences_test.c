/* Sentences of the layers below stand in Chinese on a Chinese screen, and in English on an English
 * one. */
#include "live_bench.h"

#include "ui/simview.h"
#include "ui/ui.h"

/* Lines are broken where the pane ends, so breaks and spaces are left out of the comparison. */
static char *squeezed(const char *text) {
  char *out = alloc_str(text), *to = out;
  for (const char *p = text; *p; p++)
    if (*p != ' ' && *p != '\n')
      *to++ = *p;
  *to = '\0';
  return out;
}

static bool stands(const char *all, const char *text) {
  char *a = squeezed(all), *b = squeezed(text);
  bool found = strstr(a, b) != NULL;
  free(a);
  free(b);
  return found;
}

static void both(struct bench *b, const char *en, const char *zh) {
  char *english = screen(b, 100, 40, LANG_EN), *chinese = screen(b, 100, 40, LANG_ZH);
  if (!stands(english, en) || stands(english, zh))
    fail_msg("not in English: %s\n%s", en, english);
  if (!stands(chinese, zh) || stands(chinese, en))
    fail_msg("not in Chinese: %s\n%s", zh, chinese);
  free(english);
  free(chinese);
}

static void test_no_gpu(void **state) {
  (void)state;
  struct bench b = begin();
  struct client_event ev = {.kind = CLIENT_HELLO, .devices = b.device, .ndevices = 1};
  ev.no_cuda = "No NVIDIA driver: libcuda.so.1 is not here.";
  live_event(b.l, &ev);
  enter(&b, "e1", false);
  both(&b, ev.no_cuda, "没有 NVIDIA 驱动：找不到 libcuda.so.1。");
  end(&b);
}

static void test_fault(void **state) {
  (void)state;
  struct bench b = begin();
  hello(&b, 2);
  enter(&b, "e1", false);
  live_command(b.l, CMD_RUN);
  struct client_event ev = {.kind = CLIENT_ERROR, .id = b.l->request};
  ev.fault = (struct device_fault){
      .code = "fault",
      .what = "The kernel used a misaligned address.",
      .why = "A float4 access needs an address that is a multiple of 16 bytes; a row whose length "
             "is not a multiple of 4 breaks that. (CUDA_ERROR_MISALIGNED_ADDRESS, error 716, while "
             "running the kernel.)",
      .next = "Use sizes that are multiples of 4, or single floats at the edge."};
  live_event(b.l, &ev);
  both(&b, ev.fault.what, "kernel 用了没有对齐的地址。");
  both(&b, ev.fault.why,
       "（CUDA_ERROR_MISALIGNED_ADDRESS，错误 716，发生在运行 kernel 时。）");
  both(&b, ev.fault.next, "用 4 的倍数的尺寸，或者边缘用单个 float。");
  end(&b);
}

static void test_result(void **state) {
  (void)state;
  struct bench b = begin();
  hello(&b, 1);
  enter(&b, "e3", false);
  live_command(b.l, CMD_RUN);
  struct result r = made(&b, 2);
  result_warn(&r, "The samples spread by %.1f %% of the median (p10 to p90).", 6.04);
  give(&b, &r);
  both(&b, "The samples spread by 6.0 % of the median (p10 to p90).",
       "样本的波动是中位数的 6.0 %（p10 到 p90）。");
  live_command(b.l, CMD_RUN);
  r = made(&b, 2);
  r.verify.ok = false;
  snprintf(r.verify.note, sizeof r.verify.note, "at M 33, N 17, K 49: C[3,17] is NaN");
  give(&b, &r);
  both(&b, "at M 33, N 17, K 49: C[3,17] is NaN", "M 33、N 17、K 49 时：C[3,17] 是 NaN");
  end(&b);
}

static void test_live_form(void **state) {
  (void)state;
  struct bench b = begin();
  hello(&b, 1);
  enter(&b, "e1", false);
  live_command(b.l, CMD_SETTINGS);
  live_key(b.l, KEYS_DOWN);
  type(&b, "x");
  live_key(b.l, KEYS_ENTER);
  both(&b, "M must be a whole number from 1 to 2147483647; 64x is not.",
       "M 必须是 1 到 2147483647 的整数；64x 不是。");
  end(&b);
}

static void test_prediction(void **state) {
  (void)state;
  struct bench b = begin();
  hello(&b, 1);
  enter(&b, "e1", true);
  live_command(b.l, CMD_RUN);
  type(&b, "1/0");
  live_key(b.l, KEYS_ENTER);
  both(&b, "\"1/0\" cannot be read as a number: Column 2: division by zero.",
       "“1/0”读不成一个数：第 2 列：除以零。");
  end(&b);
}

static char *sim_screen(simview *s, enum lang lang) {
  canvas *cv = canvas_new(80, 30);
  simview_draw(s, cv, (struct rect){0, 0, 80, 30}, lang);
  char *text = canvas_to_text(cv);
  canvas_free(cv);
  return text;
}

static void sim_says(const char *typed, const char *en, const char *zh) {
  struct err err = {""};
  simview *s = simview_new();
  assert_true(simview_open(s, "cuda/tiled", 12, 12, 12, 4, 0, &err));
  simview_command(s, CMD_SIM_SETTINGS);
  for (int i = 0; i < 4; i++)
    simview_key(s, KEYS_BACKSPACE);
  for (; *typed; typed++)
    simview_key(s, (unsigned char)*typed);
  simview_key(s, KEYS_ENTER);
  char *english = sim_screen(s, LANG_EN), *chinese = sim_screen(s, LANG_ZH);
  if (!stands(english, en) || !stands(chinese, zh) || stands(chinese, en))
    fail_msg("%s\n%s\n%s", zh, english, chinese);
  free(english);
  free(chinese);
  simview_free(s);
}

static void test_sim_form(void **state) {
  (void)state;
  sim_says("0", "M must be from 1 to", "M 必须在 1 到");
  sim_says("1.5", "M must be a whole number; 1.5 is not one that fits.",
           "M 必须是整数；1.5 不合适。");
  sim_says("1/0", "M: Column 2: division by zero.", "M: 第 2 列：除以零。");
  sim_says("x", "M: Column 1: the name x is not known here.", "M: 第 1 列：这里没有 x 这个名字。");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_no_gpu),   cmocka_unit_test(test_fault),
      cmocka_unit_test(test_result),   cmocka_unit_test(test_live_form),
      cmocka_unit_test(test_sim_form), cmocka_unit_test(test_prediction),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}

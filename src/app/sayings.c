#include "app/sayings.h"

#include "base/sentences.h"
#include "base/str.h"
#include <stdlib.h>

static const char *const table[SAYINGS][LANGS] = {
    [SAY_MINUTES] = {"About %1 minutes.", "约 %1 分钟。"},
    [SAY_STEP] = {"Step %1 of %2: %3", "第 %1 步，共 %2 步：%3"},
    [SAY_STEP_PLAIN] = {"Step %1 of %2", "第 %1 步，共 %2 步"},
    [SAY_SIM] = {"Simulator: %1, %2.", "模拟器：%1，%2。"},
    [SAY_SIM_SHOW] = {"As a picture: `%1`", "看图：`%1`"},
    [SAY_FIGURE] = {"Figure: %1. As a picture: `%2`", "图：%1。看图：`%2`"},
    [SAY_CODE] = {"The code of %1:", "%1 的代码："},
    [SAY_CODE_MARKED] = {"Lines that the text speaks of begin with >.", "正文提到的行以 > 开头。"},
    [SAY_NO_KERNEL] = {"The kernel %1 is not here.", "这里没有 kernel %1。"},
    [SAY_PREDICT] = {"Predict before you run: %1", "运行之前先预测：%1"},
    [SAY_RUN] = {"Run %1: %2, %3.", "运行 %1：%2，%3。"},
    [SAY_ORDER] = {"Put these into order:", "排出正确的顺序："},
    [SAY_UNIT] = {"Answer in %1.", "答案的单位是 %1。"},
    [SAY_ANSWER] = {"Answer: %1", "答案：%1"},
    [SAY_WHY] = {"Why: %1", "原因：%1"},
    [SAY_SOLUTION] = {"How: %1", "过程：%1"},
    [SAY_HINT] = {"Hint %1: %2", "提示 %1：%2"},
    [SAY_RECORDED] = {"Numbers marked %1 were measured on an %2 on %3, not on this machine.",
                      "标 %1 的数是 %3 在 %2 上测的，不是这台机器。"},
    [SAY_MENU] = {"Lessons", "课程"},
    [SAY_MENU_ASK] = {"Type the number of a lesson, or q to quit.", "输入课程的编号，q 退出。"},
    [SAY_NOT_WRITTEN] = {"This lesson is not written yet.", "这一课还没有写。"},
    [SAY_BROKEN] = {"This lesson cannot be opened: %1", "这一课打不开：%1"},
    [SAY_DONE] = {"%1 of %2 steps done", "完成 %1/%2 步"},
    [SAY_UNKNOWN] = {"\"%1\" is not understood here.", "这里看不懂“%1”。"},
    [SAY_KEYS] = {"n next, p previous, m lessons, q quit.", "n 下一步，p 上一步，m 课程，q 退出。"},
    [SAY_KEYS_CHOICE] =
        {"Type a letter from a to %1; h hint, n next, p previous, m lessons, q quit.",
         "输入 a 到 %1；h 提示，n 下一步，p 上一步，m 课程，q 退出。"},
    [SAY_KEYS_NUMBER] =
        {"Type the number, like 137 GFLOP or 2*4096^3; h hint, n next, p previous, m lessons, q "
         "quit.",
         "输入数值，例如 137 GFLOP 或 2*4096^3；h 提示，n 下一步，p 上一步，m 课程，q 退出。"},
    [SAY_KEYS_ORDER] =
        {"Type the letters in the right order, like bca; h hint, n next, p previous, m lessons, q "
         "quit.",
         "按正确顺序输入字母，例如 bca；h 提示，n 下一步，p 上一步，m 课程，q 退出。"},
    [SAY_KEYS_PREDICT] = {"Type a number, or ? for no idea; n next, p previous, m lessons, q quit.",
                          "输入一个数，没有想法就输入 ?；n 下一步，p 上一步，m 课程，q 退出。"},
    [SAY_KEYS_RUN] =
        {"r run, n next, p previous, m lessons, q quit. Ctrl-C ends a run and the tutor.",
         "r 运行，n 下一步，p 上一步，m 课程，q 退出。Ctrl-C 结束运行和程序。"},
    [SAY_NO_MORE_HINTS] = {"There are no more hints.", "没有更多提示了。"},
    [SAY_LAST_STEP] = {"That was the last step. m shows the lessons.",
                       "这是最后一步。m 回到课程。"},
    [SAY_FIRST_STEP] = {"This is the first step.", "这是第一步。"},
    [SAY_RIGHT] = {"Right. %1", "正确。%1"},
    [SAY_WRONG] = {"Not yet. %1", "还不对。%1"},
    [SAY_PREDICTED] = {"Your prediction is %1. Go on with n and run it.",
                       "你的预测是 %1。按 n 继续，然后运行。"},
    [SAY_NO_IDEA] = {"No prediction. Go on with n and run it.", "没有预测。按 n 继续，然后运行。"},
    [SAY_FIRST_PREDICT] = {"First the prediction, on the step before: p.",
                           "先做预测，在前一步：p。"},
    [SAY_RUNNING] = {"Running %1 ...", "正在运行 %1 ……"},
    [SAY_RAN] = {"%1: %2, %3 a launch.", "%1：%2，每次 %3。"},
    [SAY_RAN_ROOF] = {"That is %1 of the measured roof (%2).", "是实测屋顶（%2）的 %1。"},
    [SAY_RUN_FAILED] = {"It did not run: %1", "没有跑起来：%1"},
    [SAY_RUN_WRONG] = {"The result is wrong, so no speed is shown: %1",
                       "结果不对，所以不显示速度：%1"},
    [SAY_CANCELLED] = {"Cancelled; nothing was kept.", "已取消，什么也没有保留。"},
    [SAY_COUNTED] = {"%1: %2 sectors loaded, %3 a request. Counts of the x-ray, no times.",
                     "%1：读入 %2 个 sector，每个请求 %3 个。这是 x-ray 的计数，没有时间。"},
    [SAY_SAMPLED] = {"%1 of %2 blocks were run; the rest is counted by its class.",
                     "运行了 %2 个 block 中的 %1 个，其余按类别换算。"},
    [SAY_COUNTED_ALL] = {"Counted: %1.", "计数结果：%1。"},
    [SAY_AGAINST_COUNT] = {"You predicted %1; counted over predicted is %2.",
                           "你的预测是 %1，计数是预测的 %2。"},
    [SAY_MEASURED] = {"Measured here: %1.", "这台机器实测：%1。"},
    [SAY_AGAINST] = {"You predicted %1; measured over predicted is %2.",
                     "你的预测是 %1，实测是预测的 %2。"},
    [SAY_IN_BAND] = {"It lies in the expected range, %1 to %2.", "在预期范围内：%1 到 %2。"},
    [SAY_OUT_OF_BAND] = {"It lies outside the expected range, %1 to %2.",
                         "不在预期范围内：%1 到 %2。"},
    [SAY_BYE] = {"Goodbye.", "再见。"},
};

char *sayings_fill(enum saying s, enum lang lang, const char *a, const char *b, const char *c) {
  bool sentence = a && (s == SAY_BROKEN || s == SAY_RUN_WRONG);
  char *own = sentence ? sentences_in(a, lang == LANG_ZH) : NULL;
  const char *args[3] = {own ? own : a, b, c};
  struct str out = {0};
  for (const char *t = table[s][lang]; *t; t++) {
    if (t[0] != '%' || t[1] < '1' || t[1] > '3') {
      str_addc(&out, *t);
      continue;
    }
    const char *arg = args[*++t - '1'];
    str_add(&out, arg ? arg : "");
  }
  free(own);
  return str_take(&out);
}

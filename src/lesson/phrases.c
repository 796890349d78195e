#include "lesson/phrases.h"

#include <string.h>

/* %1 and %2 are the strings. */
static const char *const table[PHRASES][LANGS] = {
    [PHRASE_RIGHT] = {"Right.", "正确。"},
    [PHRASE_RATE_FOR_AMOUNT] =
        {"You gave a rate (%1); the question asks for an amount (%2). A rate is an amount divided "
         "by a time.",
         "你写的是速率（%1），题目问的是总量（%2）。速率等于总量除以时间。"},
    [PHRASE_AMOUNT_FOR_RATE] =
        {"You gave an amount (%1); the question asks for a rate (%2). Divide by the time.",
         "你写的是总量（%1），题目问的是速率（%2）。要除以时间。"},
    [PHRASE_UNIT_WRONG] = {"You gave %1; the question asks for %2.",
                           "你写的单位是 %1，题目问的是 %2。"},
    [PHRASE_PERCENT] = {"The question asks for percent. Write a fraction as percent: 0.5 is 50 %. "
                        "Nothing was counted.",
                        "题目问的是百分数。小数请写成百分数：0.5 写成 50 %。这次不计。"},
    [PHRASE_SLIP_THOUSANDS] =
        {"The method is right, the prefix is not: the number is off by a factor of %1. Check k, M, "
         "G and T.",
         "方法对，前缀不对：差了 %1 倍。检查 k、M、G、T。"},
    [PHRASE_SLIP_BINARY] = {"Off by a power of 1024 against 1000: here G = 10^9, and Gi = 2^30.",
                            "差在 1024 和 1000 之间：这里 G = 10^9，Gi = 2^30。"},
    [PHRASE_SLIP_BITS] = {"Off by a factor of 8: bits against bytes.",
                          "差 8 倍：bit 和 byte 混了。"},
    [PHRASE_NEAR] = {"Close: the method looks right, with a slip in the arithmetic. Compute it "
                     "once more.",
                     "很接近：方法看来对，算术有小错。再算一遍。"},
    [PHRASE_PLAIN_WRONG] = {"Not this number. Go one step at a time; the hints follow the same "
                            "steps.",
                            "不是这个数。一步一步来，提示也按这些步骤走。"},
    [PHRASE_NO_OPTION] = {"There is no such option. Type a letter from a to %1.",
                          "没有这个选项。请输入 a 到 %1。"},
    [PHRASE_ORDER] = {"Not this order: \"%1\" must come before \"%2\".",
                      "顺序不对：“%1”要在“%2”之前。"},
    [PHRASE_NO_KEY] = {"This question has no answer for these numbers. Nothing was counted.",
                       "这组数字下这道题没有答案。这次不计。"},
};

const char *phrases_text(enum phrase p, enum lang lang) { return table[p][lang]; }

char *phrases_fill(enum phrase p, enum lang lang, const char *a, const char *b) {
  struct str s = {0};
  for (const char *t = table[p][lang]; *t; t++) {
    if (t[0] == '%' && (t[1] == '1' || t[1] == '2'))
      str_add(&s, *++t == '1' ? a : b);
    else
      str_addc(&s, *t);
  }
  return str_take(&s);
}

#include "ui/keys.h"

#include "base/str.h"
#include <stddef.h>
#include <string.h>

#define VIEWS_WITH_TEXT (KEYS_LESSON_VIEW | KEYS_HELP_VIEW)

/* Rows without a help text are further keys of the row above them. */
const struct key_binding keys_table[] = {
    {'j',
     KEYS_DOWN,
     "j k",
     CMD_DOWN,
     KEYS_HOME_VIEW,
     0,
     10,
     {"choose", "选择"},
     {"choose a lesson (also the arrow keys)", "选择课程（也可用方向键）"}},
    {'k', KEYS_UP, "k", CMD_UP, KEYS_HOME_VIEW, 0, 0, {0}, {0}},
    {KEYS_ENTER,
     0,
     "Enter",
     CMD_ENTER,
     KEYS_HOME_VIEW,
     0,
     11,
     {"open", "打开"},
     {"open the chosen lesson", "打开选中的课程"}},
    {'a',
     0,
     "a-f",
     CMD_ANSWER_A,
     KEYS_CHOICE,
     KEYS_FIELD,
     12,
     {"answer", "作答"},
     {"answer the question that has the focus", "回答当前的选择题"}},
    {'b', 0, "b", CMD_ANSWER_B, KEYS_CHOICE, KEYS_FIELD, 0, {0}, {0}},
    {'c', 0, "c", CMD_ANSWER_C, KEYS_CHOICE, KEYS_FIELD, 0, {0}, {0}},
    {'d', 0, "d", CMD_ANSWER_D, KEYS_CHOICE, KEYS_FIELD, 0, {0}, {0}},
    {'e', 0, "e", CMD_ANSWER_E, KEYS_CHOICE, KEYS_FIELD, 0, {0}, {0}},
    {'f', 0, "f", CMD_ANSWER_F, KEYS_CHOICE, KEYS_FIELD, 0, {0}, {0}},
    {'n',
     0,
     "n",
     CMD_NEXT_STEP,
     KEYS_LESSON_VIEW,
     KEYS_FIELD | KEYS_SEARCH,
     20,
     {"next", "下一步"},
     {"next step of the lesson", "课程的下一步"}},
    {'n',
     0,
     "n",
     CMD_NEXT_HIT,
     KEYS_SEARCH,
     KEYS_FIELD,
     20,
     {"next hit", "下一处"},
     {"next place that was found, until Esc", "下一处匹配，按 Esc 结束查找"}},
    {'p',
     0,
     "p",
     CMD_PREV_STEP,
     KEYS_LESSON_VIEW,
     KEYS_FIELD,
     21,
     {"back", "上一步"},
     {"previous step of the lesson", "课程的上一步"}},
    {KEYS_ENTER,
     0,
     "Enter",
     CMD_ENTER,
     KEYS_LESSON_VIEW | KEYS_FIELD,
     KEYS_HOME_VIEW,
     0,
     {"confirm", "确认"},
     {"confirm the answer, the prediction or the field", "确认答案、预测或输入框"}},
    {KEYS_TAB,
     0,
     "Tab",
     CMD_NEXT_PANE,
     KEYS_LESSON_VIEW | KEYS_FIELD,
     0,
     22,
     {"pane", "窗格"},
     {"next pane (Shift-Tab: previous)", "下一个窗格（Shift-Tab 为上一个）"}},
    {KEYS_SHIFT_TAB, 0, "Shift-Tab", CMD_PREV_PANE, KEYS_LESSON_VIEW | KEYS_FIELD, 0, 0, {0}, {0}},
    {KEYS_F2,
     0,
     "F2",
     CMD_PANE_TEXT,
     KEYS_LESSON_VIEW,
     0,
     0,
     {"text", "正文"},
     {"the text pane (Tab also leads there)", "正文窗格（也可用 Tab）"}},
    {KEYS_F3,
     0,
     "F3",
     CMD_PANE_SIM,
     KEYS_LESSON_VIEW,
     0,
     0,
     {"simulator", "模拟器"},
     {"the simulator pane", "模拟器窗格"}},
    {KEYS_F4,
     0,
     "F4",
     CMD_PANE_LIVE,
     KEYS_LESSON_VIEW,
     0,
     0,
     {"live", "实测"},
     {"the live pane", "实测窗格"}},
    {' ',
     0,
     "space",
     CMD_PLAY,
     KEYS_SIM,
     KEYS_FIELD,
     30,
     {"play", "播放"},
     {"play or pause the simulator", "播放或暂停模拟器"}},
    {'.',
     0,
     ".",
     CMD_STEP,
     KEYS_SIM,
     KEYS_FIELD,
     31,
     {"step", "单步"},
     {"one step of the simulator", "模拟器前进一步"}},
    {',',
     0,
     ",",
     CMD_STEP_BACK,
     KEYS_SIM,
     KEYS_FIELD,
     32,
     {"back", "后退"},
     {"one step back", "模拟器后退一步"}},
    {'B',
     0,
     "B",
     CMD_BARRIER,
     KEYS_SIM,
     KEYS_FIELD,
     33,
     {"barrier", "barrier"},
     {"on to the next barrier", "跳到下一个 barrier"}},
    {'+',
     0,
     "+",
     CMD_FASTER,
     KEYS_SIM,
     KEYS_FIELD,
     34,
     {"faster", "加速"},
     {"play faster", "播放加速"}},
    {'-',
     0,
     "-",
     CMD_SLOWER,
     KEYS_SIM,
     KEYS_FIELD,
     35,
     {"slower", "减速"},
     {"play slower", "播放减速"}},
    {'S',
     0,
     "S",
     CMD_SIM_SETTINGS,
     KEYS_SIM,
     KEYS_FIELD,
     0,
     {"sim sizes", "模拟尺寸"},
     {"sizes and tile of the simulator", "模拟器的尺寸与 tile"}},
    {'r',
     0,
     "r",
     CMD_RUN,
     KEYS_LIVE,
     KEYS_FIELD | KEYS_RUNNING,
     40,
     {"run", "运行"},
     {"run the kernel and measure it", "运行 kernel 并测量"}},
    {'x',
     0,
     "x",
     CMD_CANCEL,
     KEYS_RUNNING,
     KEYS_FIELD,
     40,
     {"cancel", "取消"},
     {"cancel the measurement", "取消测量"}},
    {'s',
     0,
     "s",
     CMD_SETTINGS,
     KEYS_LIVE,
     KEYS_FIELD,
     41,
     {"settings", "设置"},
     {"device, kernel, sizes and parameters of the next run",
      "下次运行的设备、kernel、尺寸与参数"}},
    {'=',
     0,
     "=",
     CMD_EXPLAIN,
     KEYS_LESSON_VIEW,
     KEYS_FIELD,
     50,
     {"explain", "解释"},
     {"explain a number: formula, values, source, what holds it",
      "解释数字：公式、代入值、来源、瓶颈"}},
    {'H',
     0,
     "H",
     CMD_HINT,
     KEYS_LESSON_VIEW,
     KEYS_FIELD,
     0,
     {"hint", "提示"},
     {"a hint for the question", "给当前题目一个提示"}},
    {'/',
     0,
     "/",
     CMD_SEARCH,
     VIEWS_WITH_TEXT,
     KEYS_FIELD,
     0,
     {"search", "查找"},
     {"search the text", "在正文中查找"}},
    {'j',
     KEYS_DOWN,
     "j k",
     CMD_DOWN,
     KEYS_ANY,
     KEYS_HOME_VIEW,
     0,
     {"scroll", "滚动"},
     {"a line down, a line up (also the arrow keys)", "下一行、上一行（也可用方向键）"}},
    {'k', KEYS_UP, "k", CMD_UP, KEYS_ANY, KEYS_HOME_VIEW, 0, {0}, {0}},
    {'h',
     KEYS_LEFT,
     "h l",
     CMD_LEFT,
     KEYS_ANY,
     0,
     0,
     {"left", "左"},
     {"left, right (also the arrow keys)", "向左、向右（也可用方向键）"}},
    {'l', KEYS_RIGHT, "l", CMD_RIGHT, KEYS_ANY, 0, 0, {0}, {0}},
    {KEYS_PGDN,
     0,
     "PgDn PgUp",
     CMD_PGDN,
     KEYS_ANY,
     0,
     0,
     {"page", "翻页"},
     {"a page down, a page up", "向下、向上翻页"}},
    {KEYS_PGUP, 0, "PgUp", CMD_PGUP, KEYS_ANY, 0, 0, {0}, {0}},
    {'g',
     KEYS_HOME,
     "g G",
     CMD_TOP,
     KEYS_ANY,
     0,
     0,
     {"top", "首尾"},
     {"to the top, to the end (also Home, End)", "到开头、到末尾（也可用 Home、End）"}},
    {'G', KEYS_END, "G", CMD_BOTTOM, KEYS_ANY, 0, 0, {0}, {0}},
    {KEYS_ESC,
     0,
     "Esc",
     CMD_BACK,
     KEYS_ANY | KEYS_FIELD,
     0,
     0,
     {"close", "关闭"},
     {"close what is open; never quits", "关闭当前打开的内容，不会退出"}},
    {'t',
     0,
     "t",
     CMD_THEME,
     KEYS_ANY,
     KEYS_FIELD,
     0,
     {"theme", "主题"},
     {"next theme: dark, light, contrast, mono", "下一个主题：dark、light、contrast、mono"}},
    {'L',
     0,
     "L",
     CMD_LANG,
     KEYS_ANY,
     KEYS_FIELD,
     60,
     {"Chinese", "English"},
     {"switch to Chinese", "切换到英文"}},
    {KEYS_CTRL_L,
     0,
     "Ctrl-L",
     CMD_REDRAW,
     KEYS_ANY | KEYS_FIELD,
     0,
     0,
     {"redraw", "重绘"},
     {"draw the whole screen again", "重绘整个屏幕"}},
    {'?',
     KEYS_F1,
     "?",
     CMD_HELP,
     KEYS_ANY,
     KEYS_HELP_VIEW | KEYS_FIELD,
     61,
     {"help", "帮助"},
     {"help on the keys (also F1)", "按键帮助（也可用 F1）"}},
    {'q', 0, "q", CMD_QUIT, KEYS_HOME_VIEW, KEYS_FIELD, 62, {"quit", "退出"}, {"quit", "退出"}},
    {'q',
     0,
     "q",
     CMD_QUIT,
     KEYS_ANY,
     KEYS_HOME_VIEW | KEYS_FIELD,
     62,
     {"back", "返回"},
     {"back one level", "返回上一级"}},
    {'Q',
     KEYS_CTRL_C,
     "Q",
     CMD_QUIT_NOW,
     KEYS_ANY | KEYS_FIELD,
     0,
     0,
     {"quit", "退出"},
     {"quit from anywhere (also Ctrl-C)", "在任何地方退出（也可用 Ctrl-C）"}},
    {0, 0, 0, CMD_NONE, 0, 0, 0, {0}, {0}},
};

/* In a text field only Enter, Esc, Tab, arrows and Ctrl keys are commands. */
static bool is_text_key(int key) {
  switch (key) {
  case KEYS_ENTER:
  case KEYS_ESC:
  case KEYS_TAB:
  case KEYS_SHIFT_TAB:
  case KEYS_UP:
  case KEYS_DOWN:
  case KEYS_LEFT:
  case KEYS_RIGHT:
    return false;
  default:
    return key >= ' ';
  }
}

enum command keys_command(int key, unsigned contexts) {
  if (key == KEY_NONE || ((contexts & KEYS_FIELD) && is_text_key(key)))
    return CMD_NONE;
  contexts |= KEYS_ANY;
  for (const struct key_binding *b = keys_table; b->command != CMD_NONE; b++)
    if ((b->key == key || b->key2 == key) && (b->contexts & contexts) && !(b->unless & contexts))
      return b->command;
  return CMD_NONE;
}

/* ---- the table as documents */

static const struct {
  unsigned contexts;
  const char *title[LANGS];
} sections[] = {
    {KEYS_HOME_VIEW, {"Home", "首页"}},
    {KEYS_LESSON_VIEW | KEYS_CHOICE | KEYS_SEARCH | KEYS_EXPLAIN, {"Lesson", "课程"}},
    {KEYS_SIM, {"Simulator", "模拟器"}},
    {KEYS_LIVE | KEYS_RUNNING, {"Live pane", "实测窗格"}},
    {KEYS_ANY, {"Everywhere", "通用"}},
};
enum { SECTIONS = sizeof sections / sizeof sections[0] };

int keys_sections(void) { return SECTIONS; }

const char *keys_section_title(int section, enum lang lang) {
  return sections[section].title[lang];
}

int keys_section_of(const struct key_binding *b) {
  if (!b->help[LANG_EN])
    return -1;
  for (int i = SECTIONS - 1; i > 0; i--)
    if (b->contexts & sections[i].contexts)
      return i;
  return 0;
}

char *keys_markdown(enum lang lang) {
  static const char *const head[LANGS] = {"| Key | What it does |\n|---|---|\n",
                                          "| 按键 | 作用 |\n|---|---|\n"};
  struct str out = {0};
  for (int s = 0; s < SECTIONS; s++) {
    str_addf(&out, "%s**%s**\n\n%s", s ? "\n" : "", sections[s].title[lang], head[lang]);
    for (const struct key_binding *b = keys_table; b->command != CMD_NONE; b++)
      if (keys_section_of(b) == s)
        str_addf(&out, "| `%s` | %s |\n", b->shown, b->help[lang]);
  }
  return str_take(&out);
}

/* A hyphen and a leading dot mean something to roff. */
static void add_roff(struct str *out, const char *text) {
  if (*text == '.' || *text == '\'')
    str_add(out, "\\&");
  for (; *text; text++) {
    if (*text == '-')
      str_addc(out, '\\');
    str_addc(out, *text);
  }
}

char *keys_man(void) {
  struct str out = {0};
  for (int s = 0; s < SECTIONS; s++) {
    str_addf(&out, ".SS %s\n", sections[s].title[LANG_EN]);
    for (const struct key_binding *b = keys_table; b->command != CMD_NONE; b++) {
      if (keys_section_of(b) != s)
        continue;
      str_add(&out, ".TP\n.B ");
      add_roff(&out, b->shown);
      str_addc(&out, '\n');
      add_roff(&out, b->help[LANG_EN]);
      str_addc(&out, '\n');
    }
  }
  return str_take(&out);
}

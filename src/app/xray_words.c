#include "app/xray_words.h"

#include "base/str.h"

static const char *const table[XRAY_WORDS][LANGS] = {
    [XW_KERNEL] = {"kernel", "kernel"},
    [XW_LAUNCH] = {"launch", "启动"},
    [XW_COMPILED] = {"compiled", "编译"},
    [XW_OCCUPANCY] = {"occupancy", "occupancy"},
    [XW_VERIFY] = {"verify", "验证"},
    [XW_EXACT_LABEL] = {"certified", "核对"},
    [XW_PRINTED] = {"printf", "printf"},
    [XW_LEFT] = {"left out", "略去"},
    [XW_NOTE] = {"note", "注意"},
    [XW_BLOCKS] = {"%1 block%3 of %2 threads", "%1 个 block，每个 %2 线程"},
    [XW_ALL_RUN] = {"all run", "全部执行"},
    [XW_SAMPLED] = {"%1 of them run, counts scaled up to all", "执行其中 %1 个，计数放大到全部"},
    [XW_SOME_RUN] = {"%1 of them run", "执行其中 %1 个"},
    [XW_FOR_ARCH] = {"%1 for %2", "%1，目标 %2"},
    [XW_MS] = {"%1 to compile, %2 to run, on a CPU", "编译 %1，执行 %2，都在 CPU 上"},
    [XW_REGISTERS] = {"%1 registers", "%1 个寄存器"},
    [XW_SHARED] = {"%1 B shared", "shared %1 B"},
    [XW_NO_SPILL] = {"no spills", "无 spill"},
    [XW_SPILL] = {"%1 B spilled", "spill %1 B"},
    [XW_DYNAMIC] = {"%1 B dynamic shared", "动态 shared %1 B"},
    [XW_PER_SM] = {"%1 blocks fit on an SM", "一个 SM 放得下 %1 个 block"},
    [XW_HELD_BY] = {"held by %1", "受限于%1"},
    [XW_RIGHT] = {"right", "正确"},
    [XW_WRONG] = {"WRONG", "错误"},
    [XW_NOT_CHECKED] = {"not checked: what the kernel computes is not known. --op gemm (gemv add "
                        "copy reduce transpose) says it.",
                        "未验证：不知道这个 kernel 算的是什么。用 --op gemm（gemv add copy reduce "
                        "transpose）说明。"},
    [XW_NOT_FINISHED] = {"not checked: the kernel did not run to its end.",
                         "未验证：kernel 没有执行完。"},
    [XW_ASKED_NONE] = {"not checked, as asked: --op none.", "按要求未验证：--op none。"},
    [XW_ERROR_BOUND] = {"error %1, bound %2", "误差 %1，上限 %2"},
    [XW_CHECKED] = {"%1 elements checked", "检查了 %1 个元素"},
    [XW_IS_EXACT] = {"exact: the machine code of this compile has the same mix of loads, stores "
                     "and FMAs.",
                     "精确：这次编译的机器码里，load、store 和 FMA 的组成与此处相同。"},
    [XW_IS_PTX] = {"shared loads are counted as the PTX has them. The machine code joins them "
                   "otherwise:",
                   "shared load 按 PTX 计数，机器码的合并方式不同："},
    [XW_IS_OTHER] = {"not exact: the machine code of this compile has another mix, such as a loop "
                     "unrolled or a division made of FMAs:",
                     "不精确：这次编译的机器码组成不同，例如展开了循环，或用 FMA 做除法："},
    [XW_IS_PTX_FFMA] = {"FFMA in the code: %1 here, %2 in the machine code",
                        "代码中的 FFMA：此处 %1，机器码 %2"},
    [XW_IS_PTX_MIX] = {"%1 in the code, of 4, 8 and 16 bytes: %2 here, %3 in the machine code",
                       "代码中的 %1（4、8、16 字节）：此处 %2，机器码 %3"},
    [XW_NOT_CERTIFIED] = {"no: no machine code of this compile was looked at, so widths of "
                          "shared loads are those of the joining rules.",
                          "未核对：没有对照这次编译的机器码，shared load 的宽度来自合并规则。"},
    [XW_GLOBAL] = {"global", "global"},
    [XW_SHARED_MEMORY] = {"shared", "shared"},
    [XW_COL_REQUESTS] = {"req", "请求"},
    [XW_COL_SECTORS] = {"sect", "sect"},
    [XW_COL_WAVES] = {"wave", "wave"},
    [XW_COL_CONFLICTS] = {"conf", "冲突"},
    [XW_COL_FMA] = {"FMA", "FMA"},
    [XW_COL_FLOP] = {"FLOP", "FLOP"},
    [XW_LEGEND_HOT] = {"%1 a quarter or more of all wavefronts. The data stage of L1 serves global "
                       "and shared memory, one wavefront a clock on each SM.",
                       "%1 占全部 wavefront 的四分之一以上。L1 的数据级同时服务 global 和 shared "
                       "memory，每个 SM 每个 clock 一个 wavefront。"},
    [XW_NO_LINES] = {"This PTX names no source lines, so there are only totals. nvcc -lineinfo "
                     "puts them in.",
                     "这份 PTX 没有源码行号，所以只有总数。nvcc -lineinfo 会写进行号。"},
    [XW_TOTALS] = {"totals", "总计"},
    [XW_T_REQUESTS] = {"requests", "请求"},
    [XW_T_SECTORS] = {"sectors", "sector"},
    [XW_T_EACH] = {"each", "每请求"},
    [XW_T_WAVES] = {"wavefronts", "wavefront"},
    [XW_T_CONFLICTS] = {"conflicts", "冲突"},
    [XW_GLD] = {"global loads", "global load"},
    [XW_GST] = {"global stores", "global store"},
    [XW_LDS] = {"shared loads", "shared load"},
    [XW_STS] = {"shared stores", "shared store"},
    [XW_FMA] = {"%1 FMAs of threads", "线程的 FMA %1 次"},
    [XW_BARRIERS] = {"%1 barrier%2, one a warp", "barrier %1 次，每个 warp 一次"},
    [XW_DIVERGENT] = {"%1 divergent branch%2", "分歧的分支 %1 次"},
    [XW_PTX_MARK] = {"PTX level", "PTX 级"},
    [XW_NO_PROBLEM] = {"No problem was found: no race, no access out of bounds, no unwritten read.",
                       "没有发现问题：没有竞争，没有越界，没有读到未写的数据。"},
    [XW_NO_PROBLEM_SEEN] = {"No problem was found in what was looked at.",
                            "看过的部分没有发现问题。"},
    [XW_PROBLEMS] = {"%1 problems", "%1 个问题"},
    [XW_PROBLEM] = {"1 problem", "1 个问题"},
    [XW_WARNING] = {"(warning)", "（警告）"},
    [XW_AT] = {"block (%1), thread (%2)", "block (%1)，线程 (%2)"},
    [XW_TIMES] = {"met %1 times", "出现 %1 次"},
    [XW_LEFT_N] =
        {"%1 piece%2 of the file that need%3 no GPU, or did not compile; --verbose lists them.",
         "文件中有 %1 处不是设备代码，或未能编译；--verbose 列出。"},
    [XW_LEFT_LIST] = {"line %1: %2", "第 %1 行：%2"},
    [XW_COUNTS] = {"Counts of what the hardware is asked to do, not milliseconds.",
                   "数的是硬件要做的事，不是毫秒。"},
    [XW_TRACED] = {"%1 events of block (%2) are in %3.", "block (%2) 的 %1 个事件在 %3。"},
    [XW_TOOK] = {"took", "用时"},
    [XW_ONE_PER_SM] = {"1 block fits on an SM", "一个 SM 放得下 1 个 block"},
    [XW_LEGEND_REQUESTS] = {"req: requests, one a warp and instruction; k = 1000.",
                            "请求：每个 warp 每条指令一个；k = 1000。"},
    [XW_LEGEND_SECTORS] = {" sect: 32-byte sectors a request.",
                           "sect：每个请求的 32 字节 sector 数。"},
    [XW_LEGEND_WAVES] = {" wave: wavefronts a request.", "wave：每个请求的 wavefront 数。"},
    [XW_LEGEND_CONFLICTS] = {" conf: wavefronts of bank conflicts.",
                             "冲突：bank conflict 多出的 wavefront。"},
    [XW_WORK] = {"FLOP", "FLOP"},
    [XW_EXECUTED] = {"%1 executed", "执行 %1"},
    [XW_NEEDED] = {"%1 needed", "需要 %1"},
    [XW_CONTROL] = {"control", "控制流"},
};

char *xray_words(enum xray_word w, enum lang lang, const char *a, const char *b, const char *c,
                 const char *d) {
  const char *args[4] = {a, b, c, d};
  struct str out = {0};
  for (const char *t = table[w][lang]; *t; t++) {
    if (t[0] != '%' || t[1] < '1' || t[1] > '4') {
      str_addc(&out, *t);
      continue;
    }
    const char *arg = args[*++t - '1'];
    str_add(&out, arg ? arg : "");
  }
  return str_take(&out);
}

static const char *const titles[XRAY_KINDS][LANGS] = {
    [XRAY_OOB_GLOBAL] = {"Access outside of an array", "数组越界"},
    [XRAY_OOB_SHARED] = {"Access outside of shared memory", "shared memory 越界"},
    [XRAY_MISALIGNED] = {"Misaligned access", "未对齐的访问"},
    [XRAY_NULL] = {"Null pointer", "空指针"},
    [XRAY_RACE_SHARED] = {"Race in shared memory", "shared memory 竞争"},
    [XRAY_RACE_WARP] = {"Race within a warp", "warp 内的竞争"},
    [XRAY_RACE_GLOBAL] = {"Race between blocks", "block 之间的竞争"},
    [XRAY_UNINIT_SHARED] = {"Read of shared memory that nobody wrote",
                            "读到没有写过的 shared memory"},
    [XRAY_UNINIT_GLOBAL] = {"Read of global memory that nobody wrote",
                            "读到没有写过的 global memory"},
    [XRAY_BARRIER_DIVERGENCE] = {"Barrier that not all threads reach",
                                 "不是所有线程都到达的 barrier"},
    [XRAY_DEADLOCK] = {"Deadlock", "死锁"},
    [XRAY_BUDGET] = {"Endless loop", "不结束的循环"},
    [XRAY_TRAP] = {"The kernel stops itself", "kernel 自行停止"},
    [XRAY_SHFL_MASK] = {"Mask names lanes that are not here", "掩码包含不在场的 lane"},
    [XRAY_CP_ASYNC_UNWAITED] = {"Asynchronous copy read before its wait", "异步拷贝还没等就被读"},
    [XRAY_UNSUPPORTED] = {"Not supported by the x-ray", "x-ray 还不支持"},
};

static const char *const advice[XRAY_KINDS][LANGS] = {
    [XRAY_OOB_GLOBAL] = {"Guard the access with the sizes, for example if (row < M && col < N).",
                         "用尺寸保护这次访问，例如 if (row < M && col < N)。"},
    [XRAY_OOB_SHARED] = {"Check the index against the size of the __shared__ array.",
                         "对照 __shared__ 数组的大小检查下标。"},
    [XRAY_MISALIGNED] = {"The address of a wide access must be a multiple of its width. Check the "
                         "offset and the leading dimension.",
                         "宽访问的地址必须是其宽度的倍数。检查偏移和 leading dimension。"},
    [XRAY_NULL] = {"Check the pointer and the order of the arguments.", "检查指针和参数的顺序。"},
    [XRAY_RACE_SHARED] = {"A __syncthreads() between the two lines, reached by all threads, orders "
                          "them.",
                          "在这两行之间放一个所有线程都到达的 __syncthreads()，顺序就确定了。"},
    [XRAY_RACE_WARP] = {"Lanes of a warp need no common pace. A __syncwarp() between the two lines "
                        "orders them.",
                        "一个 warp 的 lane 不一定同步前进。在两行之间放 __syncwarp()。"},
    [XRAY_RACE_GLOBAL] = {"Give each block its own elements, use an atomic, or split the kernel.",
                          "让每个 block 写自己的元素，或用原子操作，或拆成两个 kernel。"},
    [XRAY_UNINIT_SHARED] = {"Shared memory begins with any value. Write the element first, in this "
                            "block.",
                            "shared memory 的初值不确定。先在这个 block 里写这个元素。"},
    [XRAY_UNINIT_GLOBAL] = {"The output begins with any value. Write it before it is read.",
                            "输出数组的初值不确定。读之前先写。"},
    [XRAY_BARRIER_DIVERGENCE] =
        {"Take the barrier out of the if or the loop that only some threads "
         "run.",
         "把 barrier 移到只有部分线程执行的 if 或循环之外。"},
    [XRAY_DEADLOCK] = {"Every thread that a barrier counts must come to it.",
                       "barrier 要等的线程必须全部到达。"},
    [XRAY_BUDGET] =
        {"Check the condition of the loop on this line. A spin lock within a warp never "
         "ends either.",
         "检查这一行循环的条件。warp 内的自旋锁也不会结束。"},
    [XRAY_TRAP] = {"Look at the condition that leads here. A compiler also puts a trap where it "
                   "sees that a pointer is null.",
                   "看一看通向这里的条件。编译器看出某处指针为空时，也会在那里放一个 trap。"},
    [XRAY_SHFL_MASK] = {"All lanes that the mask names must run the same instruction. Move it out "
                        "of the branch, or take a smaller mask.",
                        "掩码里的 lane 必须都执行同一条指令。把它移出分支，或缩小掩码。"},
    [XRAY_CP_ASYNC_UNWAITED] = {"Wait for the copy (cp.async.wait_group), then a barrier, then "
                                "read.",
                                "先等拷贝（cp.async.wait_group），再过 barrier，然后读。"},
    [XRAY_UNSUPPORTED] = {"Everything up to this line was counted.", "到这一行为止都已计数。"},
};

const char *xray_words_title(enum xray_kind k, enum lang lang) { return titles[k][lang]; }

const char *xray_words_advice(enum xray_kind k, enum lang lang) { return advice[k][lang]; }

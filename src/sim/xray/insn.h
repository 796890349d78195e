/* Instructions as they are run: registers are places in the file of a warp, labels are indices.
 * Plain data, made by decode.c. */
#ifndef MM_SIM_XRAY_INSN_H
#define MM_SIM_XRAY_INSN_H

#include "sim/xray/ptx.h"

enum { INSN_LANES = 32, INSN_UNIT = 128 }; /* bytes of 32 lanes of 4 bytes */

/* A value of all lanes: units into the register file of the warp; ~units into the constants. */
typedef int32_t insn_slot;
enum { INSN_NO_SLOT = INT32_MAX };

struct insn_pred { /* a mask of lanes among the warp's predicates; 0 is the one that is always true
                    */
  int32_t index;
  bool neg;
};

enum insn_kind {
  INSN_ALU,
  INSN_SETP,
  INSN_PRED, /* logic of predicates */
  INSN_SELP,
  INSN_CVT,
  INSN_PACK,
  INSN_UNPACK,
  INSN_LD,
  INSN_ST,
  INSN_ATOM,
  INSN_BRA,
  INSN_RET,
  INSN_BAR,
  INSN_BAR_RED, /* sub: VOTE_ALL, VOTE_ANY, or VOTE_BALLOT for a count */
  INSN_BAR_ARRIVE,
  INSN_CALL,  /* target: index into the calls */
  INSN_BRX,   /* target: first of `offset` targets; a: which of them */
  INSN_ASYNC, /* sub: insn_async */
  INSN_MBAR,  /* sub: insn_mbar */
  INSN_WARP_SYNC,
  INSN_FENCE,
  INSN_SHFL,
  INSN_VOTE,
  INSN_ACTIVEMASK,
  INSN_MATCH,
  INSN_BFI,
  INSN_REDUX,
  INSN_HALF,     /* sub: exec_half_op */
  INSN_SET,      /* set of all types, setp of halves */
  INSN_CVT_PACK, /* see exec_cvt_pack */
  INSN_CARRY,    /* sub: exec_misc_carry */
  INSN_LOP3,     /* offset: the table of 8 results */
  INSN_TESTP,    /* sub: exec_misc_test */
  INSN_ISSPACEP, /* space */
  INSN_CLOCK,
  INSN_ELECT,
  INSN_MMA,       /* mma and wmma.mma: tensor */
  INSN_FRAG_LD,   /* wmma.load: tensor, space, base */
  INSN_FRAG_ST,   /* wmma.store */
  INSN_MATRIX_LD, /* ldmatrix: nvec matrices into vec; sub: transposed */
  INSN_MATRIX_ST, /* stmatrix */
  INSN_MOVMATRIX,
  INSN_TRAP,
  INSN_NOP,
  INSN_UNSUPPORTED
};

enum insn_bool { BOOL_NONE, BOOL_AND, BOOL_OR, BOOL_XOR, BOOL_NOT, BOOL_MOV };
enum insn_shfl { SHFL_UP, SHFL_DOWN, SHFL_BFLY, SHFL_IDX };
enum insn_vote { VOTE_ALL, VOTE_ANY, VOTE_UNI, VOTE_BALLOT };
enum insn_atom {
  ATOM_ADD,
  ATOM_MIN,
  ATOM_MAX,
  ATOM_CAS,
  ATOM_EXCH,
  ATOM_AND,
  ATOM_OR,
  ATOM_XOR,
  ATOM_INC,
  ATOM_DEC
};
enum insn_async { ASYNC_COPY, ASYNC_COMMIT, ASYNC_WAIT, ASYNC_WAIT_ALL, ASYNC_ARRIVE };
enum insn_mbar {
  MBAR_INIT,
  MBAR_INVAL,
  MBAR_ARRIVE,
  MBAR_DROP,
  MBAR_EXPECT_TX,
  MBAR_COMPLETE_TX,
  MBAR_PENDING,
  MBAR_TEST_STATE,
  MBAR_TEST_PARITY
};
enum insn_builtin { CALL_FUNC, CALL_VPRINTF, CALL_ASSERTFAIL, CALL_MALLOC, CALL_FREE };
enum insn_count { COUNT_NOTHING, COUNT_FFMA, COUNT_FADD, COUNT_FMUL };

typedef void insn_alu(void *d, const void *a, const void *b, const void *c);
typedef uint32_t insn_cmp(const void *a, const void *b);

enum { INSN_FRAGMENT = 8 }; /* registers of a lane in a fragment, at most */

struct insn_fragment { /* a matrix held by a warp, as the mma instructions have it */
  uint8_t role;        /* exec_mma_role: A, B or C */
  uint8_t format;      /* exec_mma_format */
  uint8_t n;           /* registers */
  bool column;         /* in memory: column-major */
  uint16_t *place; /* of element i of register r in lane l, at (r * 32 + l) * e + i with e elements
                      in a register: row * 256 + column; within the tensor's own memory */
  insn_slot reg[INSN_FRAGMENT];
};

struct insn_tensor {
  uint8_t m, n, k;
  struct insn_fragment d, a, b, c; /* of a load or store: d alone */
  bool finite;                     /* .satfinite: s32 is clamped */
  insn_slot stride;                /* of a load or store; INSN_NO_SLOT: dense */
};

struct insn_copy { /* like joined and joined_back, of one trip of an unrolled loop */
  uint8_t joined;
  int8_t back;
};

struct insn {
  uint8_t kind, count;
  uint8_t sub;           /* insn_bool, insn_shfl, insn_vote or insn_atom */
  uint8_t dst_bytes;     /* 4 or 8: of a lane of the destination register */
  bool ftz, sat, finite; /* finite: .satfinite */
  uint8_t half;          /* bits of exec_half.h */
  uint16_t flop;         /* operations of a lane in f64, halves and tensor cores */
  bool has_guard;
  bool plain; /* an INSN_ALU that is its function and nothing else */
  struct insn_pred guard;
  insn_slot dst, a, b, c;
  struct insn_pred p, p2, pa, pb; /* written: p, p2 (index -1: none); read: pa, pb */
  const char *sig;                /* of an INSN_ALU: see exec_alu_op; NULL: "8:88" */
  union {
    insn_alu *alu;
    insn_cmp *cmp;
  };
  struct insn_tensor *tensor; /* owned */
  /* memory */
  uint8_t space, nvec, width; /* width: bytes of one element */
  uint8_t vec_bytes[4];       /* 4 or 8: of the lanes of a vector's registers */
  insn_slot vec[4];
  struct ptx_type type, from; /* of memory; of a conversion: to and from */
  uint8_t round; /* of a conversion or float operation: 'n' nearest 'z' zero 'm' down 'p' up, 0;
                    of a cp.async: 'g' past L1 */
  bool round_int;
  insn_slot base;
  bool ordered;   /* volatile, relaxed, acquire or release: other threads are meant to see it */
  bool base_wide; /* the address register has 64 bits */
  int64_t offset;
  /* how ptxas joins shared loads: 0 by itself, 8 or 16 leads a group of that width, 255 is in one
   */
  uint8_t joined;
  int8_t joined_back;       /* bytes from the group's address to this one's */
  struct insn_copy *copies; /* NULL, or of an unrolled loop: those of its first trips, which stand
                               before it, then those of its body; owned */
  int32_t ncopies, npeeled;
  insn_slot counter; /* of the loop: trip = (counter - start) / step */
  uint32_t counter_start, counter_step;
  int32_t unrolled, repeated; /* copies in the machine code: of its loop, of loops around; 0: one */
  bool nounroll;
  int32_t target, reconverge;
  int32_t line;      /* index of the source line */
  int32_t text_line; /* of the PTX */
  struct slice op;
};

/* Loads and stores of any kind but asynchronous copies and atomics. */
static inline bool insn_loads(const struct insn *in) {
  return in->kind == INSN_LD || in->kind == INSN_MATRIX_LD || in->kind == INSN_FRAG_LD;
}
static inline bool insn_stores(const struct insn *in) {
  return in->kind == INSN_ST || in->kind == INSN_MATRIX_ST || in->kind == INSN_FRAG_ST;
}

struct insn_special { /* a register that the machine fills in when a warp starts */
  struct slice name;
  insn_slot slot;
  int bytes;
};

struct insn_line {
  int file, line;
};

struct insn_symbol { /* a variable and its place in its window */
  const struct ptx_var *var;
  int64_t at;
  int func;      /* of the program, that it belongs to; -1: of the module */
  bool in_frame; /* a thread's own: `at` counts from the frame of the call */
};

struct insn_func { /* 0 is the kernel */
  const struct ptx_func *f;
  int32_t entry;
  int32_t unit0, unit1, pred0, pred1; /* its registers, in all warps */
  int first_symbol;                   /* what it returns, its parameters, its variables */
  int64_t frame, deepest;             /* bytes of its own; with those below it, if nothing recurs */
  insn_slot base; /* register that holds the start of its frame; none of the kernel */
  bool recursive;
  int64_t code; /* what a pointer to it holds */
};

enum { CALL_ARGS = 32 };

struct insn_call {
  int what; /* enum insn_builtin */
  int func; /* of the program; -1: the one that address points to */
  int caller;
  insn_slot address;
  int nargs;
  int64_t arg[CALL_ARGS], arg_bytes[CALL_ARGS]; /* in the caller's frame */
  int64_t ret, ret_bytes;                       /* ret_bytes 0: nothing */
};

struct program { /* one kernel ready to run */
  struct insn *code;
  int ncode;
  int units; /* register file of a warp */
  int npreds;
  unsigned char *consts;
  int nconsts; /* units */
  struct insn_special *specials;
  int nspecials;
  struct insn_line *lines;
  int nlines;
  struct insn_symbol *symbols; /* shared, local and param of the kernel, then those of the module */
  int nsymbols;
  struct insn_func *funcs;
  int nfuncs;
  struct insn_call *calls;
  int ncalls;
  int32_t *targets; /* of INSN_BRX */
  int ntargets;
  int64_t shared_bytes, local_bytes, param_bytes; /* static */
  int64_t global_bytes, const_bytes;              /* of the module */
};

#endif

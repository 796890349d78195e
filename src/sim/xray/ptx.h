/* PTX as it was read: variables, functions, instructions with their operands resolved to registers
 * and symbols. Plain data, owned by the module. */
#ifndef MM_SIM_XRAY_PTX_H
#define MM_SIM_XRAY_PTX_H

#include "sim/xray/ptx_lex.h"
#include <stdint.h>

enum ptx_class { PTX_NONE, PTX_PRED, PTX_BITS, PTX_UNSIGNED, PTX_SIGNED, PTX_FLOAT };

struct ptx_type {
  enum ptx_class cls;
  int bytes;   /* of one value; 0 for predicates */
  bool packed; /* f16x2, bf16x2, bf16, tf32, f8: not plain IEEE of that width */
};

enum ptx_space { PTX_GENERIC, PTX_GLOBAL, PTX_SHARED, PTX_LOCAL, PTX_CONST, PTX_PARAM, PTX_SPACES };

/* An address in an initialiser: `bytes` of (name + add) >> shift are put at byte `at`. */
struct ptx_reloc {
  int64_t at, add;
  struct slice name; /* of a variable or function */
  bool generic;
  int bytes, shift;
};

struct ptx_var {
  struct slice name;
  enum ptx_space space;
  struct ptx_type type;
  int64_t align, bytes;
  bool dynamic;        /* extern .shared x[] */
  int scope;           /* of a variable of a body */
  unsigned char *init; /* NULL: none (zeros for globals) */
  int64_t ninit;       /* bytes of init; zeros behind them */
  struct ptx_reloc *relocs;
  int nrelocs;
};

enum ptx_operand_kind {
  PTX_REG,     /* reg, neg = "!" before a predicate or "-" */
  PTX_IMM,     /* imm: an integer, or the bits of a float with imm_float */
  PTX_SYMBOL,  /* name of a variable or label, not resolved here */
  PTX_SPECIAL, /* %tid.x: name */
  PTX_ADDRESS, /* [reg + imm] or [name + imm]; reg = -1 with an absolute one */
  PTX_VECTOR,  /* { ... }: the n operands behind first in the function's pool */
  PTX_SINK     /* _ */
};

struct ptx_operand {
  enum ptx_operand_kind kind;
  bool neg;
  int imm_float; /* 0, 4 or 8: bytes of the float whose bits imm holds */
  int reg;
  int64_t imm;
  struct slice name;
  int first, n;
};

enum { PTX_OPERANDS = 8 };

struct ptx_insn {
  struct slice op;
  int guard; /* predicate register, -1: none */
  bool guard_neg;
  int n;
  struct ptx_operand a[PTX_OPERANDS];
  int pair; /* register behind '|' of the first operand, -1: none */
  int scope;
  int file, line; /* of .loc, 0: unknown */
  int text_line;  /* in the PTX */
  bool too_long;  /* more operands than fit */
  bool nounroll;      /* .pragma "nounroll" stands before it */
};

struct ptx_label {
  struct slice name;
  int scope, at; /* at: index of the instruction behind it */
};

struct ptx_table { /* labels of a .branchtargets */
  struct slice name;
  int scope, first, n; /* in the pool */
};

struct ptx_func {
  struct slice name;
  bool entry, defined;
  int64_t most[3];               /* threads of a block, .maxntid: 0 where it does not say */
  int64_t exact[3];              /* .reqntid */
  struct ptx_var *params, *rets; /* rets: what a device function returns */
  int nparams, nrets;
  struct ptx_var *vars; /* of the body: .shared, .local */
  int nvars;
  struct ptx_type *regs;
  int nregs;
  struct ptx_insn *code;
  int ncode;
  struct ptx_operand *pool;
  int npool;
  struct ptx_label *labels; /* sorted: ptx_body_label_order */
  int nlabels;
  struct ptx_table *tables;
  int ntables;
  int *scope_parent; /* of each { } */
  int nscopes;
};

struct ptx_file {
  int number;
  struct slice name;
};

struct ptx_module {
  char *text;
  struct ptx_var *vars;
  int nvars;
  struct ptx_func *funcs;
  int nfuncs;
  struct ptx_file *files;
  int nfiles;
};

#endif

#include "sim/xray/sass.h"

#include <elf.h>
#include <string.h>

/* Targets whose instructions were held against a disassembler. */
static const int known_targets[] = {75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121};

enum {
  MACHINE_CUDA = 190, /* e_machine */
  ABI_TARGET_LOW = 0x33,
  ABI_TARGET_HIGH = 0x41, /* OS/ABI of CUDA 13 */
  INSTRUCTION = 16
};

/* The low nine bits of an instruction; the three above them say where the operands are. */
enum { OP_FFMA = 0x023, OP_LDG = 0x181, OP_LDS = 0x184, OP_STG = 0x186, OP_STS = 0x188 };

struct image {
  const unsigned char *at;
  size_t n;
  Elf64_Ehdr head;
};

static bool piece(const struct image *im, uint64_t from, uint64_t n) {
  return from <= im->n && n <= im->n - from;
}

static bool section(const struct image *im, size_t i, Elf64_Shdr *out) {
  if (i >= im->head.e_shnum)
    return false;
  memcpy(out, im->at + im->head.e_shoff + i * sizeof *out, sizeof *out);
  return out->sh_type == SHT_NOBITS || piece(im, out->sh_offset, out->sh_size);
}

static bool read_head(struct image *im, struct err *err) {
  if (im->n < sizeof im->head)
    return err_set(err, "This is no cubin: it has %zu bytes. Compile the kernel again.", im->n);
  memcpy(&im->head, im->at, sizeof im->head);
  const Elf64_Ehdr *h = &im->head;
  if (memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 || h->e_ident[EI_CLASS] != ELFCLASS64 ||
      h->e_ident[EI_DATA] != ELFDATA2LSB || h->e_machine != MACHINE_CUDA)
    return err_set(err, "This is no cubin: it is no ELF file for CUDA. Compile the kernel again.");
  if (h->e_shentsize != sizeof(Elf64_Shdr) ||
      !piece(im, h->e_shoff, (uint64_t)h->e_shnum * sizeof(Elf64_Shdr)))
    return err_set(err, "The cubin is damaged: its sections lie outside of it. Compile the kernel "
                        "again.");
  return true;
}

static bool known_target(const struct image *im, struct err *err) {
  int abi = im->head.e_ident[EI_OSABI];
  int target = -1;
  if (abi == ABI_TARGET_HIGH)
    target = im->head.e_flags >> 8 & 0xff;
  else if (abi == ABI_TARGET_LOW)
    target = im->head.e_flags & 0xff;
  for (size_t i = 0; i < sizeof known_targets / sizeof *known_targets; i++)
    if (known_targets[i] == target)
      return true;
  if (target < 0)
    return err_set(err, "The cubin has ABI %d, which is not known here. Compile for sm_90.", abi);
  return err_set(err, "The machine code of sm_%d is not known here. Compile for sm_90.", target);
}

/* The section ".text.SYMBOL"; false if there is none. */
static bool find_text(const struct image *im, const char *symbol, Elf64_Shdr *out) {
  static const char prefix[] = ".text.";
  size_t want = sizeof prefix - 1 + strlen(symbol) + 1;
  Elf64_Shdr names;
  if (!section(im, im->head.e_shstrndx, &names) || names.sh_type != SHT_STRTAB)
    return false;
  for (size_t i = 0; i < im->head.e_shnum; i++) {
    if (!section(im, i, out) || out->sh_type != SHT_PROGBITS || out->sh_name > names.sh_size ||
        want > names.sh_size - out->sh_name)
      continue;
    const char *name = (const char *)im->at + names.sh_offset + out->sh_name;
    if (memcmp(name, prefix, sizeof prefix - 1) == 0 &&
        memcmp(name + sizeof prefix - 1, symbol, strlen(symbol) + 1) == 0)
      return true;
  }
  return false;
}

/* The place in an array of widths: bits 73-75 hold 0-3 for one and two bytes, 4, 5 and 6 for 4, 8
 * and 16. */
static int width_of(const unsigned char *insn) {
  int code = insn[9] >> 1 & 7;
  return code < 5 ? XRAY_4 : code == 5 ? XRAY_8 : XRAY_16;
}

/* Guarded by "not true": ptxas puts such loads before an LDGSTS. They never run. */
static bool is_off(const unsigned char *insn) { return insn[1] >> 4 == 0xf; }

static void count(const unsigned char *insn, struct xray_mix *mix) {
  int width = width_of(insn);
  switch ((insn[0] | insn[1] << 8) & 0x1ff) {
  case OP_FFMA:
    mix->ffma++;
    break;
  case OP_LDG:
    mix->ldg[width]++;
    break;
  case OP_LDS:
    mix->lds[width]++;
    break;
  case OP_STG:
    mix->stg[width]++;
    break;
  case OP_STS:
    mix->sts[width]++;
    break;
  default:
    break;
  }
}

bool sass_mix(const void *cubin, size_t n, const char *symbol, struct xray_mix *out,
              struct err *err) {
  *out = (struct xray_mix){.ffma = 0};
  struct image im = {.at = cubin, .n = n};
  Elf64_Shdr text;
  if (!read_head(&im, err) || !known_target(&im, err))
    return false;
  if (!find_text(&im, symbol, &text))
    return err_set(err,
                   "The cubin holds no kernel \"%.200s\". Compile PTX and cubin from the same "
                   "text.",
                   symbol);
  for (uint64_t i = 0; i + INSTRUCTION <= text.sh_size; i += INSTRUCTION)
    if (!is_off(im.at + text.sh_offset + i))
      count(im.at + text.sh_offset + i, out);
  return true;
}

bool sass_mix_equal(const struct xray_mix *x, const struct xray_mix *y) {
  for (int w = 0; w < XRAY_WIDTHS; w++)
    if (x->lds[w] != y->lds[w] || x->sts[w] != y->sts[w] || x->ldg[w] != y->ldg[w] ||
        x->stg[w] != y->stg[w])
      return false;
  return x->ffma == y->ffma;
}

/* Build tool: writes files as one C table. embed OUT.c PATH... (paths relative to the top). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static void put_byte(FILE *out, int c, int *column) {
  if (c == '\n')
    *column += fprintf(out, "\\n");
  else if (c == '"' || c == '\\' || c == '?')
    *column += fprintf(out, "\\%c", c);
  else if (c >= 32 && c < 127)
    *column += fprintf(out, "%c", c);
  else
    *column += fprintf(out, "\\%03o", (unsigned)c);
  if (c == '\n' || *column > 2000) {
    fprintf(out, "\"\n\"");
    *column = 0;
  }
}

static long put_file(FILE *out, const char *path, int i) {
  FILE *in = fopen(path, "rb");
  if (!in) {
    perror(path);
    exit(1);
  }
  fprintf(out, "static const char file_%d[] =\n\"", i);
  long n = 0;
  int column = 0;
  for (int c; (c = getc(in)) != EOF; n++)
    put_byte(out, c, &column);
  fprintf(out, "\";\n");
  fclose(in);
  return n;
}

int main(int argc, char **argv) {
  if (argc < 2)
    return 2;
  FILE *out = fopen(argv[1], "w");
  if (!out) {
    perror(argv[1]);
    return 1;
  }
  int n = argc - 2;
  long *size = calloc((size_t)n + 1, sizeof *size);
  if (!size)
    return 1;
  qsort(argv + 2, (size_t)n, sizeof *argv, by_name);
  fprintf(out, "/* Made by scripts/embed.c. */\n#include \"base/embed.h\"\n\n");
  for (int i = 0; i < n; i++)
    size[i] = put_file(out, argv[i + 2], i);
  fprintf(out, "\nconst struct embed_file embed_files[] = {\n");
  for (int i = 0; i < n; i++)
    fprintf(out, "  {\"%s\", file_%d, %ld},\n", argv[i + 2], i, size[i]);
  fprintf(out, "  {0, 0, 0},\n};\n");
  free(size);
  return fclose(out) ? 1 : 0;
}

# mmtutor: `make run` installs what is missing, builds and starts; `make check` runs every test.
#
#   DEPS=no      do not look for missing packages
#   CFG=asan     build under AddressSanitizer and UBSan (build/asan)
#   PREFIX=...   where `make install` puts things (default /usr/local), DESTDIR before it
#
# Others: make install, uninstall; check-asan (the tests under the sanitizers); lint (shell scripts
# and the man page); bench-frame (the budgets of the screen);
# bench-xray (the speed of the PTX machine); fuzz-xray SECONDS=60, fuzz-sass, fuzz-scan, fuzz-request
# (libFuzzer, needs clang); screens (the pictures of the README).

VERSION := 0.1.0
PREFIX  ?= /usr/local
CFG     ?= release
B       := build/$(CFG)
PKGS    := ncursesw libcjson md4c libutf8proc libmd

# Who gives -j decides; else all cores build.
JOBS = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(shell getconf _NPROCESSORS_ONLN))

# The packages are looked up only by targets that build, so that `make deps` works without pkg-config.
PKG_CFLAGS = $(shell pkg-config --cflags $(PKGS))
PKG_LIBS   = $(shell pkg-config --libs $(PKGS))

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wwrite-strings \
        -Wcast-qual -Wformat=2 -Wundef -Wnull-dereference -Wvla -Wconversion
WERROR ?= -Werror
OPT_release := -O2 -g -D_FORTIFY_SOURCE=2 -fstack-protector-strong
OPT_asan    := -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined
SAN_asan    := -fsanitize=address,undefined
OPT_fuzz    := $(OPT_asan) -fsanitize=fuzzer-no-link
SAN_fuzz    := -fsanitize=address,undefined,fuzzer
CPPFLAGS += -Isrc -I$(B)/gen -D_GNU_SOURCE -DMMTUTOR_VERSION='"$(VERSION)"' -DMMTUTOR_PREFIX='"$(PREFIX)"'
CFLAGS   += -std=c11 $(WARN) $(WERROR) $(OPT_$(CFG))
LDFLAGS  += $(SAN_$(CFG)) -rdynamic
LDLIBS    = $(PKG_LIBS) -lpthread -ldl -lm

# ---- layers, lowest first; a library may use only those before it
LAYERS := base kernels sim lesson bench app ui
src_base    := $(wildcard src/base/*.c)
src_kernels := $(wildcard src/kernels/*.c)
src_sim     := $(wildcard src/sim/*.c src/sim/*/*.c)
src_lesson  := $(wildcard src/lesson/*.c)
src_bench   := $(wildcard src/bench/*.c)
src_app     := $(wildcard src/app/*.c)
src_ui      := $(wildcard src/ui/*.c src/ui/views/*.c)
obj = $(patsubst %.c,$(B)/%.o,$(1))
lib = $(B)/lib$(1).a

EMBED_FILES = $(wildcard src/kernels/mm_args.h src/kernels/cuda/*.cu src/kernels/cpu/*.c assets/*.json assets/recorded/*.json \
                         assets/ptx/*.ptx lessons/*/lesson.json lessons/*/*.md)

.PHONY: all run check check-asan deps test-deps install uninstall clean screens bench-frame bench-xray lint
all: mmtutor

run: deps
	@$(MAKE) --no-print-directory $(JOBS) all
	./mmtutor

deps:
	@if [ "$(DEPS)" != no ]; then sh scripts/deps.sh; fi
test-deps:
	@if [ "$(DEPS)" != no ]; then sh scripts/deps.sh --tests; fi

ifeq ($(CFG),release)
mmtutor: $(B)/mmtutor
	cp -f $< $@.new && mv -f $@.new $@
else
mmtutor: $(B)/mmtutor
endif

LIBS := $(foreach l,ui app bench lesson sim kernels base,$(call lib,$(l)))
$(B)/mmtutor: $(B)/src/main.o $(LIBS)
	$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS)

define layer_rule
$(call lib,$(1)): $(call obj,$(src_$(1))) $(extra_$(1))
	@rm -f $$@
	ar rcs $$@ $$^
endef

# A build without `make deps` says once what to do, in words.
$(B)/tools/found:
	@command -v $(firstword $(CC)) >/dev/null && pkg-config --exists $(PKGS) 2>/dev/null || \
	  { echo "The build needs packages that are not here. make deps installs them." >&2; exit 1; }
	@mkdir -p $(@D) && touch $@

# ---- generated sources
$(B)/tools/embed: scripts/embed.c | $(B)/tools/found
	@mkdir -p $(@D)
	$(CC) -O1 -o $@ $<
# One shell word list decides whether the table is stale when a file goes away.
$(B)/gen/embed.list: FORCE
	@mkdir -p $(@D)
	@echo '$(sort $(EMBED_FILES))' | cmp -s - $@ || echo '$(sort $(EMBED_FILES))' > $@
$(B)/gen/embed_table.c: $(B)/tools/embed $(B)/gen/embed.list $(EMBED_FILES)
	$(B)/tools/embed $@ $(EMBED_FILES)
$(B)/gen/embed_table.o: $(B)/gen/embed_table.c
	$(CC) $(CPPFLAGS) -std=c11 -O0 -w -c -o $@ $<
extra_base := $(B)/gen/embed_table.o

# ---- CPU rungs: the same file once for each instruction-set level, entry cpu_NAME__LEVEL
CPU_RUNGS := $(patsubst src/kernels/cpu/%.c,%,$(wildcard src/kernels/cpu/*.c))
ifneq ($(filter x86_64 amd64,$(shell uname -m)),)
CPU_LEVELS := plain avx2 avx512
else
CPU_LEVELS := plain
endif
march_plain  :=
march_avx2   := -march=x86-64-v3
march_avx512 := -march=x86-64-v4 -mprefer-vector-width=512
define cpu_level_rule
$(B)/cpu/%.$(1).o: src/kernels/cpu/%.c src/kernels/mm_args.h | $(B)/tools/found
	@mkdir -p $$(@D)
	$$(CC) -Isrc/kernels -std=gnu11 $$(filter-out -Wmissing-prototypes,$$(WARN)) $$(WERROR) -O3 -g $$(SAN_$$(CFG)) $$(march_$(1)) -Dcpu_$$*=cpu_$$*__$(1) \
	  -c -o $$@ $$<
endef
$(foreach l,$(CPU_LEVELS),$(eval $(call cpu_level_rule,$(l))))
CPU_OBJS := $(foreach r,$(CPU_RUNGS),$(foreach l,$(CPU_LEVELS),$(B)/cpu/$(r).$(l).o))
$(B)/gen/cpu_table.c: scripts/cpu_table.sh $(wildcard src/kernels/cpu/*.c)
	@mkdir -p $(@D)
	sh scripts/cpu_table.sh "$(CPU_LEVELS)" $(CPU_RUNGS) > $@
$(B)/gen/cpu_table.o: $(B)/gen/cpu_table.c | $(B)/tools/found
	$(CC) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<
extra_kernels := $(CPU_OBJS) $(B)/gen/cpu_table.o

# Only this file knows PREFIX, so only it is stale under another one.
$(B)/gen/prefix: FORCE
	@mkdir -p $(@D)
	@echo '$(PREFIX)' | cmp -s - $@ || echo '$(PREFIX)' > $@
$(B)/src/base/paths.o: $(B)/gen/prefix

$(foreach l,$(LAYERS),$(eval $(call layer_rule,$(l))))

$(B)/src/%.o: src/%.c | $(B)/tools/found
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(PKG_CFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# ---- tests: tests/unit/LAYER_NAME_test.c links its layer and those below
TESTS_C := $(wildcard tests/unit/*_test.c)
TEST_BINS := $(patsubst tests/%.c,$(B)/tests/%,$(TESTS_C))
below_base    := base
below_kernels := kernels base
below_sim     := sim kernels base
below_lesson  := lesson kernels base
below_bench   := bench lesson sim kernels base
below_app     := app bench lesson sim kernels base
below_ui      := ui app bench lesson sim kernels base
test_layer = $(firstword $(subst _, ,$(notdir $(1))))
test_libs = $(foreach l,$(below_$(call test_layer,$(1))),$(call lib,$(l)))
define test_rule
$(1): $(patsubst $(B)/%,%.c,$(1)) $(call test_libs,$(1)) $(wildcard tests/unit/*.h)
	@mkdir -p $$(@D)
	$$(CC) $$(CPPFLAGS) -Itests/unit $$(PKG_CFLAGS) $$(shell pkg-config --cflags cmocka) $$(CFLAGS) -Wno-missing-prototypes \
	  $$(LDFLAGS) -o $$@ $$< $(call test_libs,$(1)) $$(LDLIBS) $$(shell pkg-config --libs cmocka)
endef
$(foreach t,$(TEST_BINS),$(eval $(call test_rule,$(t))))

# Launches a learner's kernel once, for a profiler (tests/gpu/counters.py).
$(B)/tests/gpu/launch: tests/gpu/launch.c $(foreach l,$(below_bench),$(call lib,$(l)))
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(PKG_CFLAGS) $(CFLAGS) $(LDFLAGS) -Wl,-rpath,'$$ORIGIN/lib' -o $@ $^ $(LDLIBS)

.PHONY: check-build
check-build: $(TEST_BINS)

check: test-deps
	@$(MAKE) --no-print-directory $(JOBS) all check-build
	@CFG=$(CFG) sh tests/run.sh
check-asan:
	@$(MAKE) --no-print-directory CFG=asan check

# ---- install: the program holds everything; the data beside it may be read and changed
INSTALL ?= install
SHARE   := $(PREFIX)/share
DATA    := $(wildcard lessons/*/lesson.json lessons/*/*.md assets/*.json assets/recorded/*.json assets/ptx/*.ptx \
                      src/kernels/mm_args.h src/kernels/cuda/*.cu src/kernels/cpu/*.c)
MANUALS := man/man1/mmtutor.1 bash-completion/completions/mmtutor zsh/site-functions/_mmtutor \
           fish/vendor_completions.d/mmtutor.fish

install: $(B)/mmtutor
	$(INSTALL) -d $(DESTDIR)$(PREFIX)/bin
	$(INSTALL) -m 755 $(B)/mmtutor $(DESTDIR)$(PREFIX)/bin/mmtutor
	rm -rf $(DESTDIR)$(SHARE)/mmtutor
	for f in $(DATA); do \
	  $(INSTALL) -d "$(DESTDIR)$(SHARE)/mmtutor/$$(dirname $$f)" && \
	  $(INSTALL) -m 644 $$f "$(DESTDIR)$(SHARE)/mmtutor/$$f" || exit 1; \
	done
	$(INSTALL) -d $(addprefix $(DESTDIR)$(SHARE)/,$(dir $(MANUALS)))
	$(INSTALL) -m 644 man/mmtutor.1 $(DESTDIR)$(SHARE)/man/man1/mmtutor.1
	$(INSTALL) -m 644 completions/mmtutor.bash $(DESTDIR)$(SHARE)/bash-completion/completions/mmtutor
	$(INSTALL) -m 644 completions/_mmtutor $(DESTDIR)$(SHARE)/zsh/site-functions/_mmtutor
	$(INSTALL) -m 644 completions/mmtutor.fish $(DESTDIR)$(SHARE)/fish/vendor_completions.d/mmtutor.fish

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/mmtutor $(addprefix $(DESTDIR)$(SHARE)/,$(MANUALS))
	rm -rf $(DESTDIR)$(SHARE)/mmtutor

# ---- for those who work on it
screens: $(B)/mmtutor
	@if [ "$(DEPS)" != no ]; then sh scripts/deps.sh --screens; fi
	sh scripts/screens.sh $(B)/mmtutor $(B)

bench-frame: $(B)/mmtutor
	/usr/bin/python3 tests/bench/frame_bench.py $(B)/mmtutor

$(B)/tests/bench/xray_bench: tests/bench/xray_bench.c $(foreach l,bench lesson sim kernels base,$(call lib,$(l)))
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(PKG_CFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $< \
	  $(foreach l,bench lesson sim kernels base,$(call lib,$(l))) $(LDLIBS)
bench-xray: $(B)/tests/bench/xray_bench
	@$(MAKE) --no-print-directory -s B=$(B)-plain OPT_release='$(OPT_release) -DLANES_PLAIN' $(B)-plain/tests/bench/xray_bench
	/usr/bin/python3 tests/bench/xray_bench.py $< $(B)-plain/tests/bench/xray_bench

# A fuzz target runs with its corpus and a copy that grows in build/fuzz; an input that fails stays there.
SECONDS ?= 60
fuzz_xray    := sim base
fuzz_sass    := sim base
fuzz_scan    := kernels base
fuzz_request := bench lesson sim kernels base
fuzz_more_xray := tests/fixtures/xray
fuzz_more_scan := tests/fixtures/learner
FUZZ_TARGETS := xray sass scan request
define fuzz_rule
$(B)/tests/fuzz/$(1)_fuzz: tests/fuzz/$(1)_fuzz.c $(foreach l,$(fuzz_$(1)),$(call lib,$(l)))
	@mkdir -p $$(@D)
	$$(CC) $$(CPPFLAGS) $$(PKG_CFLAGS) $$(CFLAGS) $$(LDFLAGS) -o $$@ $$^ $$(LDLIBS)
.PHONY: fuzz-$(1)
fuzz-$(1):
	@$(MAKE) --no-print-directory DEPS=no CC=clang CFG=fuzz WARN= WERROR= build/fuzz/tests/fuzz/$(1)_fuzz
	@mkdir -p build/fuzz/corpus/$(1)
	build/fuzz/tests/fuzz/$(1)_fuzz -max_total_time=$(SECONDS) -timeout=10 -rss_limit_mb=2048 -max_len=65536 \
	  -artifact_prefix=build/fuzz/$(1)- $(if $(wildcard tests/fuzz/$(1).dict),-dict=tests/fuzz/$(1).dict) \
	  build/fuzz/corpus/$(1) tests/fuzz/corpus/$(1) $(fuzz_more_$(1))
endef
$(foreach t,$(FUZZ_TARGETS),$(eval $(call fuzz_rule,$(t))))

lint:
	shellcheck -S warning scripts/*.sh tests/run.sh tests/*/*_test.sh .ci/run
	mandoc -Tlint -W warning man/mmtutor.1

clean:
	rm -rf build mmtutor

FORCE:
-include $(shell find $(B) -name '*.d' 2>/dev/null)

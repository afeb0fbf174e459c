# SPDX-License-Identifier: GPL-2.0-only
# make help says what there is. Nothing is built outside $(O).

# ARCH=arm64, riscv64, s390x or arm builds for that machine, in build/ARCH.
ARCH ?=
TRIPLET_arm64 := aarch64-linux-gnu
TRIPLET_riscv64 := riscv64-linux-gnu
TRIPLET_s390x := s390x-linux-gnu
TRIPLET_arm := arm-linux-gnueabihf
ifneq ($(ARCH),)
ifeq ($(TRIPLET_$(ARCH))$(filter x86_64,$(ARCH)),)
$(error ARCH=$(ARCH) is none of x86_64 arm64 riscv64 s390x arm)
endif
CROSS_COMPILE ?= $(addsuffix -,$(TRIPLET_$(ARCH)))
O ?= $(if $(TRIPLET_$(ARCH)),build/$(ARCH),.)
# Its libc is musl once "make musl ARCH=" has fetched that, else the cross compiler's own.
MUSL := $(if $(TRIPLET_$(ARCH)),build/musl-$(ARCH))
endif

O ?= .
VERSION := $(shell sed -n 's/^.define VERSION "\(.*\)"$$/\1/p' bpftrig.c)
PREFIX ?= /usr/local
DESTDIR ?=
CLANG ?= clang
CROSS_COMPILE ?=

# musl makes the smallest static binary; where it is not installed, the system's compiler does as well.
ifeq ($(origin CC),default)
CC := $(or $(if $(CROSS_COMPILE),$(CROSS_COMPILE)gcc),$(shell command -v musl-gcc),gcc)
endif

CFLAGS ?= -Os
WARN := -Wall -Wextra
# No warning is an error: a compiler that we have not met may know a new one.
SIZE := -fno-pie -fno-math-errno -ffunction-sections -fdata-sections -fno-asynchronous-unwind-tables
# Code cannot be written, data and stack cannot be executed, which costs nothing and test.sh looks at. What would cost: -fcf-protection
# 192 bytes, for what no kernel turns on in a static program; -fstack-protector-strong 3.5 KB, and work in the producers' calls. What has
# nothing to protect: relro (no relocations in a static program), -fstack-clash-protection (no frame is of variable size, or larger than two
# pages, which test.sh looks at too), _FORTIFY_SOURCE (musl has no functions that check).
# common-page-size: else the linker moves the data to a page's start, up to 4 KiB further in the file, where that saves a page of memory.
LINK := -static -s -Wl,--gc-sections -Wl,-z,noseparate-code -Wl,-z,norelro -Wl,-z,noexecstack -Wl,--build-id=none -Wl,-z,common-page-size=256
# musl looks for headers in its own folder alone; the kernel's are the system's. Last, so that none of the system libc's is used.
UAPI := $(if $(MUSL),$(if $(wildcard $(MUSL)/specs),-specs $(MUSL)/specs) -idirafter /usr/$(TRIPLET_$(ARCH))/include) -idirafter /usr/include $(addprefix -idirafter /usr/include/,$(shell gcc -print-multiarch 2>/dev/null))

# The BPF object must have the byte order of the machine that runs it, which its compiler knows.
BPF_TARGET := $(if $(shell $(CC) -dM -E - </dev/null 2>/dev/null | grep 'BYTE_ORDER__ __ORDER_BIG'),bpfeb,bpfel)

# The measuring alone: bpftrig.c says what is left out.
CPPFLAGS += $(if $(SMALL),-DBPFTRIG_SMALL -Wno-unused-function)

Q := $(if $(V),,@)
say = $(if $(V),,@echo '  $(1)	$(2)')

.PHONY: all deps musl run test fuzz vm docs install uninstall dist deb clean help
all: $(O)/bpftrig

# Flags and compilers are inputs like any file: the stamp changes when they do.
STAMP := $(O)/.build-flags
FLAGS_NOW := $(CC) $(UAPI) $(CFLAGS) $(CPPFLAGS) $(LDFLAGS) $(LINK) | $(CLANG) $(BPF_TARGET)
$(shell mkdir -p $(O); [ "$$(cat $(STAMP) 2>/dev/null)" = '$(FLAGS_NOW)' ] || printf '%s\n' '$(FLAGS_NOW)' >$(STAMP))

$(O)/bpf_progs.o: bpf_progs.c Makefile $(STAMP)
	$(call say,BPF,$@)
	$(Q)$(CLANG) -target $(BPF_TARGET) -mcpu=v3 -O2 -fno-addrsig $(WARN) -Wno-unused-parameter -c $< -o $@

$(O)/bpf_progs.h: $(O)/bpf_progs.o gen_embed.sh
	$(call say,EMBED,$@)
	$(Q)./gen_embed.sh $< bpf_progs.c "$$($(CLANG) --version | head -n 1)" >$@.tmp && mv $@.tmp $@

$(O)/bpftrig: bpftrig.c $(O)/bpf_progs.h Makefile $(STAMP)
	$(call say,CC,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(WARN) $(SIZE) -pthread -I$(O) $(UAPI) bpftrig.c -o $@ $(LINK) $(LDFLAGS) -lm
	$(Q)ln -sf bpftrig $(O)/bench

# What the build needs, and what the tests need beside it, which is more and not wanted for a first look: "make deps run".
DEPS_BUILD := clang gcc make musl-tools linux-libc-dev
DEPS_TEST := llvm binutils codespell cpio file git groff-base gzip man-db mandoc patch procps shellcheck strace util-linux \
	libclang-rt-dev linux-perf libbenchmark-tools python3-scipy python3-yaml \
	qemu-system-x86 qemu-system-arm qemu-system-misc gcc-aarch64-linux-gnu gcc-riscv64-linux-gnu gcc-s390x-linux-gnu \
	gcc-arm-linux-gnueabihf libc6-dev-arm64-cross libc6-dev-riscv64-cross libc6-dev-s390x-cross libc6-dev-armhf-cross
DEPS_ARCH := $(if $(TRIPLET_$(ARCH)),gcc-$(TRIPLET_$(ARCH)) libc6-dev-$(patsubst arm,armhf,$(ARCH))-cross)
DEPS := $(DEPS_BUILD) $(DEPS_ARCH) $(if $(filter run,$(MAKECMDGOALS)),$(if $(filter test,$(MAKECMDGOALS)),$(DEPS_TEST)),$(DEPS_TEST))
deps:
	@if command -v apt-get >/dev/null; then \
		dpkg -s $(DEPS) >/dev/null 2>&1 || { apt-get update -q && \
		DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends $(DEPS); }; \
	else \
		echo 'This is no Debian. Install: clang with its BPF target, gcc and make, musl-gcc (or a static libc), the headers of'; \
		echo 'the kernel (linux-headers, kernel-headers or the like). For the tests: llvm, binutils, cpio, file, strace, QEMU.'; \
		exit 1; \
	fi

	$(if $(MUSL),@$(MAKE) musl ARCH=$(ARCH) || echo 'No musl for $(ARCH): it will be built with the cross compiler'"'"'s libc.')

musl:
	@[ -n '$(MUSL)' ] || { echo 'make musl: ARCH= arm64, riscv64, s390x or arm'; exit 2; }
	@[ -e $(MUSL)/specs ] || tests/musl.sh $(ARCH) $(MUSL)

run: all
	$(O)/bpftrig $(ARGS)

test: all
	./test.sh

# make fuzz [ARGS="object btf"] [RUNS=10000000]
fuzz: all
	BUILT=$(O) CLANG=$(CLANG) $(if $(RUNS),RUNS=$(RUNS)) tests/fuzz.sh long $(ARGS)

# make vm KERNEL=path or name [ARGS="-d 1 fentry"] [ARCH=arm64] [EXACT=1]: its exit status is bpftrig's (make says 2 for any but 0).
vm: all
	@[ -n '$(KERNEL)' ] || { echo 'make vm: KERNEL= a kernel image, or a name in tests/kernels.sh (x86_64-new)'; exit 2; }
	$(if $(TRIPLET_$(ARCH)),$(if $(MAKER),,@$(MAKE) --no-print-directory ARCH= O=. all))
	@EXACT='$(EXACT)' MAKER='$(or $(MAKER),$(if $(ARCH),./bpftrig,$(O)/bpftrig))' tests/vm.sh $(or $(ARCH),$(shell uname -m)) $(O)/bpftrig '$(KERNEL)' $(ARGS)

# The tables in them are the program's own: tests/docs.c.
docs: $(O)/bpf_progs.h
	$(call say,DOCS,README.md bpftrig.1 bpftrig.bash)
	$(Q)$(CC) $(CFLAGS) -w -pthread -I$(O) $(UAPI) tests/docs.c -o $(O)/docs -lm
	$(Q)for file in README.md bpftrig.1 bpftrig.bash; do \
		$(O)/docs <$$file >$(O)/docs.new && { cmp -s $(O)/docs.new $$file || cat $(O)/docs.new >$$file; } || exit; \
	done; rm -f $(O)/docs $(O)/docs.new

MAN := $(DESTDIR)$(PREFIX)/share/man/man1/bpftrig.1
COMPLETION := $(DESTDIR)$(PREFIX)/share/bash-completion/completions/bpftrig
install: all
	install -D -m 755 $(O)/bpftrig $(DESTDIR)$(PREFIX)/bin/bpftrig
	install -D -m 644 bpftrig.1 $(MAN)
	install -D -m 644 bpftrig.bash $(COMPLETION)

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/bpftrig $(MAN) $(COMPLETION)

# What a release has, in dist/: the source of the last commit, and binaries that are built from this archive alone. Nothing of the
# place or the day goes in: another clone with the same compilers makes the same bytes.
DIST := bpftrig-$(VERSION)
DIST_ARCHS := x86_64 arm64 riscv64 s390x
dist: $(DIST_ARCHS:%=dist-%)
	@cd dist && sha256sum bpftrig-* >SHA256SUMS && cat SHA256SUMS

dist-source:
	@git diff --quiet HEAD 2>/dev/null || { echo 'make dist: this is no clone, or has changes that are not committed'; exit 1; }
	$(Q)rm -rf dist build/dist && mkdir -p dist build/dist
	$(Q)git -c tar.umask=022 -c core.autocrlf=false archive --prefix=$(DIST)/ HEAD >build/dist/$(DIST).tar
	$(Q)gzip -9n <build/dist/$(DIST).tar >dist/$(DIST).tar.gz && tar -xf build/dist/$(DIST).tar -C build/dist

$(DIST_ARCHS:%=dist-%): dist-%: dist-source
	$(if $(TRIPLET_$*),$(Q)$(MAKE) --no-print-directory ARCH=$* musl)
	$(Q)$(MAKE) --no-print-directory -C build/dist/$(DIST) ARCH=$* O=../$* \
		$(if $(TRIPLET_$*),MUSL=$(CURDIR)/build/musl-$*,CC=musl-gcc) && cp build/dist/$*/bpftrig dist/$(DIST)-$*

# A Debian package of what install installs. SOURCE_DATE_EPOCH, or the last commit, says its times.
DEB := $(O)/deb
DEB_DOC := $(DEB)/usr/share/doc/bpftrig
DEB_ARCH := $(patsubst x86_64,amd64,$(patsubst arm,armhf,$(ARCH)))
MAINTAINER ?= bpftrig <bpftrig@localhost>
deb: export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || stat -c %Y bpftrig.c)
deb: all
	$(Q)rm -rf $(DEB) && $(MAKE) --no-print-directory install DESTDIR=$(DEB) PREFIX=/usr
	$(Q)install -D -m 644 CHANGELOG.md $(DEB_DOC)/NEWS && mkdir -p dist $(DEB)/DEBIAN
	$(Q)printf '%s\n' 'Copyright: the authors of bpftrig' 'License: GPL-2.0-only, /usr/share/common-licenses/GPL-2' >$(DEB_DOC)/copyright
	$(Q)printf 'bpftrig (%s) unstable; urgency=medium\n\n  * See NEWS.\n\n -- %s  %s\n' '$(VERSION)' '$(MAINTAINER)' \
		"$$(LC_ALL=C date -uRd @$$SOURCE_DATE_EPOCH)" >$(DEB_DOC)/changelog
	$(Q)find $(DEB)/usr/share -type f ! -name '*.gz' ! -name copyright ! -path '*/bash-completion/*' -exec gzip -9n {} +
	$(Q)printf '%s\n' 'Package: bpftrig' 'Version: $(VERSION)' "Architecture: $(or $(DEB_ARCH),$$(dpkg --print-architecture))" \
		'Maintainer: $(MAINTAINER)' 'Section: devel' 'Priority: optional' 'Description: what does it cost to trigger a BPF program?' \
		' One static binary that measures every way the Linux kernel has' ' of triggering a BPF program.' >$(DEB)/DEBIAN/control
	$(Q)chmod -R u=rwX,go=rX $(DEB) && dpkg-deb --build --root-owner-group $(DEB) dist && rm -rf $(DEB)

clean:
	rm -f $(O)/bpftrig $(O)/bench $(O)/bpf_progs.o $(O)/bpf_progs.h $(O)/docs $(O)/docs.new $(STAMP)

help:
	@echo 'make            build ./bpftrig: static, stripped'
	@echo 'make deps       install what the build and the tests need (as root; apt)'
	@echo 'make run        build it and run it (as root); ARGS="-d 5 fentry"'
	@echo 'make test       every test (as root); ends with a line of counts'
	@echo 'make fuzz       fuzz all that is read, for hours: ARGS="object btf" RUNS=10000000 (tests/fuzz.sh says more)'
	@echo 'make musl       fetch musl for ARCH=arm64|riscv64|s390x|arm, for small cross builds (deps does)'
	@echo 'make vm         boot it in QEMU: KERNEL=image ARGS="fentry" EXACT=1 (time counts instructions)'
	@echo 'make docs       write what README.md, bpftrig.1 and bpftrig.bash have of the tables in bpftrig.c'
	@echo 'make install    program, man page and completion, to PREFIX=/usr/local below DESTDIR=; make uninstall'
	@echo 'make dist       into dist/: source archive, static binaries of four architectures, SHA256SUMS (of the last commit)'
	@echo 'make deb        into dist/: a Debian package; ARCH= for another machine'
	@echo 'make clean      remove what was built'
	@echo 'make SMALL=1    the measuring alone: 50 KiB less (README.md says what is left out)'
	@echo 'Variables: V=1 shows commands; O=DIR builds there; CC, CFLAGS, LDFLAGS, CLANG; ARCH=arm64|riscv64|s390x|arm'

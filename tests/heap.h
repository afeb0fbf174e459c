/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bpftrig.c takes each piece of memory as a mapping of its own, whose last page is longer than the piece: a sanitizer sees no byte too
 * many. Here, before bpftrig.c is included, mappings without a file become pieces of the heap, whose ends it watches.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Mappings of files, which stay what they are. */
static void *heap_real[64];

/* Zero, aligned as bpftrig.c wants it, and to the byte as long as it is. */
static void *heap_piece(size_t len)
{
	void *p;

	if (len > (size_t)1 << 31 || posix_memalign(&p, 128, len))
		return MAP_FAILED;
	return memset(p, 0, len);
}

static void *heap_mmap(void *at, size_t len, int prot, int flags, int fd, off_t off)
{
	void *p;

	if (flags & MAP_ANONYMOUS)
		return heap_piece(len);
	p = mmap(at, len, prot, flags, fd, off);
	for (size_t i = 0; p != MAP_FAILED && i < sizeof(heap_real) / sizeof(heap_real[0]); i++)
		if (!heap_real[i]) {
			heap_real[i] = p;
			return p;
		}
	return p;
}

static int heap_munmap(void *p, size_t len)
{
	for (size_t i = 0; i < sizeof(heap_real) / sizeof(heap_real[0]); i++)
		if (heap_real[i] == p) {
			heap_real[i] = NULL;
			return munmap(p, len);
		}
	free(p);
	return 0;
}

static void *heap_mremap(void *p, size_t old, size_t len, int flags, ...)
{
	void *grown = heap_piece(len);

	(void)flags;
	if (grown == MAP_FAILED)
		return grown;
	memcpy(grown, p, old < len ? old : len);
	free(p);
	return grown;
}

#define mmap heap_mmap
#define munmap heap_munmap
#define mremap heap_mremap

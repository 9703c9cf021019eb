/*
 * A ring buffer for one writer and one reader, with records of any length.
 *
 * A record is a header of four bytes and its content. A record never wraps: where the rest of the
 * buffer is too short, a header of zero says that the next record is at the beginning.
 */
#include "ringbuffer.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define HEADER sizeof(uint32_t)

struct ring {
	size_t size;
	_Atomic size_t head;
	_Atomic size_t tail;
	unsigned char *bytes;
};

struct ring *ring_new(size_t size)
{
	struct ring *ring;

	if (size < 2 * HEADER)
		return NULL;
	ring = calloc(1, sizeof(*ring));
	if (ring == NULL)
		return NULL;
	ring->bytes = malloc(size);
	if (ring->bytes == NULL) {
		free(ring);
		return NULL;
	}
	ring->size = size;
	return ring;
}

void ring_free(struct ring *ring)
{
	if (ring == NULL)
		return;
	free(ring->bytes);
	free(ring);
}

static void put_header(struct ring *ring, size_t at, uint32_t length)
{
	memcpy(ring->bytes + at, &length, HEADER);
}

static uint32_t get_header(const struct ring *ring, size_t at)
{
	uint32_t length;

	memcpy(&length, ring->bytes + at, HEADER);
	return length;
}

/* Returns 0, or -1 when there is no room; the writer then tries again later. */
int ring_put(struct ring *ring, const void *content, uint32_t length)
{
	size_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
	size_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
	size_t need = HEADER + length;

	if (length == 0)
		return -1;
	if (head >= tail) {
		if (ring->size - head < need) {
			if (tail <= need)
				return -1;
			if (ring->size - head >= HEADER)
				put_header(ring, head, 0);
			head = 0;
		}
	} else if (tail - head <= need) {
		return -1;
	}
	put_header(ring, head, length);
	memcpy(ring->bytes + head + HEADER, content, length);
	atomic_store_explicit(&ring->head, head + need, memory_order_release);
	return 0;
}

/* Returns the length of the record, 0 when there is none, or -1 when it does not fit. */
long ring_get(struct ring *ring, void *content, size_t room)
{
	size_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
	size_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
	uint32_t length;

	if (head == tail)
		return 0;
	if (ring->size - tail < HEADER || get_header(ring, tail) == 0)
		tail = 0;
	if (head == tail)
		return 0;
	length = get_header(ring, tail);
	if (length > room)
		return -1;
	memcpy(content, ring->bytes + tail + HEADER, length);
	atomic_store_explicit(&ring->tail, tail + HEADER + length, memory_order_release);
	return (long)length;
}

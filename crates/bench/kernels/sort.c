/* bench: parallel sort
 * full: 1500000 6
 * reduced: 300000 3
 * quick: 20000 1
 *
 * Merge sort of 64-bit keys: each thread sorts its half, all meet at a barrier, then one thread merges the lower half
 * of the result from the front while the other merges the upper half from the back. */
#include "kernel.h"
#include <pthread.h>
#include <string.h>

enum { SMALL = 24 };

static long size, rounds;
static uint64_t *keys, *buffer, *sorted;
static pthread_barrier_t barrier;
static uint64_t hashes[THREADS];

static void insertion_sort(uint64_t *a, long count) {
    for (long i = 1; i < count; i++) {
        uint64_t key = a[i];
        long j = i;
        for (; j > 0 && a[j - 1] > key; j--) a[j] = a[j - 1];
        a[j] = key;
    }
}

static void merge_sort(uint64_t *a, uint64_t *spare, long count) {
    if (count <= SMALL) {
        insertion_sort(a, count);
        return;
    }
    long middle = count / 2;
    merge_sort(a, spare, middle);
    merge_sort(a + middle, spare + middle, count - middle);
    memcpy(spare, a, sizeof *a * (size_t)middle);
    long left = 0, right = middle, out = 0;
    while (left < middle && right < count) a[out++] = a[right] < spare[left] ? a[right++] : spare[left++];
    while (left < middle) a[out++] = spare[left++];
}

static void merge_front(long middle, long count) {
    long left = 0, right = middle;
    for (long out = 0; out < count; out++) {
        int take_right = left == middle || (right < size && keys[right] < keys[left]);
        sorted[out] = take_right ? keys[right++] : keys[left++];
    }
}

static void merge_back(long middle, long count) {
    long left = middle - 1, right = size - 1;
    for (long out = 0; out < count; out++) {
        int take_left = right < middle || (left >= 0 && keys[right] < keys[left]);
        sorted[size - 1 - out] = take_left ? keys[left--] : keys[right--];
    }
}

static void *work(void *argument) {
    long thread = (long)argument;
    long middle = size / 2;
    long first = thread == 0 ? 0 : middle, last = thread == 0 ? middle : size;
    for (long round = 0; round < rounds; round++) {
        uint64_t seed = (uint64_t)(round * THREADS + thread);
        for (long i = first; i < last; i++) keys[i] = next_random(&seed);
        merge_sort(keys + first, buffer + first, last - first);
        pthread_barrier_wait(&barrier);
        if (thread == 0)
            merge_front(middle, middle);
        else
            merge_back(middle, size - middle);
        pthread_barrier_wait(&barrier);
        for (long i = first > 0 ? first : 1; i < last; i++) {
            check(sorted[i - 1] <= sorted[i], "the keys are in order");
            hashes[thread] = mix(hashes[thread], sorted[i]);
        }
    }
    return NULL;
}

int main(int argc, char **argv) {
    size = kernel_argument(argc, argv, 1, "SIZE");
    rounds = kernel_argument(argc, argv, 2, "ROUNDS");
    keys = allocate((size_t)size, sizeof *keys);
    buffer = allocate((size_t)size, sizeof *buffer);
    sorted = allocate((size_t)size, sizeof *sorted);
    pthread_barrier_init(&barrier, NULL, THREADS);

    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void *)i);
    for (long i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    print_checksum(mix(hashes[0], hashes[1]));
    return 0;
}

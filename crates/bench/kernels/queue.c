/* bench: producer and consumer over a bounded queue
 * full: 32 320000
 * reduced: 32 60000
 * quick: 16 2000
 *
 * One thread makes messages and hands them over through a ring guarded by a mutex and two condition variables;
 * the other checks, digests and frees them, as in a logger or a pipeline stage of PARSEC's dedup. SIZE is the ring. */
#include "kernel.h"
#include <pthread.h>
#include <string.h>

enum { PAYLOAD = 96 };

struct message {
    uint64_t number;
    uint32_t length;
    uint32_t sum;
    uint8_t payload[PAYLOAD];
};

static long size, rounds;
static struct message **ring;
static long head, tail;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER, not_empty = PTHREAD_COND_INITIALIZER;

static void push(struct message *message) {
    pthread_mutex_lock(&lock);
    while (tail - head == size) pthread_cond_wait(&not_full, &lock);
    ring[tail++ % size] = message;
    pthread_cond_signal(&not_empty);
    pthread_mutex_unlock(&lock);
}

static struct message *pop(void) {
    pthread_mutex_lock(&lock);
    while (tail == head) pthread_cond_wait(&not_empty, &lock);
    struct message *message = ring[head++ % size];
    pthread_cond_signal(&not_full);
    pthread_mutex_unlock(&lock);
    return message;
}

static uint32_t sum_of(const struct message *message) {
    uint32_t sum = 1;
    for (uint32_t i = 0; i < message->length; i++) sum = sum * 31 + message->payload[i];
    return sum;
}

static void *produce(void *unused) {
    (void)unused;
    uint64_t seed = 5;
    for (long i = 0; i < rounds; i++) {
        struct message *message = allocate(1, sizeof *message);
        message->number = (uint64_t)i;
        message->length = PAYLOAD / 2 + (uint32_t)(next_random(&seed) % (PAYLOAD / 2));
        for (uint32_t at = 0; at < message->length; at++) message->payload[at] = (uint8_t)(seed >> (at & 31));
        message->sum = sum_of(message);
        push(message);
    }
    push(NULL);
    return NULL;
}

static void *consume(void *result) {
    uint64_t hash = 0, expected = 0;
    struct message *message;
    while ((message = pop()) != NULL) {
        check(message->number == expected++, "messages arrive in order");
        check(sum_of(message) == message->sum, "a message arrives whole");
        hash = mix(hash, message->sum);
        free(message);
    }
    *(uint64_t *)result = hash;
    return NULL;
}

int main(int argc, char **argv) {
    size = kernel_argument(argc, argv, 1, "SIZE");
    rounds = kernel_argument(argc, argv, 2, "ROUNDS");
    ring = allocate((size_t)size, sizeof *ring);
    uint64_t hash = 0;
    pthread_t producer, consumer;
    pthread_create(&consumer, NULL, consume, &hash);
    pthread_create(&producer, NULL, produce, NULL);
    pthread_join(producer, NULL);
    pthread_join(consumer, NULL);
    print_checksum(hash);
    return 0;
}

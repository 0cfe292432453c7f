/* bench: hash table with striped locks
 * full: 450000 6
 * reduced: 60000 2
 * quick: 4000 1
 *
 * A chained hash table with 64 locks, as in a cache server: both threads add to shared counters, look keys up,
 * and insert and erase entries of their own among the shared ones. */
#include "kernel.h"
#include <pthread.h>

enum { STRIPES = 64 };

struct entry {
    struct entry *next;
    uint64_t key, count, payload[2];
};

static long size, rounds;
static uint64_t bucket_mask;
static struct entry **buckets;
static pthread_mutex_t stripes[STRIPES];
static uint64_t found[THREADS];

static uint64_t hash_of(uint64_t key) { return (key * UINT64_C(0x9e3779b97f4a7c15)) >> 20; }

static struct entry **find(uint64_t hash, uint64_t key) {
    struct entry **link = &buckets[hash & bucket_mask];
    while (*link != NULL && (*link)->key != key) link = &(*link)->next;
    return link;
}

static void add(uint64_t key, uint64_t amount) {
    uint64_t hash = hash_of(key);
    pthread_mutex_t *lock = &stripes[hash % STRIPES];
    pthread_mutex_lock(lock);
    struct entry **link = find(hash, key);
    if (*link == NULL) {
        struct entry *fresh = allocate(1, sizeof *fresh);
        fresh->key = key;
        fresh->payload[0] = ~key;
        fresh->next = NULL;
        *link = fresh;
    }
    (*link)->count += amount;
    (*link)->payload[1] ^= amount;
    pthread_mutex_unlock(lock);
}

static int contains(uint64_t key) {
    uint64_t hash = hash_of(key);
    pthread_mutex_t *lock = &stripes[hash % STRIPES];
    pthread_mutex_lock(lock);
    const struct entry *entry = *find(hash, key);
    int present = entry != NULL && entry->payload[0] == ~key;
    pthread_mutex_unlock(lock);
    return present;
}

static void erase(uint64_t key) {
    uint64_t hash = hash_of(key);
    pthread_mutex_t *lock = &stripes[hash % STRIPES];
    pthread_mutex_lock(lock);
    struct entry **link = find(hash, key), *dead = *link;
    if (dead != NULL) *link = dead->next;
    pthread_mutex_unlock(lock);
    free(dead);
}

/* Only what no interleaving can change goes into the checksum: sums, and the presence of keys that never leave or that
 * this thread alone inserts and erases. */
static void *work(void *argument) {
    long thread = (long)argument;
    uint64_t seed = 77 + (uint64_t)thread, keys = (uint64_t)size;
    uint64_t own = keys * 4 * (uint64_t)(thread + 1);
    for (long i = size * thread / THREADS; i < size * (thread + 1) / THREADS; i++) add((uint64_t)i, 1);
    for (long step = 0; step < rounds * size; step++) {
        uint64_t random = next_random(&seed), key = (random >> 8) % keys;
        switch (random & 7) {
        case 0: case 1: add(key, random >> 56); break;
        case 2: add(own + key % 1024, 1); break;
        case 3: erase(own + key % 1024); break;
        case 4: found[thread] += (uint64_t)contains(own + key % 1024); break;
        default: found[thread] += (uint64_t)contains(keys * 16 + key); break;
        }
    }
    return NULL;
}

int main(int argc, char **argv) {
    size = kernel_argument(argc, argv, 1, "SIZE");
    rounds = kernel_argument(argc, argv, 2, "ROUNDS");
    uint64_t count = 64;
    while (count < (uint64_t)size) count *= 2;
    bucket_mask = count - 1;
    buckets = allocate(count, sizeof *buckets);
    for (int i = 0; i < STRIPES; i++) pthread_mutex_init(&stripes[i], NULL);

    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void *)i);
    for (long i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);

    uint64_t sum = mix(found[0], found[1]);
    for (uint64_t bucket = 0; bucket < count; bucket++)
        for (struct entry *entry = buckets[bucket], *next; entry != NULL; entry = next) {
            next = entry->next;
            sum += mix(entry->key + 1, entry->count + entry->payload[1]);
            free(entry);
        }
    print_checksum(sum);
    return 0;
}

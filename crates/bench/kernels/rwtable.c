/* bench: read-mostly table under a reader-writer lock
 * full: 800000 200000
 * reduced: 100000 40000
 * quick: 5000 3000
 *
 * A routing table sorted by key: nearly all steps look a handful of keys up by binary search under the read lock;
 * one in 64 takes the write lock and updates a route. */
#include "kernel.h"
#include <pthread.h>

enum { HANDFUL = 4, WRITE_EVERY = 64 };

struct route {
    uint64_t key, next_hop, uses, stamp;
};

static long size, rounds;
static struct route *routes;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static uint64_t hashes[THREADS];

static struct route *find(uint64_t key) {
    long low = 0, high = size;
    while (high - low > 1) {
        long middle = low + (high - low) / 2;
        if (routes[middle].key <= key)
            low = middle;
        else
            high = middle;
    }
    return &routes[low];
}

static void *work(void *argument) {
    long thread = (long)argument;
    uint64_t seed = 40 + (uint64_t)thread, hash = 0, span = routes[size - 1].key;
    for (long step = 0; step < rounds; step++) {
        if (step % WRITE_EVERY == 0) {
            pthread_rwlock_wrlock(&lock);
            struct route *route = find(next_random(&seed) % span);
            route->uses += 1;
            route->stamp += (uint64_t)(step + thread);
            pthread_rwlock_unlock(&lock);
            continue;
        }
        pthread_rwlock_rdlock(&lock);
        for (int i = 0; i < HANDFUL; i++) {
            const struct route *route = find(next_random(&seed) % span);
            hash = mix(hash, route->next_hop);
            check(route->uses <= (uint64_t)(rounds * THREADS), "a route is read whole");
        }
        pthread_rwlock_unlock(&lock);
    }
    hashes[thread] = hash;
    return NULL;
}

int main(int argc, char **argv) {
    size = kernel_argument(argc, argv, 1, "SIZE");
    rounds = kernel_argument(argc, argv, 2, "ROUNDS");
    routes = allocate((size_t)size, sizeof *routes);
    uint64_t seed = 17, key = 0;
    for (long i = 0; i < size; i++) {
        routes[i].key = key;
        routes[i].next_hop = next_random(&seed);
        key += 1 + routes[i].next_hop % 1000;
    }

    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void *)i);
    for (long i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);

    uint64_t hash = mix(hashes[0], hashes[1]);
    for (long i = 0; i < size; i++) hash = mix(hash, routes[i].uses + routes[i].stamp);
    print_checksum(hash);
    return 0;
}

/* bench: floating point with shared reads
 * full: 1500 64
 * reduced: 800 30
 * quick: 100 3
 *
 * Gravity between all pairs of bodies, after Splash's water-nsquared: each thread reads every position and writes the
 * speeds of its own bodies, then their positions, with a barrier between the two. */
#include "kernel.h"
#include <math.h>
#include <pthread.h>

struct body {
    double position[3], speed[3], mass;
};

static long size, rounds;
static struct body *bodies;
static pthread_barrier_t barrier;

static void pull(struct body *body) {
    double force[3] = {0, 0, 0};
    for (long i = 0; i < size; i++) {
        const struct body *other = &bodies[i];
        double dx = other->position[0] - body->position[0];
        double dy = other->position[1] - body->position[1];
        double dz = other->position[2] - body->position[2];
        double distance = dx * dx + dy * dy + dz * dz + 0.01;
        double scale = other->mass / (distance * sqrt(distance));
        force[0] += dx * scale;
        force[1] += dy * scale;
        force[2] += dz * scale;
    }
    for (int axis = 0; axis < 3; axis++) body->speed[axis] += force[axis] * 0.001;
}

static void *work(void *argument) {
    long thread = (long)argument;
    long first = size * thread / THREADS, last = size * (thread + 1) / THREADS;
    for (long round = 0; round < rounds; round++) {
        for (long i = first; i < last; i++) pull(&bodies[i]);
        pthread_barrier_wait(&barrier);
        for (long i = first; i < last; i++)
            for (int axis = 0; axis < 3; axis++) bodies[i].position[axis] += bodies[i].speed[axis] * 0.001;
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

int main(int argc, char **argv) {
    size = kernel_argument(argc, argv, 1, "SIZE");
    rounds = kernel_argument(argc, argv, 2, "ROUNDS");
    bodies = allocate((size_t)size, sizeof *bodies);
    uint64_t seed = 23;
    for (long i = 0; i < size; i++) {
        for (int axis = 0; axis < 3; axis++) bodies[i].position[axis] = (double)(next_random(&seed) >> 44) / 1024.0;
        bodies[i].mass = 1.0 + (double)(next_random(&seed) >> 60);
    }
    pthread_barrier_init(&barrier, NULL, THREADS);

    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void *)i);
    for (long i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);

    uint64_t hash = 0;
    for (long i = 0; i < size; i++)
        for (int axis = 0; axis < 3; axis++)
            hash = mix(hash, (uint64_t)(int64_t)(bodies[i].position[axis] * 1048576.0));
    print_checksum(hash);
    return 0;
}

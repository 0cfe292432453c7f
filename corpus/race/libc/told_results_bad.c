//@ libs: -lm
// Results that the C library or the kernel stores where the caller says: one thread asks, another looks without any order.
// `told_results_ok.c` is the twin.
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <pwd.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

_Alignas(64) eventfd_t value;
_Alignas(64) int count;
_Alignas(64) cpu_set_t mask;
_Alignas(64) char room[1024];
_Alignas(64) int status;
_Alignas(64) unsigned short seed[3];
_Alignas(64) int waiting;
_Alignas(64) int sign;
_Alignas(64) int quotient;
_Alignas(64) double sine;
_Alignas(64) float cosine;
static struct passwd record;
static int event, ends[2];
static sem_t semaphore;
static volatile double sink;
static atomic_int step; // relaxed: fixes the order of the run, synchronises nothing

static void *asks(void *arg) {
    struct passwd *found;
    if (eventfd_read(event, &value) != 0) abort(); // expect: data-race write #1
    if (sem_getvalue(&semaphore, &count) != 0) abort(); // expect: data-race write #2
    if (sched_getaffinity(0, sizeof mask, &mask) != 0) abort(); // expect: data-race write #3
    if (getpwuid_r(0, &record, room, sizeof room, &found) != 0 || !found) abort(); // expect: data-race write #4
    if (wait(&status) < 0) abort(); // expect: data-race write #5
    sink = erand48(seed); // expect: data-race write #6 | read #6
    if (ioctl(ends[0], FIONREAD, &waiting) != 0) abort(); // expect: data-race write #7
    double other;
    float small;
    sink = lgamma_r(sink, &sign); // expect: data-race write #8
    sink = remquo(sink, 2.0, &quotient); // expect: data-race write #9
    sincos(sink, &sine, &other); // expect: data-race write #10
    sincosf(sink, &small, &cosine); // expect: data-race write #11
    atomic_store_explicit(&step, 1, memory_order_relaxed);
    return arg;
}

static void *looks(void *arg) {
    while (!atomic_load_explicit(&step, memory_order_relaxed)) usleep(100);
    double seen = value; // expect: data-race read #1
    seen += count; // expect: data-race read #2
    seen += *(char *)&mask; // expect: data-race read #3
    seen += room[1]; // expect: data-race read #4
    seen += status; // expect: data-race read #5
    seen += seed[1]; // expect: data-race read #6
    seen += waiting; // expect: data-race read #7
    seen += sign; // expect: data-race read #8
    seen += quotient; // expect: data-race read #9
    seen += sine; // expect: data-race read #10
    seen += cosine; // expect: data-race read #11
    return seen < 0 ? 0 : arg;
}

int main(void) {
    event = eventfd(1, 0);
    if (event < 0 || pipe(ends) != 0 || sem_init(&semaphore, 0, 3) != 0) return 1;
    value = 0, count = 0, room[1] = 0, status = 0, seed[1] = 0, waiting = 0, *(char *)&mask = 0;
    sign = 0, quotient = 0, sine = 0, cosine = 0;
    if (fork() == 0) _exit(0);
    pthread_t a, b;
    pthread_create(&a, 0, asks, 0);
    pthread_create(&b, 0, looks, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}

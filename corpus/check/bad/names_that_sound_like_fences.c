// Neither megabytes nor drawings nor files order threads.
#include <pthread.h>
#include <stddef.h>

double bytes_to_mb(long bytes);
void draw_fence(int x);
int verbose_barrier(void);
void *GC_malloc_atomic(size_t n);
int save_atomic(const char *path);

static int total, drawn, reported, saves;
static char *last;

static void *count(void *arg) {
    double megabytes = bytes_to_mb(1 << 20);
    total += megabytes > 1; // expect: data-race #1
    return arg;
}

static void *draw(void *arg) {
    draw_fence(1);
    drawn++; // expect: data-race #2
    return arg;
}

static void *report(void *arg) {
    verbose_barrier();
    reported++; // expect: data-race #3
    return arg;
}

static void *allocate(void *arg) {
    last = GC_malloc_atomic(10); // expect: data-race #4
    return arg;
}

static void *save(void *arg) {
    if (save_atomic("a.txt"))
        saves++; // expect: data-race #5
    return arg;
}

int main(void) {
    pthread_t t[5];
    pthread_create(&t[0], NULL, count, NULL);
    pthread_create(&t[1], NULL, draw, NULL);
    pthread_create(&t[2], NULL, report, NULL);
    pthread_create(&t[3], NULL, allocate, NULL);
    pthread_create(&t[4], NULL, save, NULL);
    total++; // expect: data-race #1
    drawn++; // expect: data-race #2
    reported++; // expect: data-race #3
    last = GC_malloc_atomic(20); // expect: data-race #4
    if (save_atomic("b.txt"))
        saves++; // expect: data-race #5
    for (int i = 0; i < 5; i++)
        pthread_join(t[i], NULL);
    return total + drawn + reported + saves;
}

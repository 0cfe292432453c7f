// Loops on flags; values that come from callees, go to callees, and are returned through pointers.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int done, data, limit, sink, quota, used, first, second, mode, width, noise, opened;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
atomic_int ready;
char name[16];
struct point { long x, y, z; } origin;

__attribute__((noinline)) void use(int x) { sink += x; }

__attribute__((noinline)) void flag(void) {
    while (!done) // [done] ~ loop: done@1 fails(done=0) holds(done=1)
        use(data);
    for (int i = 0; i < limit; i++) // [limit] ~ loop: limit@1
        use(i);
}

__attribute__((noinline)) int spin(void) {
    int spins = 0;
    while (!atomic_load(&ready)) // [ready] ~ loop: ready@1 waits fails(ready=0) holds(ready=1)
        if (++spins > 1000)      // ~ loop: ready@2
            break;
    return spins;
}

// A wait that nothing repeats is a site of its own, also inside a loop about something else. In a
// loop that tests the condition again, the loop is the site.
__attribute__((noinline)) void once(void) {
    pthread_mutex_lock(&lock);
    if (!opened) // [opened]
        pthread_cond_wait(&changed, &lock); // ~ loop: opened@1 fails(opened=0) holds(opened=1)
    pthread_mutex_unlock(&lock);
}
__attribute__((noinline)) void again(void) {
    pthread_mutex_lock(&lock);
    while (!opened) // [reopened] ~ loop: reopened@1
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

__attribute__((noinline)) void nested(void) {
    for (int i = 0; i < 3; i++) while (first > second) use(i); // [first] ~ loop: first@1
}

__attribute__((noinline)) int left(int k) { return quota - used * k; } // [left]
__attribute__((noinline)) int take(int k) { return left(k) < 0 ? -1 : 0; }
__attribute__((noinline)) void returned(void) {
    if (take(2) < 0)
        fprintf(stderr, "over quota\n"); // ~ error: left
}

__attribute__((noinline)) void must(int ok) {
    use(1);
    assert(ok > 0); // ~ assert: given
}
__attribute__((noinline)) void argument(void) {
    use(noise);
    must(mode + 1); // [given]
}

__attribute__((noinline)) int fetch(int *to) {
    *to = width; // [width]
    return 0;
}
__attribute__((noinline)) void by_pointer(void) {
    int w, code = fetch(&w);
    use(code);
    if (w > 80)
        fprintf(stderr, "too wide\n"); // ~ error: width
}

__attribute__((noinline)) void copied(void) {
    struct point p = origin; // [copy]
    use(noise);
    if (p.y > 9)
        perror("far"); // ~ error: copy fails(copy=10)#12 holds(copy=9)#12
}

__attribute__((noinline)) void compared(void) {
    // gcc -O2 compares inline, without a probe.
    if (strcmp(name, "idle") != 0) // [name]
        perror("busy"); // ~ error: name@1#01
}

// A switch with a jump table.
__attribute__((noinline)) void switched(int n) {
    int m = mode; // [mode]
    switch (m) {
    case 0: use(n); break;
    case 1: use(n * n); break;
    case 2: use(n + 3); break;
    case 3: use(-n); break;
    case 4: perror("four"); break; // ~ error: mode
    case 5: use(n ^ 5); break;
    case 6: use(n / 3); break;
    default: use(noise);
    }
    if (used) // [late]
        perror("used"); // ~ error: late@1
}

void *worker(void *p) {
    flag();
    use(spin());
    once();
    again();
    nested();
    returned();
    argument();
    by_pointer();
    copied();
    compared();
    switched(*(int *)p);
    return 0;
}

int main(void) {
    int z = 4;
    pthread_t t;
    pthread_create(&t, 0, worker, &z);
    opened = done = limit = quota = mode = 1;
    origin.y = 3;
    width = 7;
    strcpy(name, "idle");
    atomic_store(&ready, 1);
    pthread_join(t, 0);
    return 0;
}

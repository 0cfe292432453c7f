// A program brings its own suppressions, as for ThreadSanitizer: the race in `known` is suppressed. What it leaves alone is reported.
#include <pthread.h>

const char *__tsan_default_options(void) { return "report_thread_leaks=0:verbosity=1"; }
const char *__tsan_default_suppressions(void) { return "# of old\nrace:^known$\n"; }

static long old, fresh;

__attribute__((noinline)) static void known(void) { old++; }

void *work(void *arg) {
    known();
    fresh++; // expect(hb hybrid): data-race #1
    return arg;
}

// expect(fast): anything

int main(void) {
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return fresh == 7;
}

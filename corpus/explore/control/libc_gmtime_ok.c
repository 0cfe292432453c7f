// expect: nothing
// `gmtime_r` gives each thread memory of its own.
#include <assert.h>
#include <pthread.h>
#include <time.h>

static void *year(void *arg) {
    time_t at = *(time_t *)arg;
    struct tm own, *parts = gmtime_r(&at, &own);
    assert(parts->tm_year == (at == 0 ? 70 : 71));
    return arg;
}

int main(void) {
    time_t one = 0, two = 366 * 86400;
    pthread_t a, b;
    pthread_create(&a, 0, year, &one);
    pthread_create(&b, 0, year, &two);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}

// Memory that was filled with ones, and made into a mutex before it is used.
// expect: nothing
#include <pthread.h>
#include <string.h>

static pthread_mutex_t m;

int main(void) {
    memset(&m, 0xff, sizeof m);
    pthread_mutex_init(&m, 0);
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    return pthread_mutex_destroy(&m);
}

// expect: nothing
// A count in a file, which two threads read and write at its place, one after the other.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static int file;
static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;

static void *adds(void *arg) {
    pthread_mutex_lock(&mu);
    int n = 0;
    assert(pread(file, &n, sizeof n, 0) == sizeof n);
    n++;
    assert(pwrite(file, &n, sizeof n, 0) == sizeof n);
    pthread_mutex_unlock(&mu);
    return arg;
}

int main(void) {
    char name[] = "/tmp/raddle-corpus-XXXXXX";
    file = mkstemp(name);
    unlink(name);
    int n = 0;
    assert(write(file, &n, sizeof n) == sizeof n);
    pthread_t a, b;
    pthread_create(&a, 0, adds, 0);
    pthread_create(&b, 0, adds, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(pread(file, &n, sizeof n, 0) == sizeof n);
    assert(n == 2);
    return 0;
}

// expect: assertion
//@ bound: 1
// The program becomes itself, with another argument, before it creates a thread: what it becomes is explored.
#include <assert.h>
#include <pthread.h>
#include <unistd.h>

pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
int n;

void *adds(void *arg) {
    pthread_mutex_lock(&mu);
    int seen = n;
    pthread_mutex_unlock(&mu);
    pthread_mutex_lock(&mu);
    n = seen + 1;
    pthread_mutex_unlock(&mu);
    return arg;
}

int main(int argc, char **argv) {
    pthread_t a, b;
    if (argc == 1) execl("/proc/self/exe", argv[0], "again", (char *)0);
    pthread_create(&a, 0, adds, 0);
    pthread_create(&b, 0, adds, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(n == 2);                                     // expect: assertion here
    return 0;
}

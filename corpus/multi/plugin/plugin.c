// A plug-in with data, a constructor, a destructor and thread-local storage of its own. It may be mapped at the same address again
// after dlclose: old accesses there are no races with the new ones.
#include <pthread.h>

long calls, raced;
static _Thread_local long mine;
static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void loaded(void) { calls = 0; }
__attribute__((destructor)) static void unloaded(void) { calls = -1; }

long plugin_call(long n) {
    pthread_mutex_lock(&mu);
    calls += n;
    long c = calls;
    pthread_mutex_unlock(&mu);
    return c + mine++ * 0;
}

void plugin_race(long n) {
    raced = n;                                          // expect: data-race write write #1
}

// The memory of a mutex was filled with ones, which is what glibc leaves in the kind of a destroyed one. It was not destroyed, and nobody
// holds it.
#include <pthread.h>
#include <string.h>

static pthread_mutex_t m, tried;

int main(void) {
    memset(&m, 0xff, sizeof m);
    memset(&tried, 0xff, sizeof tried);
    pthread_mutex_lock(&m);         // expect: uninitialized-read #1
    pthread_mutex_trylock(&tried);  // expect: uninitialized-read #2
    pthread_mutex_unlock(&m);       // expect: unlock-not-held #3
    return 0;
}

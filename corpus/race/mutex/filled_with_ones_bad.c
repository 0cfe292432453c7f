// The memory of a mutex was filled with ones, which is what glibc leaves in the kind of a destroyed one. It was not destroyed, and nobody
// holds it.
#include <pthread.h>
#include <string.h>

static pthread_mutex_t m;

int main(void) {
    memset(&m, 0xff, sizeof m);
    pthread_mutex_unlock(&m); // expect: unlock-not-held #1
    return 0;
}

// The memory of a mutex was filled with ones. It was not destroyed, though its kind is that of a destroyed one: the C library refuses it.
// expect: nothing
#include <errno.h>
#include <pthread.h>
#include <string.h>

static pthread_mutex_t m;

int main(void) {
    memset(&m, 0xff, sizeof m);
    return pthread_mutex_lock(&m) == EINVAL ? 0 : 1;
}

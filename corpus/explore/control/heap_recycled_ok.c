// expect: nothing
// More memory goes through the hands of one thread than there is: what is freed is used again.
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int done;

static void *work(void *arg)
{
    for (int i = 0; i < 150; i++) {
        char *block = malloc(32 << 20);
        if (!block) abort();
        block[i] = 1;
        free(block);
    }
    pthread_mutex_lock(&mutex);
    done = 1;
    pthread_mutex_unlock(&mutex);
    return arg;
}

int main(void)
{
    pthread_t a;
    pthread_create(&a, 0, work, 0);
    pthread_join(a, 0);
    return !done;
}

// expect: nothing
// A program that keeps all of its memory in, as programs that must answer in time do: raddle's own
// memory is many times the machine's, and stays where it is.
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

static int count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *add(void *arg) {
    pthread_mutex_lock(&lock);
    count++;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    pthread_t threads[2];
    mlockall(MCL_CURRENT | MCL_FUTURE);
    char *room = malloc(1 << 20);
    room[5] = 1;
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, add, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    munlockall();
    free(room);
    return count != 2;
}

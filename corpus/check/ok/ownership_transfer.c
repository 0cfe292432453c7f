// A block changes its owner through a mailbox; who owns it needs no lock.
#include <pthread.h>
#include <stdlib.h>

static int *mailbox;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER;

static void *receiver(void *arg) {
    pthread_mutex_lock(&lock);
    while (!mailbox)
        pthread_cond_wait(&arrived, &lock);
    int *mine = mailbox;
    mailbox = NULL;
    pthread_mutex_unlock(&lock);
    mine[0]++;
    mine[1] = mine[0];
    free(mine);
    return NULL;
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, receiver, NULL);
    int *block = malloc(2 * sizeof *block);
    block[0] = 1;
    block[1] = 2;
    pthread_mutex_lock(&lock);
    mailbox = block;
    pthread_cond_signal(&arrived);
    pthread_mutex_unlock(&lock);
    pthread_join(t, NULL);
    return 0;
}

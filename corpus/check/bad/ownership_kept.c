// The sender still writes what it has given away.
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
    pthread_mutex_unlock(&lock);
    return (void *)(long)mine[1]; // expect: data-race read #1
}

int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, receiver, NULL);
    int *block = malloc(2 * sizeof *block);
    block[0] = 1;
    pthread_mutex_lock(&lock);
    mailbox = block;
    pthread_cond_signal(&arrived);
    pthread_mutex_unlock(&lock);
    block[1] = 2; // expect: data-race write #1
    pthread_join(t, NULL);
    free(block);
    return 0;
}

// Every thread gets the address of the same loop variable.
#include <pthread.h>

static void *worker(void *arg) {
    int id = *(int *)arg; // expect: data-race read #1
    return (void *)(long)id;
}

int main(void) {
    pthread_t t[3];
    int i;
    for (i = 0; i < 3; i++) // expect: data-race write #1
        pthread_create(&t[i], NULL, worker, &i);
    for (int j = 0; j < 3; j++)
        pthread_join(t[j], NULL);
    return 0;
}

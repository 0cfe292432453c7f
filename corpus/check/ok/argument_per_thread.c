// Every thread gets an argument of its own, handed over by the start.
#include <pthread.h>
#include <stdlib.h>

struct job { int id; int result; };

static void *worker(void *arg) {
    struct job *j = arg;
    j->result = j->id * 2;
    return j;
}

int main(void) {
    pthread_t t[3];
    int sum = 0;
    for (int i = 0; i < 3; i++) {
        struct job *j = malloc(sizeof *j);
        j->id = i;
        pthread_create(&t[i], NULL, worker, j);
    }
    for (int i = 0; i < 3; i++) {
        void *r;
        pthread_join(t[i], &r);
        sum += ((struct job *)r)->result;
        free(r);
    }
    return sum;
}

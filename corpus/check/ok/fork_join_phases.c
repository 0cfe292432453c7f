// Start and join order everything; the same data is used by one thread after the other.
#include <pthread.h>

static int data[8];

static void *step(void *arg) {
    for (int i = 0; i < 8; i++)
        data[i] += (int)(long)arg;
    return NULL;
}

int main(void) {
    for (long phase = 1; phase <= 3; phase++) {
        pthread_t t;
        data[0] = 0;
        pthread_create(&t, NULL, step, (void *)phase);
        pthread_join(t, NULL);
    }
    return data[7];
}

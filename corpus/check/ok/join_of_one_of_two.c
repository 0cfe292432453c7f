// Which of two threads is joined first a function of another library knows. It is the one that
// fills the second slot, which is read then.
#include <pthread.h>

extern pthread_t thread_of(int which);
extern void keep(int which, pthread_t thread);

static int slots[2];

static void *run(void *arg) {
    int *slot = arg;
    *slot = 1;
    return arg;
}

int main(void) {
    for (int i = 0; i < 2; i++) {
        pthread_t t;
        pthread_create(&t, 0, run, &slots[i]);
        keep(i, t);
    }
    pthread_join(thread_of(1), 0);
    int sum = slots[1];
    pthread_join(thread_of(0), 0);
    return sum + slots[0];
}

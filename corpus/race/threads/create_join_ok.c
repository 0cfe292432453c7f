// pthread_create and pthread_join: what the creator did before create, and what the thread did before its end, are ordered.
// Nested: threads make and join threads of their own. Silent in every mode.
// expect: nothing
#include <pthread.h>

struct task { int depth, sum; };

void *work(void *arg) {
    struct task *t = arg;
    if (t->depth == 0) {
        t->sum = 1;
        return 0;
    }
    struct task half[2] = {{t->depth - 1, 0}, {t->depth - 1, 0}};
    pthread_t id[2];
    for (int i = 0; i < 2; i++) pthread_create(&id[i], 0, work, &half[i]);
    for (int i = 0; i < 2; i++) pthread_join(id[i], 0);
    t->sum = half[0].sum + half[1].sum;
    return 0;
}

int main(void) {
    struct task root = {4, 0};
    work(&root);
    return root.sum != 16;
}

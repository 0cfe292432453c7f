// As soon as a join returns, the next thread may be given the same pthread_t: each joiner has seen the end of its own thread,
// not that of the one that has the handle by now. Trees of threads, again and again, so that handles change hands all the time.
// expect: nothing
#include <pthread.h>

struct task { int depth, sum; };

static void *work(void *arg) {
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
    int wrong = 0;
    for (int i = 0; i < 30; i++) {
        struct task root = {4, 0};
        work(&root);
        wrong |= root.sum != 16;
    }
    return wrong;
}

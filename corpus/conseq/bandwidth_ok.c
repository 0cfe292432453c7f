// expect: nothing
// The twin of bandwidth_bad.c: first what is used, then who uses it.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct session {
    int *bandwidth;
    int peers;
};
struct session session;

void *event_loop(void *arg) {
    session.peers++;
    assert(session.bandwidth != 0);
    return arg;
}

int main(void) {
    pthread_t loop;
    session.bandwidth = malloc(sizeof(int));
    pthread_create(&loop, 0, event_loop, 0);
    pthread_join(loop, 0);
    free(session.bandwidth);
    return 0;
}

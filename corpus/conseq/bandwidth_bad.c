// expect: assertion
// After Transmission: a thread that is created before what it uses is there.
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
    pthread_create(&loop, 0, event_loop, 0);
    session.bandwidth = malloc(sizeof(int));
    pthread_join(loop, 0);
    free(session.bandwidth);
    return 0;
}

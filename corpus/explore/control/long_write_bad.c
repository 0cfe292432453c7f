// expect: deadlock
// Two threads write more than a pipe holds to each other, and read afterwards. `long_write_ok.c` is the
// twin.
#include <pthread.h>
#include <unistd.h>

static char text[70000];
static int there[2], back[2];

static void talks(int to, int from) {
    char got[4096];
    write(to, text, sizeof text); // expect: deadlock here
    close(to);
    while (read(from, got, sizeof got) > 0) {}
}

static void *answers(void *arg) {
    talks(back[1], there[0]);
    return arg;
}

int main(void) {
    if (pipe(there) || pipe(back)) return 1;
    pthread_t t;
    pthread_create(&t, 0, answers, 0);
    talks(there[1], back[0]);
    pthread_join(t, 0);
    return 0;
}

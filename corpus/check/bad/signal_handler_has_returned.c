// The object is freed while the handler still finds it.
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

struct screen {
    int fd;
};

static struct screen *_Atomic current;

static void interrupted(int sig) {
    struct screen *screen = atomic_load(&current);
    if (screen)
        write(screen->fd, "bye", 3); // expect: data-race read #1
}

int main(void) {
    struct screen *screen = malloc(sizeof *screen);
    if (!screen)
        return 1;
    screen->fd = 1;
    atomic_store(&current, screen);
    signal(SIGINT, interrupted);
    usleep(1);
    free(screen); // expect: data-race free #1
    atomic_store(&current, NULL);
    return 0;
}

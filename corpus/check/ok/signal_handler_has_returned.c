// The handler finds its object through an atomic pointer, which is cleared before the object is
// freed. There is one thread, so the handler has returned when the program goes on.
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
        write(screen->fd, "bye", 3);
}

int main(void) {
    struct screen *screen = malloc(sizeof *screen);
    if (!screen)
        return 1;
    screen->fd = 1;
    atomic_store(&current, screen);
    signal(SIGINT, interrupted);
    usleep(1);
    atomic_store(&current, NULL);
    free(screen);
    return 0;
}

// A handler changes what the program it interrupts is changing.
#include <signal.h>
#include <unistd.h>

static int pending;

static void on_signal(int s) {
    pending++; // expect: data-race write #1, data-race read #1
}

int main(void) {
    signal(SIGUSR1, on_signal);
    for (int i = 0; i < 50; i++) {
        if (pending > 0) // expect: data-race read #1
            pending--; // expect: data-race write #1, data-race read #1
        pause();
    }
    return 0;
}

// As alarm_set_later.c, but the timer is set before what the handler reads.
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static int level;

static void on_alarm(int signal)
{
    if (level > 1) // expect: data-race read #1
        write(1, ".", 1);
}

int main(int argc, char **argv)
{
    signal(SIGALRM, on_alarm);
    alarm(1);
    level = argc; // expect: data-race write #1
    pause();
    return 0;
}

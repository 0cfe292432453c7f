// The handler of SIGALRM is installed first. The timer is set when all it reads is there.
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static int level;

static void on_alarm(int signal)
{
    if (level > 1)
        write(1, ".", 1);
}

int main(int argc, char **argv)
{
    signal(SIGALRM, on_alarm);
    level = argc;
    alarm(1);
    pause();
    return 0;
}

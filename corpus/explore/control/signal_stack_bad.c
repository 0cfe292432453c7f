// expect: assertion
//@ always
// The stack for handlers is each thread's own, and only the first thread has named one.
// Fails when: the handler runs in the other thread.
#include <assert.h>
#include <pthread.h>
#include <signal.h>

static char stack[1 << 16];

static void handler(int signal)
{
    char here;
    (void)signal;
    assert(&here >= stack && &here < stack + sizeof stack); // expect: assertion here
}

static void *work(void *arg)
{
    pthread_kill(pthread_self(), SIGUSR1);
    return arg;
}

int main(void)
{
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
    pthread_t a;
    sigaltstack(&alternate, 0);
    sigaction(SIGUSR1, &action, 0);
    pthread_create(&a, 0, work, 0);
    pthread_join(a, 0);
    return 0;
}
